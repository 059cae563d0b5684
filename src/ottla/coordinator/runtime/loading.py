"""The input of a shard's load, and its failures."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from ottla.base.buffer import Buffer
from ottla.base.errors import OttlaError

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1

StoredRecord: TypeAlias = tuple[int, Buffer, Buffer | None]
"""A record's offset, key and value."""


class StoredBatch(NamedTuple):
    """A batch of the shard's log; `end_offset` is the one after its last, also where compaction removed that record.

    The producer is -1 unless the batch belongs to a transaction.
    """

    end_offset: int
    records: Sequence[StoredRecord]
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH


class StoredMarker(NamedTuple):
    """A control batch that ends a transaction."""

    end_offset: int
    producer_id: int
    producer_epoch: int
    committed: bool


class LoadSummary(NamedTuple):
    """The figures of a finished load."""

    records: int
    unknown_records: int
    """Of types that this release does not know; they are left alone, so that a downgrade works."""


class LoadError(OttlaError):
    """A shard's log holds what cannot be read; the shard stays away rather than run on half a state."""
