"""Which voters and which kraft.version hold at which offset, read from the control records of snapshot and log.

A voter set counts from the moment its record is in the log, committed or not; if the record is truncated the set
before it counts again. So the history keeps an entry for each record: `[5: {1,2,3}] [9: {1,2,3,4}]`, truncated to
9 → `[5: {1,2,3}]`, and with a snapshot that ends at 9 → `[9: {1,2,3,4}]` becomes the only one needed.
"""

from bisect import bisect_left, bisect_right
from typing import Generic, TypeVar

from ottla.protocol.control_record import KRaftVersionRecord, VotersRecord
from ottla.protocol.records.batch import Batch, batches
from ottla.raft.log.control_batch import read_control_batch
from ottla.raft.ports import LogPort, SnapshotPort
from ottla.raft.voters.voter_set import VoterSet

Value = TypeVar("Value")

_READ_BYTES = 1 << 20


class LogHistory(Generic[Value]):
    """Values by the offset from which they hold."""

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._values: list[Value] = []

    def add(self, offset: int, value: Value) -> None:
        """A value from `offset` on; offsets only rise."""
        if self._offsets and offset < self._offsets[-1]:
            raise ValueError(f"offset {offset} after {self._offsets[-1]}")
        if self._offsets and offset == self._offsets[-1]:
            self._values[-1] = value
            return
        self._offsets.append(offset)
        self._values.append(value)

    def last(self) -> tuple[int, Value] | None:
        """The newest entry."""
        return (self._offsets[-1], self._values[-1]) if self._offsets else None

    def at(self, offset: int) -> Value | None:
        """The value that holds at `offset`."""
        index = bisect_right(self._offsets, offset)
        return self._values[index - 1] if index else None

    def truncate_from(self, end_offset: int) -> None:
        """Forgets entries at `end_offset` and behind it."""
        while self._offsets and self._offsets[-1] >= end_offset:
            self._offsets.pop()
            self._values.pop()

    def truncate_before(self, start_offset: int) -> None:
        """Forgets entries that a later one before `start_offset` overrules.

        One at `start_offset` itself overrules nothing yet: it may still be truncated, and then the one before counts.
        """
        keep = max(bisect_left(self._offsets, start_offset) - 1, 0)
        del self._offsets[:keep], self._values[:keep]

    def clear(self) -> None:
        """Forgets everything."""
        self._offsets.clear()
        self._values.clear()


class VoterHistory:
    """Follows the log's control records; `static_voters` hold while there is none."""

    def __init__(self, static_voters: VoterSet, log: LogPort, snapshots: SnapshotPort) -> None:
        self._static_voters = static_voters
        self._log = log
        self._snapshots = snapshots
        self._voters: LogHistory[VoterSet] = LogHistory()
        self._versions: LogHistory[int] = LogHistory()
        self._next_offset: int | None = None

    @property
    def last_set(self) -> VoterSet:
        """The voters that count now."""
        last = self._voters.last()
        return self._static_voters if last is None else last[1]

    @property
    def last_set_offset(self) -> int | None:
        """The offset of the present voters, one before its end for a snapshot; None for static voters."""
        last = self._voters.last()
        return None if last is None else last[0]

    @property
    def kraft_version(self) -> int:
        """The finalized kraft.version that counts now."""
        last = self._versions.last()
        return 0 if last is None else last[1]

    @property
    def supports_reconfiguration(self) -> bool:
        """Whether voters may come and go."""
        return self.kraft_version >= 1

    def set_at(self, offset: int) -> VoterSet | None:
        """The voters of the log up to `offset`, for a snapshot that ends behind it."""
        return self._voters.at(offset)

    def kraft_version_at(self, offset: int) -> int:
        """The kraft.version of the log up to `offset`."""
        return self._versions.at(offset) or 0

    def update(self) -> None:
        """Reads what snapshot and log have gained since the last time."""
        self._load_snapshot()
        assert self._next_offset is not None
        while self._next_offset < self._log.end_offset:
            for batch in batches(self._log.read(self._next_offset, _READ_BYTES)):
                self._note(batch, None)
                self._next_offset = batch.next_offset

    def restart(self) -> None:
        """The log began anew behind a snapshot; what it held before, even at higher offsets, never was.

        Log [62, 92) with voters at 91, snapshot 84 → the voters of the snapshot, then those of the log from 84 on.
        """
        self._next_offset = None
        self.update()

    def truncate_from(self, end_offset: int) -> None:
        """The log was truncated: the records from there on never were."""
        self._voters.truncate_from(end_offset)
        self._versions.truncate_from(end_offset)
        if self._next_offset is not None:
            self._next_offset = min(self._next_offset, end_offset)

    def truncate_before(self, start_offset: int) -> None:
        """A snapshot covers the log up to there."""
        self._voters.truncate_before(start_offset)
        self._versions.truncate_before(start_offset)

    def _load_snapshot(self) -> None:
        snapshot_id = self._snapshots.latest_id
        is_behind = self._next_offset is None or self._next_offset < self._log.start_offset
        if is_behind and snapshot_id is not None:
            self._voters.clear()
            self._versions.clear()
            for batch in batches(self._snapshots.read(snapshot_id, 0, self._snapshots.size(snapshot_id) or 0)):
                # The snapshot's own offsets mean nothing: what it says holds at its last contained offset.
                self._note(batch, snapshot_id.offset - 1)
            self._next_offset = snapshot_id.offset
        if self._next_offset is None:
            self._next_offset = 0

    def _note(self, batch: Batch, at_offset: int | None) -> None:
        if not batch.is_control:
            return
        for offset, message in read_control_batch(batch):
            where = offset if at_offset is None else at_offset
            if isinstance(message, VotersRecord):
                self._voters.add(where, VoterSet.of_record(message))
            elif isinstance(message, KRaftVersionRecord):
                self._versions.add(where, message.kraft_version)
