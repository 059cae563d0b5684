"""A sink task at work: reads as a member of the group `connect-NAME`, converts, puts, flushes, and commits.

Offsets are committed after `flush` has returned and dead letters are durable, so nothing is lost by any crash, and what
came behind the last commit is put again. The group fences: a task that was taken for dead can't commit any more.
"""

import logging
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.consumer.consumer import Consumer
from ottla.client.consumer.fetch.record import Record
from ottla.client.consumer.rebalance_listener import RebalanceListener
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.connect.connector import SinkConnector
from ottla.connect.connectors.text_column import as_texts, has_arrow
from ottla.connect.errors import ConnectError, RetriableError
from ottla.connect.pipeline.column_pipeline import partition_runs
from ottla.connect.pipeline.dead_letter import ConsumerRecord, DeadLetter
from ottla.connect.pipeline.record_pipeline import Dropped, RecordPipeline
from ottla.connect.plugin import Plugins
from ottla.connect.record import SinkRecord
from ottla.connect.transform.java_regex import compiled
from ottla.pipelines.connect.boundary import flush_interval_s
from ottla.pipelines.connect.client_setting import consumer_settings
from ottla.pipelines.connect.dead_letter_writer import DeadLetterWriter
from ottla.pipelines.connect.definition import TaskJob
from ottla.pipelines.connect.pause import Stop
from ottla.pipelines.connect.record_batch import ROWS_MIN
from ottla.pipelines.connect.report import Report
from ottla.pipelines.connect.sink_batch import Behind, ColumnBatch, RowBatch, SinkBatch, TextBatch
from ottla.pipelines.connect.sink_block import BLOCK_COLUMNS, block_of, parts, records_of
from ottla.protocol.records.timestamp import TimestampType

_log: Final = logging.getLogger(__name__)
_POLL_S: Final = 0.25
_LAG_S: Final = 1.0
_ROWS_MAX: Final = 500
"""Kafka's default of max.poll.records."""
_RETRY_MS: Final = 300
_RETRY_MS_MAX: Final = 10_000
_COLUMNS: Final = ("topic", "partition", "offset", "value")
_NOTHING: Final = RowBatch([], {})
_TYPES: Final = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}


class SinkRun(RebalanceListener):
    """One sink task."""

    def __init__(self, job: TaskJob, connector: SinkConnector, report: Report, stop: Stop) -> None:
        self._job: Final = job
        self._report: Final = report
        self._stop: Final = stop
        self._class_name: Final = f"{type(connector).__module__}.{type(connector).__qualname__}"
        self._pipeline: Final = RecordPipeline.of(job.config, job.worker, job.number, stop, Plugins())
        self._dead_letters: Final = DeadLetterWriter(job)
        self._task: Final = connector.task_class()()
        self._interval_s: Final = flush_interval_s(job.worker)
        self._put: dict[TopicPartition, OffsetAndMetadata] = {}
        """Behind what was put since the last commit."""
        self._waiting: SinkBatch = _NOTHING
        """What the task has, or refused for now."""
        settings = consumer_settings(job.config, job.worker, job.number)
        # Interceptors see records, which a column has none of.
        has_interceptors = bool(settings.get("interceptor.classes"))
        can_be_column = self._pipeline.reads_texts and not has_interceptors
        self._takes_texts = self._task.takes_texts and can_be_column
        self._takes_columns: Final = (
            self._task.takes_columns and self._pipeline.many.is_open and not has_interceptors and has_arrow()
        )
        self._rows_max: Final = int(settings.get("max.poll.records", _ROWS_MAX))
        self._gone: Final[set[TopicPartition]] = set()
        """Partitions that left the task while it was given what was read."""
        self._committed_s = self._told_s = time.monotonic()
        self._consumer: Final = Consumer(settings)

    def run(self) -> None:
        """Until it is to stop."""
        try:
            self._called(lambda: self._task.start(self, self._settings()))
            self._subscribe()
            self._report.running()
            while not self._stop.is_set:
                self._turn()
            self._commit()
        finally:
            self._close()

    def report(self, record: SinkRecord, error: BaseException) -> None:
        """`SinkContext`: the task gives up one record."""
        read = record.read
        if not isinstance(read, ConsumerRecord):
            raise ConnectError("report() takes a record that was put")
        self._keep(self._pipeline.report(read, error, self._class_name))

    def on_partitions_assigned(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        """The consumer calls, inside of `poll`."""
        if partitions:
            self._called(lambda: self._task.open(sorted(partitions)))

    def on_partitions_revoked(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        """The consumer calls, inside of `poll` and `close`, while offsets can still be committed."""
        if partitions:
            self._commit()
            self._let_go(partitions)

    def on_partitions_lost(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        """The consumer calls: others have them already."""
        if partitions:
            self._let_go(partitions)

    def _settings(self) -> dict[str, str]:
        return {**self._job.config, **self._job.settings}

    def _subscribe(self) -> None:
        config = self._job.config
        pattern = config.get("topics.regex", "").strip()
        if pattern:
            self._consumer.subscribe(pattern=compiled(pattern), listener=self)
        else:
            names = [name.strip() for name in config.get("topics", "").split(",") if name.strip()]
            self._consumer.subscribe(names, listener=self)

    def _turn(self) -> None:
        if self._takes_texts:
            batch = self._polled_texts()
            if batch is not None:
                self._deliver(batch)
        elif self._takes_columns:
            self._deliver_columns()
        else:
            self._deliver(self._polled_rows())
        self._tell_lag()
        if time.monotonic() - self._committed_s >= self._interval_s:
            self._commit()

    def _polled_rows(self) -> SinkBatch:
        records = self._consumer.poll(_POLL_S)
        for topic in {record.topic for record in records}:
            self._report.used(topic)
        self._report.moved(len(records))
        return RowBatch(self._converted(records), records.next_offsets())

    def _polled_texts(self) -> SinkBatch | None:
        """Values as a column; None if they are no texts, then rows begin at the same place."""
        found = self._consumer.poll_arrow(_POLL_S, _COLUMNS)
        if found is None or not found.num_rows:
            return RowBatch([], {})
        topic, partition, first = (found.column(name)[0].as_py() for name in ("topic", "partition", "offset"))
        place = TopicPartition(topic, partition)
        values = as_texts(found.column("value"))
        if values is None:
            self._takes_texts = False
            self._consumer.seek(place, first)
            return None
        self._report.used(topic)
        self._report.moved(found.num_rows)
        return TextBatch(place, values, {place: OffsetAndMetadata(self._consumer.position(place))})

    def _deliver_columns(self) -> None:
        """Gives values by their fields, a part of the fetch after the other; rows where that can't be."""
        found = self._consumer.poll_arrow(_POLL_S, BLOCK_COLUMNS)
        if found is None or not found.num_rows:
            self._deliver(_NOTHING)
            return
        place = TopicPartition(found.column("topic")[0].as_py(), found.column("partition")[0].as_py())
        last = self._consumer.position(place)
        self._report.used(place.topic)
        self._gone.clear()
        left = found.num_rows
        for part in parts(found, self._rows_max):
            if self._stop.is_set or place in self._gone:
                # Its offset is not noted: who has the partition next reads it again.
                return
            left -= part.num_rows
            behind = {place: OffsetAndMetadata(last if not left else part.column("offset")[-1].as_py() + 1)}
            self._report.moved(part.num_rows)
            self._deliver(self._column_batch(place, part, behind))

    def _column_batch(self, place: TopicPartition, part: Any, behind: Behind) -> SinkBatch:
        block = block_of(part) if part.num_rows >= ROWS_MIN else None
        columns = None if block is None else self._pipeline.many.sink_columns(block)
        if columns is None:
            return RowBatch(list(self._one_by_one(records_of(part))), behind)
        return ColumnBatch(place, columns, part.num_rows, behind)

    def _converted(self, records: Sequence[Record]) -> list[SinkRecord]:
        read = [
            ConsumerRecord(
                record.topic, record.partition, record.offset,
                record.timestamp if record.timestamp >= 0 else None, _TYPES[record.timestamp_type],
                record.key, record.value, record.headers,
            )
            for record in records
        ]  # fmt: skip
        taken: list[SinkRecord] = []
        for run in partition_runs(read):
            many = self._pipeline.many.sink(run) if len(run) >= ROWS_MIN and not run[0].headers else None
            taken += self._one_by_one(run) if many is None else many
        return taken

    def _one_by_one(self, records: Sequence[ConsumerRecord]) -> Iterator[SinkRecord]:
        for record in records:
            outcome = self._pipeline.sink(record)
            if isinstance(outcome, SinkRecord):
                yield outcome
            else:
                self._keep(outcome)

    def _keep(self, outcome: DeadLetter | Dropped) -> None:
        if isinstance(outcome, DeadLetter):
            self._dead_letters.write(outcome.record)

    def _deliver(self, batch: SinkBatch) -> None:
        """Puts records until the task takes them; meanwhile no more are read, and the group keeps us."""
        self._waiting = batch
        attempt = 0
        while not self._stop.is_set:
            try:
                self._called(lambda: self._waiting.put(self._task))
            except RetriableError as error:
                _log.warning("The task takes the records later: %s", error)
                self._wait_in_group(min(_RETRY_MS << min(attempt, 16), _RETRY_MS_MAX))
                attempt += 1
            else:
                self._put.update(self._waiting.behind)
                break
        self._waiting = _NOTHING

    def _wait_in_group(self, delay_ms: int) -> None:
        consumer = self._consumer
        consumer.pause(consumer.assignment())
        try:
            if self._stop.wait_ms(delay_ms):
                # Nothing is paused that came while this ran; it would be read before what waits.
                fresh = consumer.poll(0.0)
                self._tell_lag()
                for partition, first in _first_offsets(fresh).items():
                    consumer.seek(partition, first)
        finally:
            consumer.resume(consumer.assignment())

    def _tell_lag(self) -> None:
        """Reports the number of records that are not read yet or wait for the task."""
        if time.monotonic() - self._told_s < _LAG_S:
            return
        self._told_s = time.monotonic()
        lags = [self._consumer.current_lag(partition) for partition in self._consumer.assignment()]
        if all(lag is not None for lag in lags):
            self._report.behind(sum(lag or 0 for lag in lags) + self._waiting.count)

    def _commit(self) -> None:
        self._committed_s = time.monotonic()
        offsets, self._put = self._put, {}
        if not offsets:
            return
        self._called(lambda: self._task.flush({partition: found.offset for partition, found in offsets.items()}))
        self._dead_letters.flush()
        try:
            self._consumer.commit(offsets)
        except OttlaError as error:
            # They are put again if this task ends before its next commit.
            _log.warning("The offsets of %s-%d were not committed: %s", self._job.name, self._job.number, error)
            held = self._consumer.assignment()
            self._put = {part: found for part, found in offsets.items() if part in held} | self._put

    def _let_go(self, partitions: Collection[TopicPartition]) -> None:
        gone = set(partitions)
        self._gone.update(gone)
        self._put = {part: found for part, found in self._put.items() if part not in gone}
        self._waiting = self._waiting.without(gone)
        self._called(lambda: self._task.close(sorted(partitions)))

    def _close(self) -> None:
        try:
            self._consumer.close(10.0)
        finally:
            try:
                self._called(self._task.stop)
            finally:
                self._dead_letters.close()
                self._pipeline.close()

    def _called(self, call: Any) -> None:
        self._report.enter_call()
        try:
            call()
        finally:
            self._report.leave_call()


def _first_offsets(records: Sequence[Record]) -> dict[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    for record in records:
        found.setdefault(TopicPartition(record.topic, record.partition), record.offset)
    return found
