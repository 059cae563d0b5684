"""The features a cluster finalizes besides metadata.version: their levels, what a level needs, the default of each.

A new cluster starts with the newest level whose `since` its metadata.version has reached. kraft.version belongs to the
quorum, which keeps it in control records: it is listed here because it is upgraded and described like the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.metadata.metadata_version import FEATURE_NAME as METADATA_VERSION
from ottla.metadata.metadata_version import LATEST, MINIMUM, MetadataVersion
from ottla.protocol.versions import VersionRange


class FeatureLevel(NamedTuple):
    """One level of a feature: new clusters get it from metadata.version `since`; it needs at least `needs`."""

    since: MetadataVersion
    needs: MetadataVersion = MINIMUM


@dataclass(frozen=True)
class Feature:
    """A feature and its levels; level 0 is "off" and always there."""

    name: str
    levels: tuple[FeatureLevel, ...]

    @property
    def level_max(self) -> int:
        return len(self.levels) - 1

    def default_level(self, version: MetadataVersion) -> int:
        """The level that a cluster formatted at `version` starts with."""
        return max(level for level, declared in enumerate(self.levels) if declared.since <= version)

    def why_refused(self, level: int, finalized: Mapping[str, int]) -> str | None:
        """Kafka's sentence if `level` cannot go with the `finalized` levels, or None if it can."""
        needed = self.levels[level].needs
        if level and finalized.get(METADATA_VERSION, 0) < needed:
            return f"{self.name} could not be set to {level} because it depends on {METADATA_VERSION} level {needed:d}"
        return None


_OFF: Final = FeatureLevel(MINIMUM)
KRAFT_VERSION: Final = Feature("kraft.version", (_OFF, FeatureLevel(MetadataVersion.V3_9_IV0)))
TRANSACTION_VERSION: Final = Feature(
    "transaction.version",
    (_OFF, FeatureLevel(MetadataVersion.V4_0_IV2), FeatureLevel(MetadataVersion.V4_0_IV2)),
)
GROUP_VERSION: Final = Feature("group.version", (_OFF, FeatureLevel(MetadataVersion.V4_0_IV0)))
ELIGIBLE_LEADER_REPLICAS_VERSION: Final = Feature(
    "eligible.leader.replicas.version",
    (_OFF, FeatureLevel(MetadataVersion.V4_1_IV0, needs=MetadataVersion.V4_0_IV1)),
)
SHARE_VERSION: Final = Feature("share.version", (_OFF, FeatureLevel(MetadataVersion.V4_2_IV0)))
STREAMS_VERSION: Final = Feature("streams.version", (_OFF, FeatureLevel(MetadataVersion.V4_2_IV1)))

FEATURES: Final[Mapping[str, Feature]] = {
    feature.name: feature
    for feature in (
        KRAFT_VERSION,
        TRANSACTION_VERSION,
        GROUP_VERSION,
        ELIGIBLE_LEADER_REPLICAS_VERSION,
        SHARE_VERSION,
        STREAMS_VERSION,
    )
}
"""Every feature but metadata.version by its name."""

NOT_SUPPORTED: Final = VersionRange(0, 0)
"""The range of an unknown feature: off."""


def supported_features() -> dict[str, VersionRange]:
    """The features that this node supports, as its registration lists them.

    >>> supported_features()["metadata.version"]
    VersionRange(lowest=7, highest=30)
    """
    supported = {METADATA_VERSION: VersionRange(int(MINIMUM), int(LATEST))}
    supported.update((name, VersionRange(0, feature.level_max)) for name, feature in FEATURES.items())
    return supported


def default_features(version: MetadataVersion) -> dict[str, int]:
    """The levels that a cluster formatted at `version` finalizes, without those that are off and kraft.version.

    >>> default_features(MetadataVersion.V4_0_IV0)
    {'metadata.version': 22, 'group.version': 1}
    """
    levels = {METADATA_VERSION: int(version)}
    for name in sorted(FEATURES.keys() - {KRAFT_VERSION.name}):
        level = FEATURES[name].default_level(version)
        if level:
            levels[name] = level
    return levels
