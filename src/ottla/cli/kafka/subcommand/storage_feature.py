"""`kafka-storage version-mapping` and `feature-dependencies`: what levels a release has, and what levels need."""

import re
from collections.abc import Iterable, Iterator

from ottla.base.errors import OttlaError
from ottla.metadata.feature import FEATURES
from ottla.metadata.metadata_version import FEATURE_NAME, LATEST, MINIMUM, MetadataVersion


class FeatureArgumentError(OttlaError):
    """A release, feature or level that does not exist."""


def print_mapping(release: str | None) -> int:
    """Prints the level of every feature at a release."""
    version = parse_release(release) if release is not None else LATEST
    print(f"{FEATURE_NAME}={int(version)} ({release or version})")
    for name, feature in FEATURES.items():
        print(f"{name}={feature.default_level(version)}")
    return 0


def print_dependencies(features: Iterable[str]) -> int:
    """Prints what each `name=level` needs."""
    for text in features:
        for line in _dependencies(text):
            print(line)
    return 0


def parse_release(text: str) -> MetadataVersion:
    """The level of metadata.version that a release has."""
    try:
        return MetadataVersion.parse(text)
    except ValueError as error:
        raise FeatureArgumentError(str(error)) from error


def _dependencies(text: str) -> Iterator[str]:
    name, equals, level_text = (part.strip() for part in text.partition("="))
    if not equals:
        expected = "Expected format: 'feature=version' (e.g. 'group.version=1')"
        raise FeatureArgumentError(f"Invalid feature format: {text}. {expected}")
    if not re.fullmatch(r"[+-]?[0-9]{1,5}", level_text):
        raise FeatureArgumentError(f"Invalid version format: {level_text} for feature {name}")
    level = int(level_text)
    if name == FEATURE_NAME:
        if level not in MetadataVersion.__members__.values():
            raise FeatureArgumentError(f"Unknown {FEATURE_NAME} {level}")
        yield f"{name}={level} ({MetadataVersion(level)}) has no dependencies."
        return
    if name not in FEATURES:
        raise FeatureArgumentError(f"Unknown feature: {name}")
    if not 0 <= level <= FEATURES[name].level_max:
        raise FeatureArgumentError(f"Feature level {level} is not supported for feature {name}")
    needs = FEATURES[name].levels[level].needs
    if needs == MINIMUM:
        yield f"{name}={level} has no dependencies."
    else:
        yield f"{name}={level} requires:"
        yield f"    {FEATURE_NAME}={int(needs)} ({needs})"
