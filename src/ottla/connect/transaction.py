"""Transactions whose ends a source's task decides: `transaction.boundary=connector`.

A task says that a transaction ends with a record of its next poll, or with all of them. What is aborted is not seen by
readers of committed records, but counts as done: its offsets are stored. A task that wants the records again raises.
"""

import enum
from typing import Final

from ottla.connect.record import SourceRecord


class TransactionEnd(enum.Enum):
    """COMMIT or ABORT."""

    COMMIT = enum.auto()
    ABORT = enum.auto()


class TransactionContext:
    """The `context.transaction` of a task, by which it ends transactions.

    >>> context = TransactionContext()
    >>> context.commit()
    >>> context.end_of_poll(), context.end_of_poll()
    (<TransactionEnd.COMMIT: 1>, None)
    """

    def __init__(self) -> None:
        self._of_records: Final[dict[int, tuple[SourceRecord, TransactionEnd]]] = {}
        self._of_poll: TransactionEnd | None = None

    def commit(self, record: SourceRecord | None = None) -> None:
        """Commits behind this record, or behind the records of the next poll."""
        self._end(TransactionEnd.COMMIT, record)

    def abort(self, record: SourceRecord | None = None) -> None:
        """Discards all up to this record, or up to the last one of the next poll."""
        self._end(TransactionEnd.ABORT, record)

    def end_of(self, record: SourceRecord) -> TransactionEnd | None:
        """Called by the worker: how the transaction ends behind a record; None if it continues."""
        found = self._of_records.pop(id(record), None)
        return None if found is None else found[1]

    def end_of_poll(self) -> TransactionEnd | None:
        """Called by the worker: how the transaction ends behind the last poll; None if it continues."""
        found, self._of_poll = self._of_poll, None
        return found

    def _end(self, how: TransactionEnd, record: SourceRecord | None) -> None:
        if record is None:
            self._of_poll = how
        else:
            # The record is kept, so that no other one gets its identity.
            self._of_records[id(record)] = (record, how)
