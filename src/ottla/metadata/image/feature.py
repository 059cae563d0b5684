"""The finalized levels of the cluster's features."""

from typing import Final, NamedTuple

from immutables import Map

from ottla.metadata.errors import MetadataError
from ottla.metadata.feature import ELIGIBLE_LEADER_REPLICAS_VERSION, KRAFT_VERSION, NOT_SUPPORTED, supported_features
from ottla.metadata.metadata_version import FEATURE_NAME, MetadataVersion
from ottla.protocol.metadata_log.feature import FeatureLevelRecord


class FeaturesImage(NamedTuple):
    """metadata.version, which only an empty log lacks, and the features that are on."""

    metadata_version: MetadataVersion | None
    finalized: Map[str, int]

    def level(self, name: str) -> int:
        """The finalized level of a feature, 0 if it is off."""
        if name == FEATURE_NAME:
            return int(self.metadata_version or 0)
        return self.finalized.get(name, 0)

    def levels(self) -> dict[str, int]:
        """Every finalized level, metadata.version first."""
        first = {} if self.metadata_version is None else {FEATURE_NAME: int(self.metadata_version)}
        return {**first, **dict(sorted(self.finalized.items()))}

    @property
    def version(self) -> MetadataVersion:
        """The metadata.version of a log that has begun."""
        if self.metadata_version is None:
            raise MetadataError("the metadata log has no metadata.version yet")
        return self.metadata_version

    @property
    def elr_enabled(self) -> bool:
        """Whether eligible leader replicas are kept (KIP-966)."""
        return self.finalized.get(ELIGIBLE_LEADER_REPLICAS_VERSION.name, 0) >= 1


NO_FEATURES: Final = FeaturesImage(None, Map())


class FeaturesDelta:
    """Changes to features: the new level of each, 0 for one that was switched off."""

    def __init__(self, base: FeaturesImage) -> None:
        self.base = base
        self.changes: dict[str, int] = {}

    def replay(self, record: FeatureLevelRecord) -> None:
        if record.name == KRAFT_VERSION.name:
            # Kafka 4.0 wrote it by mistake (KAFKA-18979); the quorum's control records are what counts.
            return
        levels = supported_features().get(record.name, NOT_SUPPORTED)
        if not levels.includes(record.feature_level):
            # What the level means for the records that follow, this node cannot know.
            raise MetadataError(
                f"{record.name} {record.feature_level}, but this node supports versions {levels.lowest} to "
                f"{levels.highest}"
            )
        self.changes[record.name] = record.feature_level

    def apply(self) -> FeaturesImage:
        if not self.changes:
            return self.base
        version = self.changes.get(FEATURE_NAME)
        finalized = self.base.finalized
        for name, level in self.changes.items():
            if name != FEATURE_NAME:
                finalized = (
                    finalized.set(name, level) if level else finalized.delete(name) if name in finalized else finalized
                )
        return FeaturesImage(self.base.metadata_version if version is None else MetadataVersion(version), finalized)
