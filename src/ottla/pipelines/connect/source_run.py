"""A source task at work: polls, transforms, converts, writes, and stores how far it has come.

At least once: offsets are written when all records before them are. Exactly once: records and offsets are one
transaction of the producer `GROUP-NAME-TASK`, which fences an earlier process of the task. What a crash leaves follows
from that alone; nothing is kept on disk.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.client.errors import RecordTooLargeError, SerializationError
from ottla.client.producer.arrow import ArrowSent
from ottla.client.producer.producer import Producer
from ottla.client.record import RecordMetadata
from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.connector import SourceConnector, SourceTask
from ottla.connect.errors import ConnectError, RetriableError
from ottla.connect.pipeline.column_pipeline import ProducerColumns, record_runs
from ottla.connect.pipeline.dead_letter import DeadLetter, ProducerRecord
from ottla.connect.pipeline.record_pipeline import Dropped, RecordPipeline
from ottla.connect.plugin import Plugins
from ottla.connect.record import SourceRecord
from ottla.connect.transaction import TransactionContext, TransactionEnd
from ottla.pipelines.connect.boundary import Boundary, boundary_of
from ottla.pipelines.connect.client_setting import of_the_worker, producer_settings
from ottla.pipelines.connect.column_batch import all_rows, column_batch, typed
from ottla.pipelines.connect.dead_letter_writer import DeadLetterWriter
from ottla.pipelines.connect.definition import TaskJob
from ottla.pipelines.connect.offset_store import OffsetStore
from ottla.pipelines.connect.pause import Stop
from ottla.pipelines.connect.record_batch import ROWS_MIN, columns_of, producer_batch, runs
from ottla.pipelines.connect.report import Report
from ottla.pipelines.connect.topic_maker import TopicMaker, offset_topics

if TYPE_CHECKING:
    import pyarrow as pa

_IDLE_MS: Final = 50
"""The pause after a poll that brought nothing, and the longest it becomes."""
_IDLE_MS_MAX: Final = 200
_REQUEST_BYTES: Final = 1_048_576
_OVERHEAD_BYTES: Final = 200
_FOR_EACH_RECORD: Final = ("partitioner.class", "interceptor.classes")
_T = TypeVar("_T")


class SourceRun:
    """One source task."""

    def __init__(self, job: TaskJob, connector: SourceConnector, report: Report, stop: Stop) -> None:
        self._job: Final = job
        self._report: Final = report
        self._stop: Final = stop
        self._boundary: Final[Boundary] = boundary_of(job.config, job.worker, connector)
        self._pipeline: Final = RecordPipeline.of(job.config, job.worker, job.number, stop, Plugins())
        self._dead_letters: Final = DeadLetterWriter(job)
        self._topics: Final = TopicMaker(job)
        self._task: Final = connector.task_class()()
        self._has_rows: Final = type(self._task).poll is not SourceTask.poll
        self._error: BaseException | None = None
        self._sent: list[ArrowSent] = []
        self._is_open = False
        self._since_s = time.monotonic()
        settings = self._producer_settings()
        self._producer: Final = Producer(settings)
        # What decides on single records is asked about each.
        self._sends_columns: Final = not any(map(settings.get, _FOR_EACH_RECORD)) and not _ignores_keys(settings)
        self._kind: ColumnKind | None = None
        self._passes_columns = False
        self._record_bytes_max: Final = int(settings.get("max.request.size", _REQUEST_BYTES)) - _OVERHEAD_BYTES
        if self._boundary.is_exactly_once:
            # Before offsets are read: what an earlier process wrote until now counts, and it can write no more.
            self._producer.init_transactions()
        self._transaction: Final = TransactionContext() if self._boundary.is_connectors else None
        self._works_on_columns: Final = self._sends_columns and self._transaction is None
        is_workers = not self._boundary.is_exactly_once
        self._offsets: Final = OffsetStore(job, self._transaction, is_workers=is_workers)
        self._offset_producer: Final = self._own_producer() if is_workers else self._producer

    def run(self) -> None:
        """Until it is to stop."""
        try:
            self._called(lambda: self._task.start(self._offsets, {**self._job.config, **self._job.settings}))
            self._report.running()
            idle_ms = _IDLE_MS
            takes_columns = self._takes_columns()
            takes_rows = self._has_rows or not takes_columns
            while not self._stop.is_set:
                has_polled = (takes_columns and self._poll_columns()) or (takes_rows and self._poll_rows())
                self._end_poll()
                if has_polled:
                    idle_ms = _IDLE_MS
                else:
                    self._stop.wait_ms(idle_ms)
                    idle_ms = min(idle_ms * 2, _IDLE_MS_MAX)
                if self._boundary.is_due(has_polled, time.monotonic() - self._since_s):
                    self._store()
            self._end()
        except BaseException:
            if self._error is None and not self._boundary.is_exactly_once:
                # What came before the error is done with, as in Kafka.
                self._store()
            raise
        finally:
            self._close()

    def _producer_settings(self) -> Mapping[str, str]:
        settings = producer_settings(self._job.config, self._job.worker, self._job.number)
        if not self._boundary.is_exactly_once:
            return settings
        group = self._job.worker.get("group.id", "connect-cluster")
        return {"transactional.id": f"{group}-{self._job.name}-{self._job.number}", **settings}

    def _own_producer(self) -> Producer:
        """The producer of offsets: the worker's, who may log in as another than the connector says."""
        job = self._job
        is_overridden = any(name.startswith("producer.override.") for name in job.config)
        if not is_overridden or len(offset_topics(job.config, job.worker)) > 1:
            return self._producer
        settings = producer_settings(of_the_worker(job.config), job.worker, job.number)
        return Producer({**settings, "client.id": f"connector-offsets-{job.name}-{job.number}"})

    def _takes_columns(self) -> bool:
        """Whether to ask the task for columns; they become rows where the task has nothing else."""
        kind, pipeline = self._called(self._task.column_kind), self._pipeline
        if kind is None:
            return False
        self._kind = kind
        self._passes_columns = (
            self._works_on_columns
            and pipeline.passes(kind)
            and (not self._task.has_column_keys or pipeline.passes_keys(kind))
        )
        return not self._has_rows or self._passes_columns or (self._works_on_columns and pipeline.many.is_open)

    def _poll_rows(self) -> bool:
        try:
            records = self._called(self._task.poll)
        except RetriableError:
            return False
        if records:
            self._begin()
            self._take(list(records))
        return bool(records)

    def _poll_columns(self) -> bool:
        try:
            columns = self._called(self._task.poll_columns)
        except RetriableError:
            return False
        if columns is None:
            return False
        assert self._kind is not None
        columns = typed(columns, self._kind)
        if not len(columns.values):
            return False
        self._begin()
        if (
            columns.headers
            or not self._works_on_columns
            or (columns.keys is not None and not self._task.has_column_keys)
        ):
            # Transforms and converters look at headers, and at keys that were not promised.
            self._take(list(all_rows(columns)))
        elif not (self._pass_columns(columns) if self._passes_columns else self._send_columns(columns)):
            self._take_rows(all_rows(columns))
        if columns.source_partition is not None and columns.source_offset is not None:
            self._offsets.reached(columns.source_partition, columns.source_offset)
        return True

    def _pass_columns(self, columns: SourceColumns) -> bool:
        """Sends values that no transform and converter changes; False if they have to be rows."""
        made = self._pipeline.columns(columns)
        if isinstance(made, SourceColumns):
            batch = column_batch(made, self._record_bytes_max)
            if batch is None:
                return False
            self._send_batch(made.topic, batch)
        self._report.moved(len(columns.values))
        return made is not None

    def _send_columns(self, columns: SourceColumns) -> bool:
        made = self._pipeline.many.texts(columns)
        return made is not None and self._send_made(made, len(columns.values))

    def _send_made(self, made: ProducerColumns, count: int) -> bool:
        """Sends what so many records became; False if one of them is too large, which rows say."""
        if made.values:
            batch = producer_batch(made, self._record_bytes_max)
            if batch is None:
                return False
            self._send_batch(made.topic, batch, made.partition)
        self._report.moved(count)
        return True

    def _send_batch(self, topic: str, batch: "pa.RecordBatch", partition: int | None = None) -> None:
        self._topics.ensure(topic)
        self._report.used(topic)
        self._sent.append(self._producer.send_arrow(topic, batch, partition_by=partition))

    def _begin(self) -> None:
        done = 0
        while done < len(self._sent) and self._sent[done].done():
            done += 1
        self._check_sent(done)
        self._check_delivered()
        if self._boundary.is_exactly_once and not self._is_open:
            self._producer.begin_transaction()
            self._is_open = True

    def _take(self, records: Sequence[SourceRecord]) -> None:
        if not self._works_on_columns or not self._pipeline.many.is_open:
            self._take_rows(records)
            return
        for run in record_runs(records):
            made = self._pipeline.many.source(run) if len(run) >= ROWS_MIN else None
            if made is not None and self._send_made(made, len(run)):
                self._reached(run)
            else:
                self._take_rows(run)

    def _reached(self, records: Sequence[SourceRecord]) -> None:
        """All of these were sent: of each partition of the source, the last offset counts."""
        last: tuple[Mapping[str, object], Mapping[str, object]] | None = None
        for record in records:
            partition, offset = record.source_partition, record.source_offset
            if partition is None or offset is None:
                continue
            if last is not None and partition is not last[0] and partition != last[0]:
                self._offsets.reached(*last)
            last = (partition, offset)
        if last is not None:
            self._offsets.reached(*last)

    def _take_rows(self, records: Iterable[SourceRecord]) -> None:
        made: list[tuple[ProducerRecord, SourceRecord]] = []
        try:
            for record in records:
                self._convert(record, made)
        finally:
            # What came before an error is written, as in Kafka.
            self._send_all(made)

    def _convert(self, record: SourceRecord, made: list[tuple[ProducerRecord, SourceRecord]]) -> None:
        if self._transaction is not None:
            # The record before may have ended one.
            self._begin()
        outcome = self._pipeline.source(record)
        if isinstance(outcome, ProducerRecord):
            made.append((outcome, record))
        else:
            self._keep(outcome)
        if record.source_partition is not None and record.source_offset is not None:
            self._offsets.reached(record.source_partition, record.source_offset)
        self._report.moved(1)
        if self._transaction is not None and (how := self._transaction.end_of(record)) is not None:
            self._send_all(made)
            self._end_transaction(how)

    def _send_all(self, made: list[tuple[ProducerRecord, SourceRecord]]) -> None:
        """Sends what was made, as columns where there are many; in order."""
        at = 0
        for run in runs([record for record, _ in made]):
            batch = columns_of(run, self._record_bytes_max) if self._sends_columns else None
            if batch is None:
                for record, source in made[at : at + len(run)]:
                    self._send(record, source)
            else:
                self._send_batch(run[0].topic, batch, run[0].partition)
            at += len(run)
        made.clear()

    def _send(self, made: ProducerRecord, record: SourceRecord) -> None:
        self._topics.ensure(made.topic)
        self._report.used(made.topic)
        try:
            self._producer.send(
                made.topic, made.value, made.key, partition=made.partition, timestamp_ms=made.timestamp,
                headers=made.headers, on_delivery=self._delivered,
            )  # fmt: skip
        except (RecordTooLargeError, SerializationError) as error:
            self._keep(self._pipeline.undeliverable(record, error))

    def _keep(self, outcome: DeadLetter | Dropped) -> None:
        if isinstance(outcome, DeadLetter):
            self._dead_letters.write(outcome.record)

    def _delivered(self, metadata: RecordMetadata | None, error: BaseException | None) -> None:
        self._error = self._error or error

    def _store(self) -> None:
        """Makes what was sent durable, and then how far it goes."""
        self._since_s = time.monotonic()
        if not self._is_open and not self._offsets.has_news:
            return
        self._dead_letters.flush()
        if self._boundary.is_exactly_once:
            self._offsets.write(self._producer, self._delivered)
            self._producer.commit_transaction()
            self._check_sent()
            self._is_open = False
        else:
            self._flush()
            self._offsets.write(self._offset_producer, self._delivered)
            self._offset_producer.flush()
            self._check_delivered()
        self._called(self._task.commit)

    def _end_poll(self) -> None:
        if self._transaction is not None:
            self._end_transaction(self._transaction.end_of_poll())

    def _end_transaction(self, how: TransactionEnd | None) -> None:
        if how is None or not self._is_open:
            return
        if how is TransactionEnd.ABORT:
            # All is sent first: what is given up unsent would count as a failure.
            self._flush()
            self._producer.abort_transaction()
            self._is_open = False
            self._begin()
        self._store()

    def _end(self) -> None:
        if self._transaction is None:
            self._store()
        elif self._is_open:
            # The task has not said that it is complete: its records come again.
            self._producer.abort_transaction()

    def _flush(self) -> None:
        self._producer.flush()
        self._check_sent()
        self._check_delivered()

    def _check_delivered(self) -> None:
        if self._error is not None:
            raise ConnectError(f"records were not written: {self._error}") from self._error

    def _check_sent(self, count: int | None = None) -> None:
        """Raises what went wrong with columns that were sent: the first `count`, or all."""
        sent, self._sent = self._sent[:count], [] if count is None else self._sent[count:]
        for each in sent:
            try:
                each.result(0.0)
            except OttlaError as error:
                raise ConnectError(f"records were not written: {error}") from error

    def _close(self) -> None:
        try:
            self._called(self._task.stop)
        finally:
            self._producer.close(5.0)
            if self._offset_producer is not self._producer:
                self._offset_producer.close(5.0)
            self._dead_letters.close()
            self._pipeline.close()

    def _called(self, call: Callable[[], _T]) -> _T:
        self._report.enter_call()
        try:
            return call()
        finally:
            self._report.leave_call()


def _ignores_keys(settings: Mapping[str, str]) -> bool:
    """Whether the producer ignores keys when it chooses partitions; columns always go by key."""
    return settings.get("partitioner.ignore.keys", "").strip().lower() == "true"
