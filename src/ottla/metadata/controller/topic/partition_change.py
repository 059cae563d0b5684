"""The one place where a partition's next state is decided: `PartitionChangeBuilder`, the heart of every election.

Callers say what they want (another ISR, other replicas, a directory, a kind of election); `build` completes a
reassignment that can be completed, keeps eligible leader replicas (KIP-966), elects a leader and writes down what
differs.

Elections: an ISR member, the current leader before others; if the ISR is empty an eligible leader replica; if those are
none too, the last known leader; and any live replica only if the election may be unclean.
"""

from collections.abc import Callable, Collection
from enum import Enum, auto
from typing import NamedTuple

from ottla.base.ids import Uuid
from ottla.metadata.controller.context import ControllerContext, TopicRules
from ottla.metadata.controller.topic.reassignment_replica import ReassignmentReplicas
from ottla.metadata.image.partition import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    LeaderRecoveryState,
    PartitionRegistration,
)
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.topic import PartitionChangeRecord

Replicas = tuple[int, ...]


class Election(Enum):
    """The kinds of elections."""

    PREFERRED = auto()
    """The first replica, if it may lead."""
    ONLINE = auto()
    """Anyone who may lead without loss."""
    UNCLEAN = auto()
    """Anyone alive, at the price of records."""


class _Elected(NamedTuple):
    node: int
    unclean: bool = False


class PartitionChangeBuilder:
    """Builds the record that changes one partition, or none if nothing changes."""

    def __init__(self, context: ControllerContext, topic: TopicImage, index: int, rules: TopicRules) -> None:
        partition = topic.partitions[index]
        self._context = context
        self._version = context.version
        self._elr_enabled = context.image.features.elr_enabled
        self._topic_id = topic.id
        self._index = index
        self._rules = rules
        self._partition = partition
        self._assigned: dict[int, Uuid] = {}
        self._is_live: Callable[[int], bool] = context.image.cluster.is_active
        self.isr: Replicas = partition.isr
        self.replicas: Replicas = partition.replicas
        self.removing: Replicas = partition.removing_replicas
        self.adding: Replicas = partition.adding_replicas
        self.election = Election.ONLINE
        self.leader_recovery_state = partition.leader_recovery_state
        self.unclean_shutdown_replicas: Collection[int] = ()
        self._elr: Replicas = partition.elr

    def allow_unclean(self) -> None:
        """Lets the topic's `unclean.leader.election.enable` decide whether records may be lost."""
        if self._rules.unclean:
            self.election = Election.UNCLEAN

    def live_replicas(self, is_live: Callable[[int], bool]) -> None:
        """Sets who counts as alive, where the image does not know yet that a broker goes or comes."""
        self._is_live = is_live

    def assign_directory(self, broker_id: int, directory: Uuid) -> None:
        """Notes where the replica of a broker lives."""
        self._assigned[broker_id] = directory

    def build(self) -> VersionedRecord | None:
        """The change, or None if everything is as it should be."""
        record = PartitionChangeRecord(topic_id=self._topic_id, partition_id=self._index)
        self._complete_reassignment()
        self._populate_elr()
        self._elect(record)
        self._bump_leader_epoch_for_reassignment(record)
        self._update_elr(record)
        # Without ELR the last in-sync replica stays in the ISR even when it is gone: an empty ISR would say that
        # no replica is known to have all the data.
        if record.isr is None and (self.isr or self._elr_enabled) and self.isr != self._partition.isr:
            record.isr = list(self.isr)
        self._bump_leader_epoch_for_isr_shrink(record)
        self._update_last_known_leader(record)
        self._update_assignment(record)
        if self.leader_recovery_state != self._partition.leader_recovery_state:
            record.leader_recovery_state = self.leader_recovery_state
        if _is_no_op(record):
            return None
        return VersionedRecord(record, self._version.partition_record_version)

    def _complete_reassignment(self) -> None:
        if not self.adding and not self.removing:
            return
        completed = ReassignmentReplicas(self.replicas, self.adding, self.removing).completed(self.isr)
        if completed is not None:
            self.replicas, self.isr = completed
            self.removing = self.adding = ()

    def _populate_elr(self) -> None:
        """Keeps replicas eligible that leave an ISR below the minimum: their logs have all committed records."""
        if not self._elr_enabled:
            return
        if len(self.isr) >= self._rules.min_isr:
            self._elr = ()
            return
        candidates = {*self._elr, *self._partition.isr}
        # A broker that holds the partition no longer is not eligible to lead it. Kafka keeps it listed, where it can
        # never be elected but blocks the election of the last known leader.
        eligible = candidates.intersection(self.replicas).difference(self.isr, self.unclean_shutdown_replicas)
        self._elr = self._partition.elr if eligible == set(self._partition.elr) else tuple(sorted(eligible))

    def _elect(self, record: PartitionChangeRecord) -> None:
        elected = self._preferred_leader() if self.election is Election.PREFERRED else self._any_leader()
        if elected.node == self._partition.leader:
            return
        if elected.node in self._elr:
            self.isr = (elected.node,)
            self._elr = tuple(replica for replica in self._elr if replica != elected.node)
        record.leader = elected.node
        if elected.unclean:
            # What the others have that the new leader lacks is gone.
            record.isr = [elected.node]
            if self._partition.leader_recovery_state != LeaderRecoveryState.RECOVERING:
                record.leader_recovery_state = LeaderRecoveryState.RECOVERING

    def _preferred_leader(self) -> _Elected:
        ordered = (self.replicas[0], self._partition.leader, *self.replicas[1:])
        return self._first_valid(ordered) or self._last_known_leader() or _Elected(NO_LEADER)

    def _any_leader(self) -> _Elected:
        clean = self._first_valid((self._partition.leader, *self.replicas)) or self._last_known_leader()
        if clean is None and self.election is Election.UNCLEAN:
            return next((_Elected(r, unclean=True) for r in self.replicas if self._may_lead(r)), _Elected(NO_LEADER))
        return clean or _Elected(NO_LEADER)

    def _first_valid(self, replicas: Replicas) -> _Elected | None:
        eligible = self.isr or self._elr
        return next((_Elected(r) for r in replicas if r in eligible and self._may_lead(r)), None)

    def _last_known_leader(self) -> _Elected | None:
        if not self._elr_enabled or self._elr or self.isr or len(self._partition.last_known_elr) != 1:
            return None
        last = self._partition.last_known_elr[0]
        # Kafka elects one that was reassigned away since, and the ISR then names a broker without the partition.
        return _Elected(last, unclean=True) if last in self.replicas and self._may_lead(last) else None

    def _may_lead(self, replica: int) -> bool:
        """Whether the replica's broker is alive and the directory it lives in is online."""
        if not self._is_live(replica):
            return False
        broker = self._context.image.cluster.brokers.get(replica)
        directory = self._partition.directory(replica)
        # A replica that this very change adds has no directory yet.
        return broker is not None and (directory is None or broker.has_online_directory(directory))

    def _bump_leader_epoch_for_reassignment(self, record: PartitionChangeRecord) -> None:
        """Naming the leader raises the leader epoch, which fences replicas that were dropped."""
        if record.leader == NO_LEADER_CHANGE and not set(self._partition.replicas) <= set(self.replicas):
            record.leader = self._partition.leader

    def _bump_leader_epoch_for_isr_shrink(self, record: PartitionChangeRecord) -> None:
        if not self._version.bumps_leader_epoch_on_isr_shrink or record.leader != NO_LEADER_CHANGE:
            return
        if record.isr is not None and not set(self._partition.isr) <= set(record.isr):
            record.leader = self._partition.leader

    def _update_elr(self, record: PartitionChangeRecord) -> None:
        if record.isr is not None or not self._elr_enabled:
            # After an unclean election no other replica is known to have all the data.
            self._elr = ()
        if self._elr != self._partition.elr:
            record.eligible_leader_replicas = list(self._elr)

    def _update_last_known_leader(self, record: PartitionChangeRecord) -> None:
        """lastKnownElr holds the last leader when the partition loses it, until it has one again or it is moved."""
        if not self._elr_enabled:
            return
        if record.leader == NO_LEADER and not self._partition.last_known_elr:
            record.last_known_elr = [self._partition.leader]
        elif self._partition.last_known_elr:
            is_replica = any(known in self.replicas for known in self._partition.last_known_elr)
            if record.leader >= 0 or not is_replica:
                record.last_known_elr = []

    def _update_assignment(self, record: PartitionChangeRecord) -> None:
        moved = self.replicas != self._partition.replicas
        if (moved or self._assigned) and self._version.supports_directory_assignment:
            directories = tuple(map(self._directory_of, self.replicas))
            if directories != self._partition.directories:
                record.directories = list(directories)
        if moved:
            record.replicas = list(self.replicas)
        if self.removing != self._partition.removing_replicas:
            record.removing_replicas = list(self.removing)
        if self.adding != self._partition.adding_replicas:
            record.adding_replicas = list(self.adding)

    def _directory_of(self, replica: int) -> Uuid:
        known = self._assigned.get(replica) or self._partition.directory(replica)
        return self._context.default_directory(replica) if known is None else known


def _is_no_op(record: PartitionChangeRecord) -> bool:
    return (
        record.leader == NO_LEADER_CHANGE
        and record.leader_recovery_state == NO_RECOVERY_CHANGE
        and record.isr is None
        and record.eligible_leader_replicas is None
        and record.last_known_elr is None
        and record.directories is None
        and record.replicas is None
        and record.removing_replicas is None
        and record.adding_replicas is None
    )


def changed(partition: PartitionRegistration, record: VersionedRecord | None) -> PartitionRegistration:
    """The partition after a change that may be none."""
    if record is None or not isinstance(record.record, PartitionChangeRecord):
        return partition
    return partition.merge(record.record)
