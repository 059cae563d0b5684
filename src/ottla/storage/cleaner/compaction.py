"""One round of cleaning: index the keys of the dirty part, then rewrite all segments up to its end without what is old.

Works on closed segments only and changes none of them: each group's replacement is written beside as `.cleaned`,
flushed, and reported. Swapping it in is the broker's, which alone knows whether the sources are still the log's.

Worked example: segments 0 [a=1, b=1] 2 [a=2, c=1] 4 [b=2], clean up to 2, dirty from 2 to the active segment at 5. The
index says a→2, c→3, b→4. Rewriting 0, 2 and 4 as one leaves 2 a=2, 3 c=1, 4 b=2, in one segment with base offset 0.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ottla.base.buffer import Buffer
from ottla.protocol.errors import DecodeError, MessageTooLargeError, UnsupportedCompressionTypeError
from ottla.protocol.records.batch import Batches
from ottla.protocol.records.reader import record_section
from ottla.storage.cleaner.batch_filter import BatchFilter
from ottla.storage.cleaner.filter_rules import FilterRules
from ottla.storage.cleaner.key_map import KeyMap
from ottla.storage.cleaner.segment_group import SegmentSize, group_by_size
from ottla.storage.cleaner.segment_reader import SegmentReader
from ottla.storage.cleaner.transaction import CleanedTransactions
from ottla.storage.cleaner.work_order import CleanedGroup, Finished, WorkOrder
from ottla.storage.disk.port import Access, Disk
from ottla.storage.errors import CorruptFileError
from ottla.storage.log_config import LogConfig
from ottla.storage.segment import file_name
from ottla.storage.segment.legacy import LegacyMessage
from ottla.storage.segment.scan import StoredBatch
from ottla.storage.segment.segment import Segment

_SECTION_BYTES_MAX: Final = (1 << 31) - 1


class Compaction:
    """The round that an order asks for. `pulse` is told of every read and write and may pause, or raise to stop."""

    def __init__(self, disk: Disk, order: WorkOrder, seed: bytes, pulse: Callable[[int], None]) -> None:
        self._disk = disk
        self._order = order
        self._pulse = pulse
        self._keys = KeyMap(order.keys_max, seed)
        self._config = LogConfig(
            segment_bytes=order.segment_bytes,
            segment_index_bytes=order.segment_index_bytes,
            index_interval_bytes=order.index_interval_bytes,
        )
        self._bytes_read = 0
        self._bytes_written = 0
        self._legacy_horizon_ms = self._find_legacy_horizon()

    def run(self) -> Iterator[CleanedGroup | Finished]:
        """Does it; one report per group of segments, then the sum."""
        clean_offset = self._index()
        order = self._order
        rules = FilterRules(
            clean_offset - 1, order.end_offset, order.now_ms, order.delete_retention_ms, order.last_records()
        )
        transactions = CleanedTransactions(order.aborted)
        batch_filter = BatchFilter(self._keys, transactions, rules)
        for group in self._groups(clean_offset):
            yield self._rewrite(group, batch_filter, transactions)
        yield Finished(
            clean_offset=clean_offset,
            bytes_read=self._bytes_read,
            bytes_written=self._bytes_written,
            records_read=batch_filter.records_read,
            records_kept=batch_filter.records_kept,
            keys=len(self._keys),
            elapsed_ms=0,
        )

    def _index(self) -> int:
        """Maps the dirty part's keys, as many as fit; the offset up to which the map knows them all."""
        start, end = self._order.first_dirty_offset, self._order.end_offset
        transactions = CleanedTransactions(entry for entry in self._order.aborted if entry.last_offset >= start)
        indexed = start
        for base_offset, following in self._ranges():
            if following <= start:
                continue
            reader = self._open(base_offset)
            while reader.has_batch():
                reader.at = self._keys.index_run(reader.view, reader.at, start)
                if not reader.has_batch():
                    break
                batch = reader.next_batch()
                if batch.last_offset >= start and not self._index_batch(batch, transactions, reader):
                    return self._up_to(batch.base_offset)
            indexed = following
        return min(indexed, end)

    def _up_to(self, offset: int) -> int:
        """The map is full: it knows all keys below this offset."""
        if offset <= self._order.first_dirty_offset:
            reason = f"a batch has more keys than the {self._order.keys_max} that fit the dedupe buffer"
            raise CorruptFileError(reason, self._order.directory)
        return offset

    def _index_batch(self, batch: StoredBatch, transactions: CleanedTransactions, reader: SegmentReader) -> bool:
        with _explained(reader, batch):
            if isinstance(batch, LegacyMessage):
                return self._index_legacy(batch)
            if batch.is_control:
                transactions.is_idle_marker(batch)
                return True
            if transactions.is_aborted(batch):
                return True
            section = record_section(batch, _SECTION_BYTES_MAX)
            return self._keys.index(section, batch.records_count, batch.base_offset, self._order.first_dirty_offset)

    def _index_legacy(self, message: LegacyMessage) -> bool:
        start = self._order.first_dirty_offset
        for offset, _, key, _, _ in message.records():
            if key is not None and offset >= start:
                if len(self._keys) >= self._keys.capacity:
                    return False
                self._keys.put(key, offset)
        return True

    def _find_legacy_horizon(self) -> int:
        """Old tombstones go from segments that were not written to after this time; later ones carry their own."""
        clean = [base for base in self._order.segments if base < self._order.first_dirty_offset]
        return self._modified_ms(clean[-1]) - self._order.delete_retention_ms if clean else 0

    def _modified_ms(self, base_offset: int) -> int:
        status = self._disk.status(f"{self._order.directory}/{file_name.name_of(base_offset, file_name.LOG)}")
        return 0 if status is None else status.modified_ms

    def _groups(self, clean_offset: int) -> list[list[SegmentSize]]:
        sizes = [
            SegmentSize(
                base_offset,
                following,
                self._size(base_offset, file_name.LOG),
                max(self._size(base_offset, file_name.OFFSET_INDEX), self._size(base_offset, file_name.TIME_INDEX)),
            )
            for base_offset, following in self._ranges()
            if base_offset < clean_offset
        ]
        return group_by_size(sizes, self._order.segment_bytes, self._order.segment_index_bytes)

    def _rewrite(
        self, group: Sequence[SegmentSize], batch_filter: BatchFilter, transactions: CleanedTransactions
    ) -> CleanedGroup:
        base_offset = group[0].base_offset
        cleaned = Segment.create(self._disk, self._order.directory, base_offset, self._config, suffix=file_name.CLEANED)
        writer = _Writer(cleaned, self._order.io_buffer_bytes, self._pulse)
        for source in group:
            self._copy(source.base_offset, batch_filter, writer)
        writer.flush()
        for entry in transactions.take_retained():
            cleaned.transaction_index.append(entry)
        cleaned.seal()
        cleaned.flush()
        self._disk.flush_directory(self._order.directory)
        cleaned.release()
        self._bytes_written += cleaned.size_bytes
        return CleanedGroup(tuple(source.base_offset for source in group), cleaned.size_bytes)

    def _copy(self, base_offset: int, batch_filter: BatchFilter, writer: "_Writer") -> None:
        reader = self._open(base_offset)
        drop_old = self._modified_ms(base_offset) <= self._legacy_horizon_ms
        while reader.has_batch():
            run = batch_filter.apply_run(reader.view, reader.at)
            for start, end in run.ranges:
                writer.add(reader.view[start:end])
            reader.at = run.position
            if reader.has_batch():
                batch = reader.next_batch()
                with _explained(reader, batch):
                    if isinstance(batch, LegacyMessage):
                        kept = batch_filter.apply_legacy(batch, drop_tombstones=drop_old)
                    else:
                        kept = batch_filter.apply(batch)
                if kept is not None:
                    writer.add(kept)
        self._bytes_read += reader.position

    def _open(self, base_offset: int) -> SegmentReader:
        path = f"{self._order.directory}/{file_name.name_of(base_offset, file_name.LOG)}"
        return SegmentReader(self._disk.open(path, Access.READ), self._order.io_buffer_bytes, self._pulse)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Each segment's base offset and that of the next."""
        segments = self._order.segments
        return zip(segments, (*segments[1:], self._order.end_offset), strict=True)

    def _size(self, base_offset: int, kind: str) -> int:
        status = self._disk.status(f"{self._order.directory}/{file_name.name_of(base_offset, kind)}")
        return 0 if status is None else status.size_bytes


@contextlib.contextmanager
def _explained(reader: SegmentReader, batch: StoredBatch) -> Iterator[None]:
    """Adds to what is wrong inside a batch where the batch is."""
    try:
        yield
    except (DecodeError, MessageTooLargeError, UnsupportedCompressionTypeError) as error:
        reader.at -= batch.size
        raise reader.corrupt(str(error)) from error


class _Writer:
    """Gathers what stays and writes it a buffer at a time."""

    __slots__ = ("_buffer_bytes", "_bytes", "_pieces", "_pulse", "_segment")

    def __init__(self, segment: Segment, buffer_bytes: int, pulse: Callable[[int], None]) -> None:
        self._segment = segment
        self._buffer_bytes = buffer_bytes
        self._pulse = pulse
        self._pieces: list[Buffer] = []
        self._bytes = 0

    def add(self, batches: Buffer) -> None:
        self._pieces.append(batches)
        self._bytes += len(batches)
        if self._bytes >= self._buffer_bytes:
            self.flush()

    def flush(self) -> None:
        if self._pieces:
            data = b"".join(self._pieces)
            self._segment.append_many(data, Batches(data))
            self._pulse(self._bytes)
            self._pieces, self._bytes = [], 0
