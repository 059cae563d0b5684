"""The messages between the broker and its cleaning process, a JSON line each way.

The broker writes one `WorkOrder`, then keeps the pipe open for as long as it wants the work done: its end is the order
to stop. Back come a `CleanedGroup` for each group of segments whose replacement lies whole and flushed beside it as
`.cleaned`, and at last `Finished` or `Failed`.
"""

import json
from dataclasses import asdict
from typing import Final, TypeAlias

from ottla.base.frozen import frozen
from ottla.storage.cleaner.filter_rules import LastRecord
from ottla.storage.index.transaction_index import AbortedTransaction


@frozen(kw_only=True)
class WorkOrder:
    """One round of cleaning of one log."""

    directory: str
    segments: tuple[int, ...]
    """Base offsets of the segments that may be rewritten, oldest first."""
    first_dirty_offset: int
    end_offset: int
    """Where the first segment begins that must not be touched."""
    now_ms: int
    keys_max: int
    io_buffer_bytes: int
    """How much is read at once, and how much is gathered before it is written."""
    io_max_bytes_per_second: float
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    delete_retention_ms: int
    aborted: tuple[AbortedTransaction, ...] = ()
    producers: tuple[tuple[int, int | None, int], ...] = ()
    """Producer id, last data offset, epoch."""

    def to_json(self) -> str:
        """The order as one line."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> "WorkOrder":
        """The order that a line spells."""
        fields = json.loads(line)
        fields["segments"] = tuple(fields["segments"])
        fields["aborted"] = tuple(AbortedTransaction(*entry) for entry in fields["aborted"])
        fields["producers"] = tuple(tuple(entry) for entry in fields["producers"])
        return cls(**fields)

    def last_records(self) -> dict[int, LastRecord]:
        """The active producers by id."""
        return {producer_id: LastRecord(offset, epoch) for producer_id, offset, epoch in self.producers}


@frozen
class CleanedGroup:
    """These segments may be replaced by the first one's `.cleaned` files."""

    sources: tuple[int, ...]
    size_bytes: int


@frozen(kw_only=True)
class Finished:
    """The round is done: everything below `clean_offset` is clean now."""

    clean_offset: int
    bytes_read: int
    bytes_written: int
    records_read: int
    records_kept: int
    keys: int
    elapsed_ms: int


@frozen
class Failed:
    """The round could not be finished; `is_corrupt` if trying again is of no use."""

    reason: str
    path: str
    is_corrupt: bool


Report: TypeAlias = CleanedGroup | Finished | Failed
_REPORTS: Final = {kind.__name__: kind for kind in (CleanedGroup, Finished, Failed)}


def report_to_json(report: Report) -> str:
    """The report as one line."""
    return json.dumps({type(report).__name__: asdict(report)}, separators=(",", ":"))


def report_from_json(line: str) -> Report:
    """The report that a line spells."""
    [(name, fields)] = json.loads(line).items()
    if name == CleanedGroup.__name__:
        fields["sources"] = tuple(fields["sources"])
    report: Report = _REPORTS[name](**fields)
    return report
