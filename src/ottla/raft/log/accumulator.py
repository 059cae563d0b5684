"""Records on their way into a leader's log: collected for the linger time, written as whole batches.

Records appended together end up in one batch, so they are read and applied together or not at all. Offsets are given
out at once, in order, which works because only the leader writes. Memory is bounded: past it, appends are refused.

All records of a batch have the time of its first. Apache Kafka's readers of the metadata log insist on it: one record
that is a millisecond younger, and every node of Kafka's that fetches the batch ends itself.
"""

from collections.abc import Sequence

from ottla.protocol.errors import NotLeaderOrFollowerError, RecordListTooLargeError
from ottla.protocol.records import frames
from ottla.protocol.records.batch import HEADER_BYTES
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.raft.config import NEVER_MS, QuorumConfig
from ottla.raft.errors import AppendBufferFullError
from ottla.raft.log.control_batch import BatchPlace, ControlMessage, write_control_batch


class BatchAccumulator:
    """The write buffer of one leadership."""

    def __init__(self, epoch: int, base_offset: int, config: QuorumConfig) -> None:
        self.epoch = epoch
        self.base_offset = base_offset
        """Where the log ended when the leadership began."""
        self.next_offset = base_offset
        self._config = config
        self._completed: list[bytes] = []
        self._current: list[RecordTuple] = []
        self._current_ms = 0
        self._current_bytes = HEADER_BYTES
        self._pending_bytes = 0
        self._linger_deadline_ms = NEVER_MS

    @property
    def drain_deadline_ms(self) -> int:
        """The time at which batches have to be written; 0 for at once."""
        return 0 if self._completed else self._linger_deadline_ms

    @property
    def pending_bytes(self) -> int:
        """Memory that records hold here."""
        return self._pending_bytes

    def append(self, epoch: int, values: Sequence[bytes], now_ms: int) -> int:
        """Takes record values as one unit; the offset of the last.

        Raises NOT_LEADER_OR_FOLLOWER for an epoch that is over, RECORD_LIST_TOO_LARGE for more than a batch can hold,
        and `AppendBufferFullError` while too much is waiting.
        """
        if epoch < self.epoch:
            raise NotLeaderOrFollowerError(f"epoch {epoch} is over; the current leader epoch is {self.epoch}")
        if epoch > self.epoch or not values:
            raise ValueError(f"{len(values)} records for epoch {epoch}, in leader epoch {self.epoch}")
        size = self._size(values, now_ms)
        if HEADER_BYTES + size > self._config.batch_max_bytes:
            raise RecordListTooLargeError(
                f"{len(values)} records of {size} bytes do not fit a batch of {self._config.batch_max_bytes} bytes"
            )
        if self._pending_bytes + size > self._config.pending_bytes_max:
            raise AppendBufferFullError(f"{self._pending_bytes} bytes of records are waiting to be written")
        if self._current_bytes + size > self._config.batch_max_bytes:
            self._complete_current()
        self._add(values, size, now_ms)
        return self.next_offset - 1

    def append_control(self, messages: Sequence[ControlMessage], now_ms: int) -> int:
        """Takes control records as a batch of their own, to be written at once; the offset of the last."""
        self._complete_current()
        batch = write_control_batch(BatchPlace(self.next_offset, self.epoch, now_ms), messages)
        self._completed.append(batch)
        self._pending_bytes += len(batch)
        self.next_offset += len(messages)
        return self.next_offset - 1

    def drain(self) -> list[bytes]:
        """Everything that waits, as batches for the log."""
        self._complete_current()
        batches, self._completed = self._completed, []
        self._pending_bytes = 0
        return batches

    def _size(self, values: Sequence[bytes], now_ms: int) -> int:
        # The delta counts from a batch of their own, so a few bytes of varint more are possible in a shared one.
        slack = 10 * len(values)
        record = (self.next_offset, now_ms, None, b"", ())
        overhead = frames.record_size(record, 0, self.next_offset, now_ms)
        return sum(map(len, values)) + overhead * len(values) + slack

    def _add(self, values: Sequence[bytes], size: int, now_ms: int) -> None:
        if not self._current:
            self._current_ms = now_ms
        for value in values:
            self._current.append((self.next_offset, self._current_ms, None, value, ()))
            self.next_offset += 1
        self._current_bytes += size
        self._pending_bytes += size
        self._linger_deadline_ms = min(self._linger_deadline_ms, now_ms + self._config.append_linger_ms)

    def _complete_current(self) -> None:
        self._linger_deadline_ms = NEVER_MS
        if not self._current:
            return
        options = BatchOptions(base_offset=self._current[0][0], partition_leader_epoch=self.epoch)
        self._completed.append(bytes(write_batch(self._current, options)))
        self._current = []
        self._current_bytes = HEADER_BYTES
