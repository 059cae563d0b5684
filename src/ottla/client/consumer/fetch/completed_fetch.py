"""The batches of one partition that one fetch answer brought, while the user takes records out of them.

Which batches are data is decided here: control batches are passed over, and with `read_committed` those of aborted
transactions, too. An aborted transaction starts at the first offset that the answer names for its producer and ends
with the producer's abort marker.

Producer 7 aborted from offset 10: batches [10,12] of 7, [13,13] of 8, [14,15] of 7, [16,16] the marker of 7,
[17,18] of 7 -> records of [13,13] and [17,18].
"""

from collections.abc import Iterator, Sequence
from typing import Final

from ottla.base.buffer import Buffer
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.consumer.fetch.record import Record, RecordReader, RecordSource
from ottla.client.consumer.subscription_state import PartitionState, Position
from ottla.client.errors import RecordTooLargeError
from ottla.protocol.errors import CorruptMessageError
from ottla.protocol.messages.fetch import AbortedTransaction
from ottla.protocol.records import legacy
from ottla.protocol.records.batch import MAGIC, Batch, batches, frame_at
from ottla.protocol.records.control import ControlRecordType, read_end_marker
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.reader import decode_batch, record_section


@frozen
class FetchedData:
    """An answer's data of one partition, and the offset of the fetch."""

    state: PartitionState
    version: int
    start: Position
    records: Buffer
    aborted: Sequence[AbortedTransaction] | None = None
    check_crcs: bool = True


class CompletedFetch:
    """Hands out records in order; `position` is that of the next record to be handed out."""

    __slots__ = (
        "_aborted",
        "_aborted_producers",
        "_aborted_seen",
        "_batch",
        "_batches",
        "_check_crcs",
        "_reader",
        "_view",
        "end",
        "position",
        "size",
        "state",
        "version",
    )

    def __init__(self, fetched: FetchedData) -> None:
        self.state: Final = fetched.state
        self.version: Final = fetched.version
        self.position = fetched.start
        self._check_crcs: Final = fetched.check_crcs
        self._view: Final = _modern(contiguous(fetched.records))
        self.size: Final = len(fetched.records)
        self._aborted: Final = sorted(fetched.aborted or (), key=lambda aborted: aborted.first_offset)
        self._aborted_seen = 0
        self._aborted_producers: set[int] = set()
        self.end: Final = self._find_end()
        """Where the next fetch goes on."""
        self._batches: Iterator[Batch] = batches(self._view)
        self._batch: Batch | None = None
        self._reader: RecordReader | None = None

    @property
    def is_current(self) -> bool:
        """Whether the position is still the one that this was fetched for."""
        return self.version == self.state.version

    @property
    def is_drained(self) -> bool:
        """Whether all records have been handed out."""
        return self.position == self.end and self._reader is None

    def take(self, out: list[Record], records_max: int, source: RecordSource) -> None:
        """Appends up to that many records, and moves the position behind them, or to the end."""
        before, limit = len(out), len(out) + records_max
        while len(out) < limit:
            if self._reader is None and not self._open_batch(source):
                self.position = self.end
                return
            reader, batch = self._reader, self._batch
            assert reader is not None
            assert batch is not None
            try:
                offset = reader.take(out, limit - len(out), self.position.offset)
            except OttlaError:
                # What was appended before a record that can't be read is handed out first, and the reader stays there.
                if len(out) > before and out[-1].offset >= self.position.offset:
                    self.position = Position(out[-1].offset + 1, _epoch(batch))
                raise
            self.position = Position(offset, _epoch(batch) if offset > self.position.offset else self.position.epoch)
            if reader.is_done:
                self._reader = None
                self._pass(batch)
        if self._reader is None and self.position.offset >= self.end.offset:
            self.position = self.end

    def take_data(self) -> list[memoryview]:
        """The bytes of all batches that are left and hold data, as few pieces as possible; nothing is left then."""
        pieces: list[memoryview] = []
        start = stop = -1
        if self._batch is not None and self._reader is not None:
            start, stop = self._batch.position, self._batch.end
            self._reader = None
        while (batch := self._next_data()) is not None:
            if batch.position != stop:
                if stop >= 0:
                    pieces.append(self._view[start:stop])
                start = batch.position
            stop = batch.end
        if stop >= 0:
            pieces.append(self._view[start:stop])
        return pieces

    def finish(self) -> None:
        """Notes that the data of `take_data` has been read."""
        self.position = self.end

    def rewind(self) -> None:
        """Puts back data of `take_data` that could not be read: it is to be taken again, from the position on."""
        self._batches = batches(self._view)
        self._aborted_seen = 0
        self._aborted_producers.clear()

    def _open_batch(self, source: RecordSource) -> bool:
        batch = self._next_data()
        if batch is None:
            return False
        if self._check_crcs and not batch.crc_matches():
            # Not passed over: the next poll raises again, until the user seeks past it.
            self._batches = batches(self._view, batch.position)
            raise CorruptMessageError(
                f"the batch at offset {batch.base_offset} of {self.state.partition} has a wrong CRC: "
                f"seek() to {batch.next_offset} to leave it out"
            )
        self._batch = batch
        self._reader = RecordReader(record_section(batch), batch, source)
        return True

    def _next_data(self) -> Batch | None:
        """The next batch whose records are for the user, from the position on."""
        for batch in self._batches:
            # Batches before the position, too, begin and end aborted transactions.
            if self._is_data(batch) and batch.last_offset >= self.position.offset:
                return batch
        return None

    def _is_data(self, batch: Batch) -> bool:
        if not batch.is_transactional:
            return not batch.is_control
        # For markers, too: the answer may begin with the one that ends an aborted transaction.
        aborted = self._aborted
        while self._aborted_seen < len(aborted) and aborted[self._aborted_seen].first_offset <= batch.last_offset:
            self._aborted_producers.add(aborted[self._aborted_seen].producer_id)
            self._aborted_seen += 1
        if batch.is_control:
            if batch.producer_id in self._aborted_producers and _is_abort(batch):
                self._aborted_producers.discard(batch.producer_id)
            return False
        return batch.producer_id not in self._aborted_producers

    def _pass(self, batch: Batch) -> None:
        """Compaction leaves gaps: the position goes behind all that the batch stood for."""
        if batch.next_offset > self.position.offset:
            self.position = Position(batch.next_offset, _epoch(batch))

    def _find_end(self) -> Position:
        """The end of the whole batches; a batch that the size limit cut off is fetched again."""
        last = None
        for batch in batches(self._view):
            last = batch
        if last is not None:
            return Position(max(last.next_offset, self.position.offset), _epoch(last))
        if len(self._view):
            raise RecordTooLargeError(
                f"the batch at offset {self.position.offset} of {self.state.partition} is larger than the "
                f"{len(self._view)} bytes that were fetched: raise max.partition.fetch.bytes"
            )
        return self.position


def _epoch(batch: Batch) -> int | None:
    return batch.partition_leader_epoch if batch.partition_leader_epoch >= 0 else None


def _is_abort(batch: Batch) -> bool:
    # Compaction takes the record out of the marker of a transaction that has none left: that one is over, too.
    markers = map(read_end_marker, decode_batch(batch))
    return not batch.records_count or any(
        marker is not None and marker.control_type is ControlRecordType.ABORT for marker in markers
    )


def _modern(view: memoryview) -> memoryview:
    """The batches in format v2: those in earlier formats are converted."""
    position, start, pieces = 0, 0, []
    while (frame := frame_at(view, position)) is not None:
        if frame.magic != MAGIC:
            if start < position:
                pieces.append(bytes(view[start:position]))
            pieces.append(bytes(legacy.convert(view[position : position + frame.size])))
            start = position + frame.size
        elif not pieces and not start:
            # Old formats are before new ones in a log: the first batch that is new ends the search.
            return view
        else:
            break
        position += frame.size
    return memoryview(b"".join([*pieces, bytes(view[start:])])) if pieces else view
