"""`spark.readStream`: where a micro-batch begins and ends, and which ranges it consists of.

One instance lives in a process beside the driver for as long as the query runs; copies of it read on executors. What
a batch holds depends on its two offsets alone, so that Spark may run it again: offsets that go back stand for a topic
that was made anew.

t-0 read up to 100, then t is deleted and made anew with 20 records, failOnDataLoss=false: batches [100,0), which has no
records, then [0,20).
"""

import time
from collections.abc import Collection, Iterator
from typing import Any, Final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from ottla.base.ids import Uuid
from ottla.client.record import TopicPartition
from ottla.pipelines.option.offset_json import PartitionOffsets, document_of, offsets_of
from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.short_error import short_errors, short_errors_of_rows
from ottla.pipelines.source.bound_resolution import resolve
from ottla.pipelines.source.column import chosen_columns
from ottla.pipelines.source.data_loss import DataLoss
from ottla.pipelines.source.formatted_column import FormattedColumns
from ottla.pipelines.source.group_offset import GroupOffsets
from ottla.pipelines.source.offset_range import OffsetRange, TriggerHold, admit, split
from ottla.pipelines.source.range_read import RangePartition, read_range
from ottla.pipelines.source.topic_catalog import TopicCatalog

_Document = dict[str, dict[str, int]]


class OttlaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans micro-batches, and reads them."""

    def __init__(self, options: ReadOptions, schema: StructType, note: str = "") -> None:
        """`note` goes with the offsets that are committed."""
        self._options: Final = options
        self._formatted: Final = FormattedColumns(options.formats, schema)
        self._columns: Final = chosen_columns(self._formatted.raw_schema)
        self._catalog: Final = TopicCatalog(options)
        self._loss: Final = DataLoss(options.fails_on_data_loss)
        self._trigger_hold: Final = TriggerHold(options.admission)
        self._group: Final = None if options.group_id is None else GroupOffsets(options.group_id, note)
        self._initial: _Document | None = None
        self._found: dict[TopicPartition, Uuid] = {}
        self._latest: PartitionOffsets = {}
        self._topic_ids: dict[str, Uuid] = {}
        """The topics that the offsets so far belong to."""
        self._is_available_now = False
        self._target: PartitionOffsets | None = None

    @short_errors
    def initialOffset(self) -> _Document:  # noqa: N802
        """Spark calls, more than once: where a query without a checkpoint begins."""
        if self._initial is None:
            found = self._catalog.require_partitions()
            self._initial = document_of(resolve(self._options.start, found, self._catalog))
        return self._initial

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Spark calls: with which limit it asks for the next batch."""
        admission = self._options.admission
        if admission.max_offsets is None and admission.min_offsets is None:
            return ReadAllAvailable()
        # The least that a batch has is applied by ourselves: Spark can't say both.
        return ReadMaxRows(admission.max_offsets or 2**63 - 1)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Spark calls: the query ends when it has read what is there now."""
        self._is_available_now = True

    @short_errors
    def latestOffset(self, start: _Document, limit: ReadLimit) -> _Document:  # noqa: N802
        """Spark calls: where the next batch ends; the same as `start` if there is none yet."""
        started = offsets_of(start)
        if self._group is not None:
            self._group.commit(started, self._catalog.admin)
        self._find_latest(started)
        corrected = self._corrected(started)
        if corrected != started:
            return document_of(corrected)
        return document_of(self._admitted(started, limit))

    def reportLatestOffset(self) -> _Document | None:  # noqa: N802
        """Spark calls: where the partitions end, for its progress reports."""
        return document_of(self._latest) or None

    @short_errors
    def partitions(self, start: _Document, end: _Document) -> list[InputPartition]:
        """Spark calls: the tasks of a batch."""
        started, ended = offsets_of(start), offsets_of(end)
        added = self._added(ended.keys() - started.keys())
        topic_ids = self._catalog.partitions() if started != ended else {}
        ranges = [
            OffsetRange(part, begin, ended[part], topic_ids[part])
            for part in sorted(ended)
            if part in topic_ids and (begin := started.get(part, added.get(part))) is not None
        ]
        for part in ended.keys() - topic_ids.keys():
            if ended[part] > started.get(part, 0):
                self._loss.report(f"{part} is gone")
        return [RangePartition(each) for each in split(ranges, self._options.splitting)]

    @short_errors_of_rows
    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Spark calls, on an executor: the records of one task as Arrow batches."""
        return self._formatted.read(read_range(partition, self._options, self._columns))

    @short_errors
    def commit(self, end: _Document) -> None:
        """Spark calls, long after a batch has finished."""
        if self._group is not None:
            self._group.commit(offsets_of(end), self._catalog.admin)

    def stop(self) -> None:
        """Spark calls when the query ends, if it does so in order."""
        self._catalog.close()

    def _find_latest(self, started: PartitionOffsets) -> None:
        """Looks up the ends of the partitions; with availableNow, those at the start of the query."""
        for attempt in range(self._options.offset_retries + 1):
            if attempt:
                time.sleep(self._options.offset_retry_pause_ms / 1000)
            self._found = self._catalog.partitions()
            self._latest = self._within_target(self._catalog.latest(self._found))
            # A broker that has just become the leader may not know yet how far its log is committed.
            if all(self._latest.get(part, -1) >= offset for part, offset in started.items()):
                break
        if self._is_available_now and self._target is None:
            self._target = self._latest

    def _within_target(self, latest: PartitionOffsets) -> PartitionOffsets:
        """No further than availableNow goes, and no further than the logs do: a topic may be gone, or made anew."""
        target = self._target
        if target is None:
            return latest
        return {part: min(target[part], end) for part, end in latest.items() if part in target}

    def _corrected(self, started: PartitionOffsets) -> PartitionOffsets:
        """`started` without partitions that are gone, at the beginning of those made anew, at the end of those cut off.

        Where it differs from `started`, records were lost, and a batch without any leads from one to the other.
        """
        found = self._found
        known, self._topic_ids = self._topic_ids, {part.topic: topic_id for part, topic_id in found.items()}
        kept = {part: offset for part, offset in started.items() if part in found and part in self._latest}
        if gone := started.keys() - kept.keys():
            self._loss.report(f"{_listed(gone)} deleted")
        cut_off = {part for part, offset in kept.items() if self._latest[part] < offset}
        # Without a memory of the id, after a restart, a log that is too short is more likely to be a new one.
        anew = {part for part in kept if known.get(part.topic, found[part]) != found[part]}
        anew |= {part for part in cut_off if part.topic not in known}
        moved = {part: self._latest[part] for part in cut_off - anew} | self._catalog.earliest(anew)
        moved = {part: offset for part, offset in moved.items() if offset != started[part]}
        if moved:
            self._loss.report(f"{_listed(moved.keys())} made anew or cut off")
        return {**kept, **moved}

    def _admitted(self, started: PartitionOffsets, limit: ReadLimit) -> PartitionOffsets:
        latest = self._latest
        if isinstance(limit, ReadAllAvailable):
            return latest
        new = latest.keys() - started.keys()
        begun = {**started, **self._catalog.earliest(new)} if new else started
        waiting = sum(max(0, end - begun.get(part, end)) for part, end in latest.items())
        if not self._is_available_now and self._trigger_hold.holds_back(waiting, time.monotonic() * 1000):
            return started
        return admit(begun, latest, limit.max_rows) if isinstance(limit, ReadMaxRows) else latest

    def _added(self, partitions: set[TopicPartition]) -> PartitionOffsets:
        """The first offsets of partitions that the batch before did not have."""
        found = self._catalog.earliest(partitions)
        for part, offset in found.items():
            if offset:
                self._loss.report(f"the new partition {part} begins at {offset} instead of 0")
        return found


def _listed(partitions: Collection[TopicPartition]) -> str:
    names = ", ".join(map(str, sorted(partitions)))
    return f"{names} was" if len(partitions) == 1 else f"{names} were"
