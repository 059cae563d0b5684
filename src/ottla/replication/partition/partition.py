"""One partition on this broker: its role, its log, and the requests that concern it alone.

Roles come from the metadata (`become_leader`, `become_follower`). What a call leads to elsewhere (a proposal to the
controller, requests that may be answered now) is in its result, for the caller to carry out.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.metadata.image.local_replica_change import LocalPartition
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.protocol.errors import (
    ApiError,
    ErrorCode,
    FencedLeaderEpochError,
    KafkaStorageError,
    NotEnoughReplicasError,
    NotLeaderOrFollowerError,
    OffsetOutOfRangeError,
    PolicyViolationError,
    UnknownLeaderEpochError,
)
from ottla.replication.isr import Answered
from ottla.replication.partition.cluster_view import ClusterView
from ottla.replication.partition.follower_progress import FollowerFetch
from ottla.replication.partition.leadership import Leadership
from ottla.replication.partition.replica_log import ReplicaLog
from ottla.replication.ports import LeaderAndIsr
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log.append_info import FROM_CLIENT, AppendInfo, AppendOptions
from ottla.storage.producer_state.entry import ProducerEntry

ALL_IN_SYNC: Final = -1
"""`acks` of a producer that waits for every replica that is in sync."""
_HIGH_WATERMARK: Final = -1


class Progress(NamedTuple):
    """The effect of a follower's fetch or a controller's answer."""

    moved: bool
    """Whether the high watermark moved, so that waiting requests may be complete."""
    proposed: LeaderAndIsr | None = None
    """For the controller."""


class Partition:
    """A partition that this broker leads or follows. The attributes are for reading. Loop thread only."""

    __slots__ = (
        "_view",
        "future_log",
        "index",
        "is_leader",
        "leader_epoch",
        "leader_id",
        "leadership",
        "log",
        "partition_epoch",
        "replicas",
        "topic",
        "topic_id",
    )

    def __init__(self, name: LocalPartition, log: ReplicaLog, view: ClusterView) -> None:
        self.topic, self.topic_id, self.index = name
        self.log = log
        self.future_log: ReplicaLog | None = None
        """The copy that is being made in another directory."""
        self._view = view
        self.leadership: Leadership | None = None
        self.is_leader = False
        self.leader_id = NO_LEADER
        self.leader_epoch = -1
        self.partition_epoch = -1
        self.replicas: tuple[int, ...] = ()

    def __repr__(self) -> str:
        role = "leads" if self.is_leader else f"follows {self.leader_id}"
        return f"Partition({self.topic}-{self.index}, {role} in epoch {self.leader_epoch}, {self.log!r})"

    @property
    def high_watermark(self) -> int:
        """The high watermark, as far as this broker knows."""
        return self.log.high_watermark

    # Roles

    def become_leader(self, registration: PartitionRegistration, now_ms: int) -> bool:
        """Leads from now on, or goes on leading with other replicas; answers whether in a new epoch.

        Metadata that is older than what the controller answered already is passed over.
        """
        if registration.partition_epoch < self.partition_epoch:
            return False
        leadership = self.leadership
        is_new_leader = leadership is None
        if leadership is None:
            leadership = self.leadership = Leadership(self._view, self.log.log_start_offset)
        leadership.update(registration)
        is_new_epoch = registration.leader_epoch > self.leader_epoch
        if is_new_epoch:
            log = self.log
            # Followers may hold records of an epoch that this log has none of. They ask where it ends, so the new
            # epoch has to be known before its first record is.
            log.assign_epoch_start(registration.leader_epoch)
            leadership.begin_epoch(registration.leader_epoch, log.next_offset, now_ms, is_new_leader=is_new_leader)
        self._take(registration)
        self.is_leader = True
        self.advance()
        return is_new_epoch

    def become_follower(self, registration: PartitionRegistration) -> bool:
        """Follows from now on, or waits for a leader; answers whether in a new epoch."""
        if registration.partition_epoch < self.partition_epoch:
            return False
        is_new_epoch = registration.leader_epoch > self.leader_epoch
        self.is_leader = False
        self.leadership = None
        self._take(registration)
        return is_new_epoch

    def _take(self, registration: PartitionRegistration) -> None:
        self.leader_id = registration.leader
        self.leader_epoch = registration.leader_epoch
        self.partition_epoch = registration.partition_epoch
        self.replicas = registration.replicas

    # Writing

    def append(
        self, records: bytearray | memoryview, *, acks: int, now_ms: int, options: AppendOptions = FROM_CLIENT
    ) -> AppendInfo:
        """Appends as the leader; afterwards the high watermark has moved if it could.

        Raises NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS (acks -1), KAFKA_STORAGE_ERROR and whatever refuses the
        batch.
        """
        leadership = self.leadership
        if leadership is None:
            raise NotLeaderOrFollowerError(f"Leader not local for partition {self.topic}-{self.index}")
        log = self.log
        if acks == ALL_IN_SYNC and leadership.is_under_min_isr(log.config.min_insync_replicas):
            raise self._too_few(leadership)
        info = log.append_as_leader(records, self.leader_epoch, now_ms, options)
        self.advance()
        return info

    def _too_few(self, leadership: Leadership) -> NotEnoughReplicasError:
        members = leadership.isr.members
        needed = leadership.effective_min_isr(self.log.config.min_insync_replicas)
        return NotEnoughReplicasError(
            f"The size of the current ISR : {len(members)} is insufficient to satisfy the min.isr requirement of "
            f"{needed} for partition {self.topic}-{self.index}, live replica(s) broker.id are : {sorted(members)}"
        )

    def advance(self) -> bool:
        """Moves the leader's high watermark up if it can be; answers whether it was. It never falls."""
        leadership, log = self.leadership, self.log
        if leadership is None:
            return False
        high_watermark = leadership.high_watermark(log.log_end_offset, log.config.min_insync_replicas)
        if high_watermark is None or high_watermark <= log.high_watermark:
            return False
        log.update_high_watermark(high_watermark)
        return True

    def replicated(self, offset: int) -> int | None:
        """Whether a write that ends before `offset` is on all in-sync replicas: None if not yet, else an error code.

        NOT_ENOUGH_REPLICAS_AFTER_APPEND if there were enough of them when it was written, and no longer are.
        """
        leadership = self.leadership
        if leadership is None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        log = self.log
        if log.offline_error is not None:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if log.high_watermark < offset:
            return None
        enough = len(leadership.isr.maximal) >= leadership.effective_min_isr(log.config.min_insync_replicas)
        return ErrorCode.NONE if enough else ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND

    def delete_records_before(self, offset: int) -> int:
        """Moves the log start up; -1 stands for the high watermark. Answers the offset that it was moved to."""
        log = self.log
        if self.leadership is None:
            raise NotLeaderOrFollowerError(f"Leader not local for partition {self.topic}-{self.index}")
        if log.config.compact and not log.config.delete:
            raise PolicyViolationError(
                f"Records of partition {self.topic}-{self.index} can not be deleted due to the configured policy"
            )
        wanted = log.high_watermark if offset == _HIGH_WATERMARK else offset
        if wanted < 0:
            raise OffsetOutOfRangeError(f"The offset {wanted} for partition {self.topic}-{self.index} is not valid")
        log.increment_log_start_offset(wanted)
        return wanted

    def low_watermark(self) -> int:
        """The lowest log start of this leader, its followers that count, and a copy that is being made."""
        if self.leadership is None:
            raise NotLeaderOrFollowerError(f"Leader not local for partition {self.topic}-{self.index}")
        lowest = self.leadership.low_watermark(self.log.log_start_offset)
        return lowest if self.future_log is None else min(lowest, self.future_log.log_start_offset)

    # Replication

    def follower_fetched(self, fetch: FollowerFetch, now_ms: int) -> Progress:
        """Notes how far a follower got, which may move the high watermark and bring it into the ISR."""
        leadership, log = self.leadership, self.log
        if leadership is None:
            return Progress(moved=False)
        before = leadership.followers[fetch.broker_id].log_end_offset
        leadership.follower_fetched(fetch, log.log_end_offset, now_ms)
        proposed = leadership.expand(fetch.broker_id, log.high_watermark)
        moved = fetch.fetch_offset != before and self.advance()
        return Progress(moved, proposed)

    def shrink_isr(self, now_ms: int) -> LeaderAndIsr | None:
        """A proposal to leave out replicas that lag behind."""
        if self.leadership is None or self.log.offline_error is not None:
            return None
        return self.leadership.shrink(self.log.log_end_offset, now_ms)

    def isr_answered(self, proposed: LeaderAndIsr, answer: LeaderAndIsr | ApiError) -> tuple[Answered, bool]:
        """Takes the controller's answer to a proposal; also whether the high watermark moved."""
        leadership = self.leadership
        if leadership is None:
            return Answered.STALE, False
        outcome = leadership.answered(proposed, answer)
        if outcome is Answered.ACCEPTED:
            self.partition_epoch = leadership.isr.partition_epoch
        return outcome, outcome in (Answered.ACCEPTED, Answered.REFUSED) and self.advance()

    # Asking

    def check_leader_epoch(self, current_leader_epoch: int) -> None:
        """Raises FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH unless the epoch is -1 or the partition's own."""
        if current_leader_epoch in (self.leader_epoch, -1):
            return
        text = f"partition {self.topic}-{self.index} is in leader epoch {self.leader_epoch}, not {current_leader_epoch}"
        if current_leader_epoch < self.leader_epoch:
            raise FencedLeaderEpochError(text)
        raise UnknownLeaderEpochError(text)

    def check_role(self, current_leader_epoch: int, *, leader_only: bool) -> None:
        """Refuses a request for another epoch or, if it is one for leaders, on a follower, or if the log is offline."""
        self.check_leader_epoch(current_leader_epoch)
        if leader_only and self.leadership is None:
            raise NotLeaderOrFollowerError(f"Leader not local for partition {self.topic}-{self.index}")
        if self.log.offline_error is not None:
            raise KafkaStorageError(f"Partition {self.topic}-{self.index} is in an offline log directory")

    def last_offset_for_epoch(self, current_leader_epoch: int, leader_epoch: int) -> EpochEntry:
        """The end of the epoch, or of the largest below it; (-1, -1) if that is unknown."""
        self.check_role(current_leader_epoch, leader_only=True)
        return self.log.end_offset_for_epoch(leader_epoch)

    def active_producers(self) -> Sequence[ProducerEntry]:
        """The producers that the log remembers."""
        return list(self.log.producers.entries.values())
