"""metadata.version: the level that every node of a cluster understands, and what each level allows.

The level decides which records a controller may write and in which version. 7 (3.3-IV3) is the oldest that Kafka 4.x
reads, 30 (4.3-IV0) the newest that Kafka 4.3 writes.
"""

from enum import IntEnum
from typing import Final

FEATURE_NAME: Final = "metadata.version"


class MetadataVersion(IntEnum):
    """A level of metadata.version.

    >>> str(MetadataVersion(30)), MetadataVersion.parse("3.7") is MetadataVersion.V3_7_IV4
    ('4.3-IV0', True)
    """

    V3_3_IV3 = 7
    V3_4_IV0 = 8
    V3_5_IV0 = 9
    V3_5_IV1 = 10
    V3_5_IV2 = 11
    V3_6_IV0 = 12
    V3_6_IV1 = 13
    V3_6_IV2 = 14
    V3_7_IV0 = 15
    V3_7_IV1 = 16
    V3_7_IV2 = 17
    V3_7_IV3 = 18
    V3_7_IV4 = 19
    V3_8_IV0 = 20
    V3_9_IV0 = 21
    V4_0_IV0 = 22
    V4_0_IV1 = 23
    V4_0_IV2 = 24
    V4_0_IV3 = 25
    V4_1_IV0 = 26
    V4_1_IV1 = 27
    V4_2_IV0 = 28
    V4_2_IV1 = 29
    V4_3_IV0 = 30

    @classmethod
    def parse(cls, text: str) -> "MetadataVersion":
        """The level called `text`: "3.7-IV2", or the newest of a release for "3.7" and "3.7.1"."""
        release = ".".join(text.split(".")[:2])
        matches = [level for level in cls if release in (str(level), str(level).partition("-")[0])]
        if not matches:
            known = ", ".join(str(level) for level in cls)
            raise ValueError(f"Unknown metadata.version '{text}'. Supported metadata.version are: {known}")
        return matches[-1]

    def __str__(self) -> str:
        return self.name[1:].replace("_IV", "-IV").replace("_", ".")

    @property
    def supports_migration(self) -> bool:
        """Brokers that move over from ZooKeeper are marked in their registration."""
        return self >= MetadataVersion.V3_4_IV0

    @property
    def supports_scram(self) -> bool:
        return self >= MetadataVersion.V3_5_IV2

    @property
    def bumps_leader_epoch_on_isr_shrink(self) -> bool:
        """Before 3.6 a shrunken ISR had to come with a new leader epoch (KAFKA-15021)."""
        return self < MetadataVersion.V3_6_IV0

    @property
    def supports_transactions(self) -> bool:
        """Records between BeginTransaction and EndTransaction take effect together (KIP-868)."""
        return self >= MetadataVersion.V3_6_IV1

    @property
    def supports_delegation_tokens(self) -> bool:
        return self >= MetadataVersion.V3_6_IV2

    @property
    def supports_controller_registration(self) -> bool:
        return self >= MetadataVersion.V3_7_IV0

    @property
    def supports_directory_assignment(self) -> bool:
        """A partition says in which log directory each replica lives (KIP-858)."""
        return self >= MetadataVersion.V3_7_IV2

    @property
    def supports_elr(self) -> bool:
        """Partition records have room for eligible leader replicas (KIP-966); the feature switches them on."""
        return self >= MetadataVersion.V4_0_IV1

    @property
    def supports_cordoned_log_dirs(self) -> bool:
        """A log directory may be closed to new replicas (KIP-1066)."""
        return self >= MetadataVersion.V4_3_IV0

    @property
    def register_broker_record_version(self) -> int:
        if self.supports_cordoned_log_dirs:
            return 4
        if self.supports_directory_assignment:
            return 3
        return 2 if self.supports_migration else 1

    @property
    def partition_record_version(self) -> int:
        """The version of PartitionRecord and of PartitionChangeRecord."""
        if self.supports_elr:
            return 2
        return 1 if self.supports_directory_assignment else 0


METADATA_CHANGED: Final = frozenset(
    {
        MetadataVersion.V3_3_IV3,
        MetadataVersion.V3_4_IV0,
        MetadataVersion.V3_5_IV2,
        MetadataVersion.V3_6_IV1,
        MetadataVersion.V3_6_IV2,
        MetadataVersion.V3_7_IV0,
        MetadataVersion.V3_7_IV2,
        MetadataVersion.V4_0_IV1,
        MetadataVersion.V4_3_IV0,
    }
)
"""Levels that brought records an older level cannot read: a downgrade across one of them would lose metadata."""

MINIMUM: Final = MetadataVersion.V3_3_IV3
LATEST: Final = MetadataVersion.V4_3_IV0


def metadata_changed_between(one: MetadataVersion, other: MetadataVersion) -> bool:
    """Whether records changed on the way from the lower of two levels to the higher."""
    low, high = sorted((one, other))
    return any(low < level <= high for level in METADATA_CHANGED)
