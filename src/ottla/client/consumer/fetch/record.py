"""The record that `poll()` returns, and its reader, by the installed twin; `record_plain` documents them.

Pickle knows a record by its fields, so that processes with and without compiled modules exchange records.
"""

import copyreg
from typing import TYPE_CHECKING, Any

from ottla.base.accelerated import load
from ottla.client.consumer.fetch.record_plain import RecordSource, fields

if TYPE_CHECKING:
    from ottla.client.consumer.fetch.record_plain import Record, RecordReader
else:
    _twin = load("ottla.client.consumer.fetch._record", "ottla.client.consumer.fetch.record_plain")
    Record = _twin.Record
    RecordReader = _twin.RecordReader

__all__ = ["Record", "RecordReader", "RecordSource"]


def rebuilt(*values: Any) -> Record:
    """A record from its `fields`."""
    *place, timestamp, timestamp_type, headers, leader_epoch = values
    return Record(
        *place, timestamp=timestamp, timestamp_type=timestamp_type, headers=headers, leader_epoch=leader_epoch
    )


def _reduced(record: Record) -> tuple[Any, ...]:
    return rebuilt, fields(record)


copyreg.pickle(Record, _reduced)
