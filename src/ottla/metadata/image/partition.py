"""One partition as the metadata log has it: who holds it, who leads it, and how a change record alters that.

Invariants: a change raises `partition_epoch` by one; `leader_epoch` rises by one exactly when the record names a
leader, even if it names the same one. `directories` runs parallel to `replicas`.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from ottla.base.ids import Uuid
from ottla.metadata.directory_id import MIGRATING
from ottla.metadata.errors import MetadataError
from ottla.protocol.metadata_log.topic import PartitionChangeRecord, PartitionRecord

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2
NO_RECOVERY_CHANGE: Final = -1


class LeaderRecoveryState(IntEnum):
    """Whether the leader's log is known to hold everything that was committed (KIP-704)."""

    RECOVERED = 0
    RECOVERING = 1


class PartitionRegistration(NamedTuple):
    """A partition's replicas and their roles. A tuple, because a cluster has hundreds of thousands of them."""

    replicas: tuple[int, ...]
    directories: tuple[Uuid, ...]
    isr: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int

    @property
    def preferred_leader(self) -> int:
        """The first replica: leadership is spread evenly as long as each partition is led by its own."""
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def is_reassigning(self) -> bool:
        """Whether replicas are being added or removed."""
        return bool(self.removing_replicas or self.adding_replicas)

    def directory(self, replica: int) -> Uuid | None:
        """The log directory of `replica`; None if it holds no replica of the partition."""
        try:
            return self.directories[self.replicas.index(replica)]
        except ValueError:
            return None

    def merge(self, change: PartitionChangeRecord) -> "PartitionRegistration":
        """The partition after `change`.

        leader 1, epoch 4 + {leader: 1} → leader 1, epoch 5: naming the leader fences requests made under epoch 4.
        """
        replicas = self.replicas if change.replicas is None else tuple(change.replicas)
        directories = self.directories if change.directories is None else tuple(change.directories)
        state = change.leader_recovery_state
        elects = change.leader != NO_LEADER_CHANGE
        values = (
            replicas,
            _directories_for(replicas, directories),
            self.isr if change.isr is None else tuple(change.isr),
            self.removing_replicas if change.removing_replicas is None else tuple(change.removing_replicas),
            self.adding_replicas if change.adding_replicas is None else tuple(change.adding_replicas),
            self.elr if change.eligible_leader_replicas is None else tuple(change.eligible_leader_replicas),
            self.last_known_elr if change.last_known_elr is None else tuple(change.last_known_elr),
            change.leader if elects else self.leader,
            self.leader_recovery_state if state == NO_RECOVERY_CHANGE else state,
            self.leader_epoch + 1 if elects else self.leader_epoch,
            self.partition_epoch + 1,
        )
        return tuple.__new__(PartitionRegistration, values)

    def without_elr(self) -> "PartitionRegistration":
        """The partition after its eligible leader replicas were cleared, as by a ClearElrRecord."""
        return self._replace(elr=(), last_known_elr=(), partition_epoch=self.partition_epoch + 1)

    def to_record(self, topic_id: Uuid, index: int) -> PartitionRecord:
        """The record that says all of this; who writes it drops what its version has no place for."""
        return PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=list(self.replicas),
            isr=list(self.isr),
            removing_replicas=list(self.removing_replicas),
            adding_replicas=list(self.adding_replicas),
            leader=self.leader,
            leader_recovery_state=self.leader_recovery_state,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            directories=list(self.directories),
            eligible_leader_replicas=list(self.elr) or None,
            last_known_elr=list(self.last_known_elr) or None,
        )


_NONE: Final[tuple[int, ...]] = ()


def partition_of(record: PartitionRecord) -> PartitionRegistration:
    """The partition that a PartitionRecord describes."""
    replicas = tuple(record.replicas)
    directories = tuple(record.directories)
    values = (
        replicas,
        # The common case first: this runs once for every partition of a cluster at start.
        directories if len(directories) == len(replicas) else _directories_for(replicas, directories),
        # In a healthy cluster all replicas are in sync: one tuple serves both.
        replicas if record.isr == record.replicas else tuple(record.isr),
        tuple(record.removing_replicas) if record.removing_replicas else _NONE,
        tuple(record.adding_replicas) if record.adding_replicas else _NONE,
        tuple(record.eligible_leader_replicas) if record.eligible_leader_replicas else _NONE,
        tuple(record.last_known_elr) if record.last_known_elr else _NONE,
        record.leader,
        record.leader_recovery_state,
        record.leader_epoch,
        record.partition_epoch,
    )
    # Half the cost of the constructor, which would take the eleven values apart to put them together again.
    return tuple.__new__(PartitionRegistration, values)


def _directories_for(replicas: tuple[int, ...], directories: tuple[Uuid, ...]) -> tuple[Uuid, ...]:
    """Records from before directories were tracked have none, and a later change may resize the replicas."""
    if len(directories) == len(replicas):
        return directories
    if all(directory == MIGRATING for directory in directories):
        return (MIGRATING,) * len(replicas)
    raise MetadataError(f"{len(directories)} directories for {len(replicas)} replicas {replicas}")
