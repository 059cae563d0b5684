"""The result of compaction for one batch: unchanged, rewritten, empty, or removed.

Base offset, last offset and base sequence never change, so offsets and producers' sequences stay what they were. A
batch is kept empty if it is the last of an active producer (it holds the sequence) or of the round (it holds the
offset). Tombstones and idle markers first get a delete horizon, now plus `delete.retention.ms`, in place of the base
timestamp (attributes bit 6); once it has passed they go.

Worked example: batch [10,12] holds a=1, b=null, a=2 and nothing later has these keys. At the first cleaning 10 goes
and the horizon is set: [10,12] with b=null, a=2. At the first after the horizon 11 goes too: [10,12] with a=2.
"""

import itertools
import struct
from typing import Final

from ottla.base.buffer import Buffer
from ottla.protocol.checksum import crc32c
from ottla.protocol.compression import CompressionType, compress
from ottla.protocol.records.batch import HEADER_BYTES, LOG_OVERHEAD, Batch
from ottla.protocol.records.reader import record_section
from ottla.protocol.records.writer import BatchOptions, emptied, write_batch
from ottla.storage.cleaner.filter_rules import FilterRules
from ottla.storage.cleaner.key_map import KeyMap, Run, Selection, rewrite
from ottla.storage.cleaner.transaction import CleanedTransactions
from ottla.storage.segment.legacy import LegacyMessage

_SECTION_BYTES_MAX: Final = (1 << 31) - 1
_DELETE_HORIZON: Final = 0x40
_UINT32: Final = struct.Struct(">I")
_INT32: Final = struct.Struct(">i")
_TIMES: Final = struct.Struct(">qq")
_LENGTH_AT, _CRC_AT, _ATTRIBUTES_AT, _TIMES_AT, _COUNT_AT = 8, 17, 21, 27, 57


class BatchFilter:
    """The decision for each batch of a log in turn, oldest first."""

    __slots__ = ("_keys", "_rules", "_transactions", "records_kept", "records_read")

    def __init__(self, keys: KeyMap, transactions: CleanedTransactions, rules: FilterRules) -> None:
        self._keys = keys
        self._transactions = transactions
        self._rules = rules
        self.records_read = 0
        self.records_kept = 0

    def apply_run(self, buffer: Buffer, position: int) -> Run:
        """Decides as many batches of a buffer as stay or go unchanged and can be told so fast, perhaps none."""
        run = self._keys.select_run(buffer, position, self._rules)
        self.records_read += run.read
        self.records_kept += run.kept
        return run

    def apply(self, batch: Batch) -> Buffer | None:
        """The batch's bytes as they are to be, None if it goes; the CRC is the caller's to check."""
        self.records_read += batch.records_count
        horizon = batch.delete_horizon_ms
        if batch.is_control:
            idle = self._transactions.is_idle_marker(batch)
            if idle and horizon is not None and horizon <= self._rules.now_ms:
                return self._without_records(batch)
            return self._control(batch, is_idle=idle)
        if self._transactions.is_aborted(batch):
            return self._without_records(batch)
        return self._data(batch)

    def apply_legacy(self, message: LegacyMessage, *, drop_tombstones: bool) -> Buffer | None:
        """The rest of a message of magic 0 or 1, as a batch of magic 2 with the codec that it had.

        It begins with the first record that stays and ends with the last: there is no producer to keep a sequence for.
        Apache Kafka gives up on a log where none of the round's last message stays; here an empty batch does.
        """
        records = message.records()
        self.records_read += len(records)
        plain = Batch(write_batch(records))
        bases = plain.base_offset, plain.base_timestamp
        found = self._keys.select(
            plain.records, len(records), bases, self._rules.latest_offset, drop_tombstones=drop_tombstones
        )
        if not found.kept:
            needed = message.next_offset == self._rules.end_offset
            empty = BatchOptions(base_offset=message.base_offset, last_offset=message.last_offset)
            return write_batch([], empty) if needed else None
        self.records_kept += found.kept
        options = BatchOptions(
            compression=CompressionType.from_id(message.codec_id),
            log_append_time=message.log_append_time,
            delete_horizon_ms=self._new_horizon() if found.tombstones else None,
        )
        return write_batch(list(itertools.compress(records, found.mask)), options)

    def _control(self, batch: Batch, *, is_idle: bool) -> Buffer | None:
        count = batch.records_count
        if not count:
            return self._without_records(batch)
        self.records_kept += count
        if not is_idle or batch.delete_horizon_ms is not None:
            return batch.data
        everything = Selection(b"\1" * count, count, False, batch.base_timestamp, batch.max_timestamp)
        return self._rewritten(batch, record_section(batch), everything, self._new_horizon())

    def _data(self, batch: Batch) -> Buffer | None:
        rules = self._rules
        horizon = batch.delete_horizon_ms
        section = record_section(batch, _SECTION_BYTES_MAX)
        found = self._keys.select(
            section,
            batch.records_count,
            (batch.base_offset, batch.base_timestamp),
            rules.latest_offset,
            drop_tombstones=horizon is not None and horizon <= rules.now_ms,
        )
        if not found.kept:
            return self._without_records(batch)
        self.records_kept += found.kept
        if found.tombstones and horizon is None:
            return self._rewritten(batch, section, found, self._new_horizon())
        if found.kept == batch.records_count:
            return batch.data
        return self._rewritten(batch, section, found, horizon)

    def _without_records(self, batch: Batch) -> Buffer | None:
        return emptied(batch) if self._is_needed_empty(batch) else None

    def _is_needed_empty(self, batch: Batch) -> bool:
        if batch.next_offset == self._rules.end_offset:
            return True
        last = self._rules.producers.get(batch.producer_id) if batch.producer_id >= 0 else None
        if last is None:
            return False
        if last.data_offset is not None:
            return batch.last_offset == last.data_offset
        return batch.is_control and batch.producer_epoch == last.producer_epoch

    def _new_horizon(self) -> int:
        return self._rules.now_ms + self._rules.delete_retention_ms

    def _rewritten(self, batch: Batch, section: memoryview, found: Selection, horizon: int | None) -> bytearray:
        """The batch with some of its records, its deltas counted from the horizon or from the first that stays."""
        timestamp = batch.log_append_time
        first = found.first_timestamp if timestamp is None else timestamp
        base_timestamp = first if horizon is None else horizon
        frames = rewrite(section, found.mask, (batch.base_timestamp, base_timestamp), timestamp)
        if batch.compression is not CompressionType.NONE:
            frames = compress(batch.compression, frames)
        written = bytearray(batch.data[:HEADER_BYTES]) + frames
        _INT32.pack_into(written, _LENGTH_AT, len(written) - LOG_OVERHEAD)
        # The bit that says "delete horizon" lies in the lower of the two attribute bytes.
        flags = written[_ATTRIBUTES_AT + 1] & ~_DELETE_HORIZON
        written[_ATTRIBUTES_AT + 1] = flags if horizon is None else flags | _DELETE_HORIZON
        _TIMES.pack_into(written, _TIMES_AT, base_timestamp, found.max_timestamp if timestamp is None else timestamp)
        _INT32.pack_into(written, _COUNT_AT, found.kept)
        _UINT32.pack_into(written, _CRC_AT, crc32c(memoryview(written)[_ATTRIBUTES_AT:]))
        return written
