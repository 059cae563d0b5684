"""The record that `poll()` returns, and its reader, by whichever twin is installed; `record_plain` documents them."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load
from ottla.client.consumer.fetch.record_plain import RecordSource

if TYPE_CHECKING:
    from ottla.client.consumer.fetch.record_plain import Record, RecordReader
else:
    _twin = load("ottla.client.consumer.fetch._record", "ottla.client.consumer.fetch.record_plain")
    Record = _twin.Record
    RecordReader = _twin.RecordReader

__all__ = ["Record", "RecordReader", "RecordSource"]
