"""Where the rows of a task go: to their topics, and with them the place where its inputs stand.

Exactly once, a task's rows of a micro-batch and the offsets of its inputs are one transaction, which the task ends
itself: no other task has a part in it. A task that is run again asks the group first.

    the group at 100, batch [100,180)    written, and the group at 180
    batch [100,180) again                the group is at its end: nothing is to be done

A producer is kept for the partition number's next micro-batch. It has no need to ask if it was the last one to write:
another one that has written meanwhile has taken its transactional id over, and brokers refuse what it sends.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from ottla.base.config import ConfigError
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.retrying_client import Coordinated
from ottla.client.producer.bulk.delivery import DeliveryTerms
from ottla.client.producer.bulk.sequence_number import SequenceNumbers
from ottla.client.producer.bulk.transaction_handle import TransactionHandle
from ottla.pipelines.option.parse import WriteOptions
from ottla.pipelines.sink.record_sender import RecordSender
from ottla.pipelines.sink.row_routing import RowRouting
from ottla.pipelines.sink.task_write import write_at_least_once
from ottla.pipelines.sink.worker_cluster import is_idempotent, sink_settings, worker_cluster
from ottla.pipelines.streams.group_position import GroupPosition
from ottla.pipelines.streams.shipment import Shipment
from ottla.pipelines.streams.task_partition import TaskPartition
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from ottla.streams.errors import StreamsError
from ottla.streams.state.local_state import Position

_NAMES_VERSION_MAX: Final = 9
"""Later versions name topics by their ids."""

End = Callable[[], GroupPosition]
"""Where the inputs stand after the batch; asked when all rows have been made."""


class TaskOutput(Protocol):
    """The way out of one task for one micro-batch."""

    def begin(self, task: TaskPartition) -> bool:
        """Whether there is anything to do; false: all was written before."""
        ...

    def settle(self) -> GroupPosition | None:
        """Ends what a dead task has left open, so that it is known what counts; where the group stands then."""
        ...

    def write(self, batches: Iterable[Any], end: End) -> None:
        """Writes rows, as `pyarrow.RecordBatch`es, and what goes with them; returns when all is durable."""
        ...


class PlainOutput:
    """At least once: rows alone. The driver commits offsets when the whole micro-batch is done."""

    def __init__(self, shipment: Shipment, number: int) -> None:
        self._options: Final = WriteOptions(
            settings=shipment.writer_settings, topic=None, is_exactly_once=False, transactional_id_prefix=""
        )
        self._number: Final = number

    def begin(self, task: TaskPartition) -> bool:
        """A repeated micro-batch is written again."""
        return True

    def settle(self) -> GroupPosition | None:
        """Returns None: no transaction is left open, and the group's offsets do not tell what was written."""
        return None

    def write(self, batches: Iterable[Any], end: End) -> None:
        """Writes the rows."""
        write_at_least_once(self._options, batches, self._number)


class TransactionalOutput:
    """Exactly once: one transaction for each micro-batch."""

    def __init__(self, shipment: Shipment, number: int) -> None:
        self.worker: Final = worker_cluster(shipment.writer_settings)
        self._group_id: Final = shipment.application.application_id
        self._number: Final = number
        self._id: Final = transactional_id(self._group_id, number)
        self._handle: Final = TransactionHandle(self.worker.cluster, self.worker.client, self._id)
        self._topics: tuple[str, ...] = ()
        self._known: GroupPosition | None = None
        """Where the group stands as long as no other producer has the id; None: it has to be asked."""

    def begin(self, task: TaskPartition) -> bool:
        """Takes the transactional id over, unless this producer was the last one to write."""
        self._topics = tuple(place.topic for place in GroupPosition(task.end, {}).offsets(task.number))
        if self._known is not None and self._known.is_at(task.start):
            return True
        found = self.settle()
        if found is None:
            return True
        if found.is_at(task.end):
            return False
        _check(found.position, task)
        return True

    def settle(self) -> GroupPosition | None:
        """Takes the id over: a transaction that was open is aborted, one that was being committed is complete then."""
        self._known = self.worker.thread.run(self._take_over())
        return self._known

    def write(self, batches: Iterable[Any], end: End) -> None:
        """Writes and commits; what fails is aborted at once, so that readers need not wait for the next run."""
        worker, handle = self.worker, self._handle
        self._known = None
        try:
            enlist = handle.enlist if worker.thread.run(handle.needs_enlisting()) else None
            terms = DeliveryTerms(self._id, enlist)
            routing = RowRouting(None, worker.partition_count, self._number)
            RecordSender(worker, SequenceNumbers(handle.identity), terms).write(batches, routing)
            found = end()
            is_followed = worker.thread.run(self._commit(found))
        except BaseException:
            self._take_back()
            raise
        if is_followed:
            self._known = found
            _kept[self._id] = self

    async def _take_over(self) -> GroupPosition | None:
        worker = self.worker
        await self._handle.begin(worker.options.transaction_timeout_ms)
        topics = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=[self._number]) for topic in sorted(self._topics)
        ]
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=self._group_id, topics=topics)])
        whose = Coordinated(CoordinatorKind.GROUP, self._group_id)
        response = await worker.client.ask_coordinator(whose, request, OffsetFetchResponse, _NAMES_VERSION_MAX)
        found: dict[str, tuple[int, str | None]] = {
            topic.name: (part.committed_offset, part.metadata)
            for topic in response.groups[0].topics
            for part in topic.partitions
        }
        return GroupPosition.committed(found)

    async def _commit(self, found: GroupPosition) -> bool:
        """Ends the transaction; whether the next one can begin without another word."""
        timeout_ms = self.worker.options.max_block_ms
        await self._handle.send_offsets(self._group_id, found.offsets(self._number), timeout_ms)
        if not await self._handle.commit():
            raise StreamsError(
                f"the transaction {self._id} is gone: it took longer than transaction.timeout.ms, or another instance "
                f"of {self._group_id} has taken it over"
            )
        return self._handle.go_on()

    def _take_back(self) -> None:
        self.worker.thread.start(self._handle.abort())


_kept: Final[dict[str, TransactionalOutput]] = {}
"""Producers between two micro-batches, by transactional id."""


def output_of(shipment: Shipment, number: int) -> TaskOutput:
    """The way out of a task: a producer that was kept, if it is still connected."""
    if not shipment.is_exactly_once:
        return PlainOutput(shipment, number)
    kept = _kept.pop(transactional_id(shipment.application.application_id, number), None)
    if kept is not None and kept.worker is worker_cluster(shipment.writer_settings):
        return kept
    return TransactionalOutput(shipment, number)


def transactional_id(application_id: str, number: int) -> str:
    """Of the tasks of one partition number, whichever process runs them."""
    return f"{application_id}-{number}"


def check_writer(settings: Mapping[str, str], *, is_exactly_once: bool) -> None:
    """`ConfigError` or `OptionError` for settings of the producer that cannot be."""
    if is_exactly_once and not is_idempotent(sink_settings(dict(settings))):
        raise ConfigError(
            "processing.guarantee", "exactly_once_v2", "needs acks=all, enable.idempotence=true and retries above 0"
        )


def _check(found: Position, task: TaskPartition) -> None:
    """Refuses a batch of which a part is written: the checkpoint went back, or another instance works."""
    if any(offset > task.start[topic] for topic, offset in found.items() if topic in task.start):
        raise StreamsError(
            f"partition {task.number}: the group's offsets are at {dict(found)}, and the batch leads from {task.start} "
            f"to {task.end}: another instance has worked meanwhile, or the checkpoint went back. Start the application "
            f"again; if that does not help, delete its checkpoint, and it goes on from the group's offsets"
        )
