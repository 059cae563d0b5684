"""Recognises a client's batch that is in the log already, after a restart too.

A producer may repeat any of its last five batches, and memory holds as many. A snapshot holds the last one only, in
Apache Kafka's format, so the others are read back from the log once a producer repeats one of them. Otherwise a leader
that was restarted would refuse the repeat as out of order, which ends a producer of librdkafka.
"""

from collections.abc import Iterator
from typing import Final

from ottla.protocol.records.batch import Batch
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.state import LogState
from ottla.storage.producer_state.entry import BATCHES_KEPT, BatchMetadata, ProducerEntry
from ottla.storage.segment.segment import Segment

SEARCH_BYTES: Final = 1 << 20
"""How far before the batches that are known the earlier ones are looked for."""


def recall(log: LogState, batch: Batch) -> None:
    """Has the entry of a producer know its last batches again, if this one may repeat a batch that it does not know."""
    entry = log.producers.entries.get(batch.producer_id)
    if entry is not None and entry.may_be_older(batch):
        entry.batches = _recalled(log, entry)
        entry.is_from_snapshot = False


def _recalled(log: LogState, entry: ProducerEntry) -> tuple[BatchMetadata, ...]:
    """The batches of an entry, with those before them that the log has; sequence numbers leave no gap."""
    known = entry.batches
    earlier: list[BatchMetadata] = []
    for segment, start in _places_before(log, known[0].first_offset):
        found = list(_batches_of(entry, segment, start, known[0].first_offset))
        earlier[:0] = found
        if len(earlier) + len(known) >= BATCHES_KEPT:
            break
    for batch in reversed(earlier):
        if len(known) == BATCHES_KEPT or not batch.precedes(known[0]):
            break
        known = (batch, *known)
    return known


def _places_before(log: LogState, offset: int) -> Iterator[tuple[Segment, int]]:
    """Segments, newest first, and the positions to look at them from: no more than `SEARCH_BYTES` in all."""
    left = SEARCH_BYTES
    for segment in reversed([one for one in log.segments if one.base_offset < offset]):
        try:
            found = segment.locate(offset)
            end = segment.size_bytes if found is None else found[0]
            yield segment, _position_before(segment, end - left)
        except CorruptFileError:
            return
        left -= end
        if left <= 0:
            return


def _position_before(segment: Segment, position: int) -> int:
    """The beginning of a batch near the position."""
    offset = segment.offset_beyond(position) if position > 0 else None
    found = None if offset is None else segment.locate(offset)
    return 0 if found is None else found[0]


def _batches_of(entry: ProducerEntry, segment: Segment, start: int, end_offset: int) -> Iterator[BatchMetadata]:
    """A producer's batches of data below an offset, in the epoch that it is in."""
    for batch in segment.scan(start):
        if batch.base_offset >= end_offset:
            return
        if (
            isinstance(batch, Batch)
            and batch.producer_id == entry.producer_id
            and batch.producer_epoch == entry.producer_epoch
            and not batch.is_control
        ):
            yield BatchMetadata.of(batch)
