"""The rules of one round of cleaning, for all its batches."""

from ottla.base.frozen import frozen


@frozen
class LastRecord:
    """The last data offset of an active producer, or None if the log has only markers of its epoch."""

    data_offset: int | None
    producer_epoch: int


@frozen
class FilterRules:
    """The round's bounds and times."""

    latest_offset: int
    """The offset up to which the key map knows the log; what lies above stays."""
    end_offset: int
    """Where the round ends; the batch before it stays, if only empty."""
    now_ms: int
    delete_retention_ms: int
    producers: dict[int, LastRecord]
