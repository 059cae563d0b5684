"""Compacts a coordinator's log as the cleaner does: keeps the last record of each key, drops aborted transactions."""

from collections.abc import Iterable, Iterator, Sequence

from ottla.coordinator.runtime.loading import StoredBatch, StoredMarker


def compacted(batches: Sequence[StoredBatch | StoredMarker]) -> Iterator[StoredBatch | StoredMarker]:
    """The log after a thorough cleaning, in which even the tombstones are gone.

    a=1, b=1, a=2, b deleted → a=2. Batches keep their place even when they are empty: their ends are the log's offsets.
    """
    aborted = set(_aborted(batches))
    kept: dict[bytes, int] = {}
    for place, batch in enumerate(batches):
        if isinstance(batch, StoredBatch) and place not in aborted:
            for offset, key, _ in batch.records:
                kept[bytes(key)] = offset
    for place, batch in enumerate(batches):
        if isinstance(batch, StoredMarker):
            yield batch
            continue
        records = [
            record
            for record in batch.records
            if place not in aborted and kept[bytes(record[1])] == record[0] and record[2] is not None
        ]
        yield batch._replace(records=records)


def _aborted(batches: Sequence[StoredBatch | StoredMarker]) -> Iterable[int]:
    """The places of batches that belong to aborted transactions."""
    under_way: dict[int, list[int]] = {}
    for place, batch in enumerate(batches):
        if isinstance(batch, StoredMarker):
            ended = under_way.pop(batch.producer_id, [])
            if not batch.committed:
                yield from ended
        elif batch.producer_id >= 0:
            under_way.setdefault(batch.producer_id, []).append(place)
