"""The feature levels that a new cluster begins with: what was asked for, Kafka's defaults for the rest."""

from collections.abc import Mapping

from ottla.metadata.errors import FormatError
from ottla.metadata.feature import FEATURES, KRAFT_VERSION, default_features
from ottla.metadata.metadata_version import FEATURE_NAME, LATEST, MetadataVersion


def initial_levels(
    release_version: MetadataVersion | None, wanted: Mapping[str, int], *, dynamic_quorum: bool
) -> dict[str, int]:
    """The level of every feature that is on, kraft.version among them; `FormatError` for levels that don't go together.

    >>> initial_levels(MetadataVersion.V3_9_IV0, {}, dynamic_quorum=True)
    {'metadata.version': 21, 'kraft.version': 1}
    """
    version = _release_version(release_version, wanted)
    unknown = sorted(wanted.keys() - FEATURES.keys() - {FEATURE_NAME})
    if unknown:
        raise FormatError(f"Unsupported feature: {unknown[0]}. Supported features are: {', '.join(sorted(FEATURES))}")
    levels = {**default_features(version), **wanted, FEATURE_NAME: int(version)}
    levels[KRAFT_VERSION.name] = _kraft_version(wanted.get(KRAFT_VERSION.name), dynamic_quorum=dynamic_quorum)
    for name, level in levels.items():
        if name != FEATURE_NAME:
            _check_level(name, level, levels)
    return {name: level for name, level in levels.items() if level}


def _release_version(release_version: MetadataVersion | None, wanted: Mapping[str, int]) -> MetadataVersion:
    if FEATURE_NAME not in wanted:
        return LATEST if release_version is None else release_version
    if release_version is not None:
        raise FormatError(f"Use --release-version instead of --feature {FEATURE_NAME}=X to avoid ambiguity.")
    try:
        return MetadataVersion(wanted[FEATURE_NAME])
    except ValueError:
        known = f"{int(min(MetadataVersion))} to {int(LATEST)}"
        raise FormatError(f"No {FEATURE_NAME} with feature level {wanted[FEATURE_NAME]}; there are {known}.") from None


def _kraft_version(wanted: int | None, *, dynamic_quorum: bool) -> int:
    if wanted is None:
        return int(dynamic_quorum)
    if bool(wanted) != dynamic_quorum:
        when = "if" if dynamic_quorum else "unless"
        raise FormatError(
            f"Cannot set {KRAFT_VERSION.name} to {wanted} {when} one of the flags --standalone, --initial-controllers, "
            f"or --no-initial-controllers is used. For dynamic controllers support, try removing the --feature flag "
            f"for {KRAFT_VERSION.name}."
        )
    return wanted


def _check_level(name: str, level: int, levels: Mapping[str, int]) -> None:
    feature = FEATURES[name]
    if not 0 <= level <= feature.level_max:
        raise FormatError(f"No feature:{name} with feature level {level}")
    refusal = feature.why_refused(level, levels)
    if refusal is not None:
        raise FormatError(refusal)
