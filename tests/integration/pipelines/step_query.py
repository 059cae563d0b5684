"""An exactly-once query without a Spark, whose steps a test takes one by one on a real server."""

import pickle
import uuid
from collections.abc import Iterator

import pyarrow as pa

from ottla.client.admin.blocking_admin import Admin
from ottla.pipelines.option.parse import WriteOptions, parse_stream_write
from ottla.pipelines.sink.batch_commit import BatchCommit
from ottla.pipelines.sink.decision_offset import DecisionOffsets
from ottla.pipelines.sink.exactly_once import ExactlyOnceTask, SinkTask, TaskPrepared
from ottla.pipelines.sink.prepared_transaction import SinkQuery
from ottla.pipelines.sink.transaction import SinkTransaction
from ottla.pipelines.sink.worker_cluster import worker_cluster
from tests.integration.pipelines.committed import committed_values, wait_for_markers

ROWS = 3


def frame(batch_id: int, partition_id: int) -> pa.RecordBatch:
    """The rows of a task."""
    values = [f"{batch_id}/{partition_id}/{row}" for row in range(ROWS)]
    return pa.record_batch({"key": values, "value": values})


def rows(*batches: tuple[int, int]) -> list[str]:
    """What batches with so many tasks write."""
    return sorted(f"{batch}/{task}/{row}" for batch, tasks in batches for task in range(tasks) for row in range(ROWS))


class StepQuery:
    """A query of some tasks, each with three rows in a micro-batch, whose steps a test takes one by one."""

    def __init__(self, bootstrap: str, topic: str, admin: Admin) -> None:
        given = {"kafka.bootstrap.servers": bootstrap, "topic": topic, "exactlyOnce": "true"}
        self.options: WriteOptions = parse_stream_write(given)
        self.query = SinkQuery("ottla", str(uuid.uuid4()))
        self._bootstrap = bootstrap
        self._topic = topic
        self._admin = admin

    def write(self, batch_id: int, *partition_ids: int) -> list[TaskPrepared]:
        """Whole tasks, one after the other."""
        return [self.attempt(batch_id, number, iter((frame(batch_id, number),))) for number in partition_ids]

    def attempt(self, batch_id: int, partition_id: int, batches: Iterator[pa.RecordBatch]) -> TaskPrepared:
        """One task with these rows; what happens while `batches` gives them happens while the task is under way."""
        task = ExactlyOnceTask(self.options, SinkTask(self.query, batch_id, partition_id))
        return pickle.loads(pickle.dumps(task.write(batches)))

    def commit(self, batch_id: int, prepared: list[TaskPrepared]) -> None:
        BatchCommit(self.options, self.query, batch_id).commit(prepared)

    def abort(self, batch_id: int, prepared: list[TaskPrepared]) -> None:
        BatchCommit(self.options, self.query, batch_id).abort(prepared)

    @property
    def decided(self) -> int:
        """The last micro-batch that was decided."""
        worker = worker_cluster(self.options.settings)
        return worker.thread.run(DecisionOffsets(worker.cluster, worker.client, self.query).decision(())).batch_id

    def decide(self, batch_id: int, prepared: list[TaskPrepared]) -> None:
        """The first half of a commit."""
        found = {task.task.partition_id: task.transaction for task in prepared if task.transaction is not None}
        worker = worker_cluster(self.options.settings)
        worker.thread.run(DecisionOffsets(worker.cluster, worker.client, self.query).decide(batch_id, found))

    def transaction(self, prepared: TaskPrepared) -> SinkTransaction:
        assert prepared.transaction is not None
        worker = worker_cluster(self.options.settings)
        transactional_id = self.query.transactional_id(prepared.task.partition_id)
        return SinkTransaction(worker.cluster, worker.client, transactional_id, prepared.transaction)

    def end(self, prepared: TaskPrepared, *, is_commit: bool) -> None:
        """Ends one transaction, as the second half of a commit or as its time-out would."""
        transaction = self.transaction(prepared)
        worker = worker_cluster(self.options.settings)
        assert worker.thread.run(transaction.commit() if is_commit else transaction.abort())

    def take_over(self, prepared: TaskPrepared) -> None:
        """A task that was believed dead begins again."""
        worker = worker_cluster(self.options.settings)
        worker.thread.run(self.transaction(prepared).begin(60_000))

    def seen(self, *, is_settled: bool = True) -> list[str]:
        if is_settled:
            wait_for_markers(self._admin, self._topic)
        return sorted(value.decode() for value in committed_values(self._bootstrap, self._topic) if value is not None)
