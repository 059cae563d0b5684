"""The interface of the state machine on top, told in order: committed batches, snapshots, leaders.

It gets one piece at a time and the next when it says so, which bounds memory whatever it is behind. After a restart it
starts with the newest snapshot, or with the first record if there is none, as soon as a high watermark is known.
"""

from ottla.protocol.records.batch import batches
from ottla.raft.effect import ApplyCommitted, Effect, LeaderChanged, LoadSnapshot
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import LeaderAndEpoch
from ottla.raft.ports import LogPort, SnapshotPort

_APPLY_BYTES_MAX = 1 << 20


class ListenerProgress:
    """The listener's progress in the log."""

    def __init__(self, log: LogPort, snapshots: SnapshotPort, effects: list[Effect]) -> None:
        self._log = log
        self._snapshots = snapshots
        self._effects = effects
        self._next_offset: int | None = None
        """The first offset that the listener has not applied; None before it has begun."""
        self.committed_offset = 0
        """The highest high watermark of this run; a new leader does not know its own for a while."""
        self._in_flight_end: int | None = None
        self.last_told = LeaderAndEpoch(None, 0)

    @property
    def next_offset(self) -> int:
        """The first offset that the listener has not applied."""
        return self._next_offset or 0

    def advance(self, high_watermark: int) -> None:
        """Hands out what is committed and not applied, unless the listener is busy."""
        self.committed_offset = max(self.committed_offset, high_watermark)
        if self._in_flight_end is not None or self._next_offset == high_watermark:
            return
        if self._next_offset is None or self._next_offset < self._log.start_offset:
            self._begin(high_watermark)
        if self._in_flight_end is None and self._next_offset is not None and self._next_offset < high_watermark:
            self._apply(self._next_offset, high_watermark)

    def applied(self) -> None:
        """The listener is done with the last piece."""
        if self._in_flight_end is not None:
            self._next_offset, self._in_flight_end = self._in_flight_end, None

    def tell_leader(self, leader: LeaderAndEpoch) -> None:
        """Tells of a leader or an epoch that is news."""
        if self._is_news(leader):
            self.last_told = leader
            self._effects.append(LeaderChanged(leader))

    def tell_own_leadership(self, leader: LeaderAndEpoch, epoch_start_offset: int) -> None:
        """Tells that we lead, once everything before our epoch is applied."""
        if self._next_offset is not None and self._next_offset > epoch_start_offset:
            self.tell_leader(leader)

    def _is_news(self, leader: LeaderAndEpoch) -> bool:
        last = self.last_told
        return leader.epoch > last.epoch or (
            leader.epoch == last.epoch and leader.leader_id is not None and last.leader_id is None
        )

    def _begin(self, high_watermark: int) -> None:
        snapshot_id = self._snapshots.latest_id
        if snapshot_id is not None and (self._next_offset or 0) < high_watermark:
            self._in_flight_end = snapshot_id.offset
            self._effects.append(LoadSnapshot(snapshot_id))
        elif self._next_offset is None and self._log.start_offset == 0:
            self._next_offset = 0
        elif snapshot_id is None:
            raise RaftInvariantError(f"the log starts at {self._log.start_offset} and there is no snapshot")

    def _apply(self, offset: int, high_watermark: int) -> None:
        data = self._log.read(offset, _APPLY_BYTES_MAX)
        end = size = 0
        for batch in batches(data):
            if batch.next_offset > high_watermark:
                break
            end, size = batch.next_offset, batch.end
        if size == 0:
            return
        self._in_flight_end = end
        self._effects.append(ApplyCommitted(offset, end - 1, bytes(data[:size])))
