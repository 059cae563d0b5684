"""Sends encoded batches to the partitions' leaders, in order, until each is acknowledged or given up.

Lives in an event loop. Of each partition one batch is under way at a time, so that a batch that has to be sent again
can't be overtaken; different partitions share requests. Nothing is renumbered: a batch that is sent again has the same
sequence number, and a broker that has it already says so. What passes is tried again for `delivery.timeout.ms`.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.errors import KafkaTimeoutError
from ottla.client.producer.bulk.backlog import Backlog
from ottla.client.producer.option import ProducerOptions
from ottla.client.producer.send.produce_request import IDS_FROM, LAST_BEFORE_TRANSACTIONS_V2, topic_id
from ottla.client.record import TopicPartition
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ApiError, ErrorCode, NetworkError, error_for
from ottla.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

_WRITTEN: Final = frozenset({ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER})

Enlist = Callable[[Sequence[TopicPartition]], Awaitable[None]]
"""Makes partitions part of a transaction before anything is written to them (transactions v1)."""


@dataclass(slots=True)
class EncodedBatch:
    """A batch for one partition; its bytes stay as they are."""

    place: TopicPartition
    data: bytearray
    deadline_s: float = 0.0
    failures: int = 0


@frozen
class DeliveryTerms:
    """In whose name batches are sent."""

    transactional_id: str | None = None
    enlist: Enlist | None = None
    """Given in transactions of version 1 only."""


@one_thread
class Delivery:
    """The batches of one task on their way; all but `__init__` is called in the event loop."""

    def __init__(
        self, cluster: ClusterClient, options: ProducerOptions, terms: DeliveryTerms, backlog: Backlog
    ) -> None:
        self._cluster: Final = cluster
        self._options: Final = options
        self._terms: Final = terms
        self._backlog: Final = backlog
        self._waiting: Final[dict[TopicPartition, deque[EncodedBatch]]] = {}
        self._idle: Final[dict[TopicPartition, None]] = {}
        """Partitions with something to send and nothing under way."""
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._in_flight: Final[dict[int, int]] = {}
        self._has_failed = False

    def add(self, batches: Iterable[EncodedBatch]) -> None:
        """Takes batches whose bytes the backlog knows of already."""
        if self._has_failed:
            return
        deadline_s = asyncio.get_running_loop().time() + self._options.delivery_timeout_ms / 1000
        for batch in batches:
            batch.deadline_s = deadline_s
            queue = self._waiting.get(batch.place)
            if queue is None:
                self._waiting[batch.place] = deque((batch,))
                self._idle[batch.place] = None
            else:
                queue.append(batch)
        self._pump()

    def cancel(self) -> None:
        """Gives up all that is under way."""
        self._has_failed = True
        for task in self._tasks:
            task.cancel()

    def _pump(self) -> None:
        """Sends the first batch of every idle partition, as many as fit into a request to the same leader."""
        by_node: dict[int, list[EncodedBatch]] = {}
        sizes: dict[int, int] = {}
        for place in list(self._idle):
            node = self._leader(place)
            batch = self._waiting[place][0]
            if self._in_flight.get(node, 0) >= self._options.in_flight_max:
                continue
            if by_node.get(node) and sizes[node] + len(batch.data) > self._options.request_bytes_max:
                self._start(node, by_node.pop(node))
                if self._in_flight.get(node, 0) >= self._options.in_flight_max:
                    continue
            del self._idle[place]
            sizes[node] = len(batch.data) + (sizes[node] if node in by_node else 0)
            by_node.setdefault(node, []).append(batch)
        for node, batches in by_node.items():
            self._start(node, batches)

    def _leader(self, place: TopicPartition) -> int:
        found = self._cluster.view.partition(*place)
        return -1 if found is None else found.leader

    def _start(self, node: int, batches: list[EncodedBatch]) -> None:
        self._in_flight[node] = self._in_flight.get(node, 0) + 1
        task = asyncio.get_running_loop().create_task(self._deliver(node, batches))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Hands an unforeseen failure to the waiting thread, whose wait nothing else would end."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    async def _deliver(self, node: int, batches: list[EncodedBatch]) -> None:
        """One attempt; what it says about each batch, and then the next round."""
        answers: dict[TopicPartition, OttlaError | None]
        try:
            answers = await self._produce(node, batches)
        except OttlaError as error:
            answers = dict.fromkeys((batch.place for batch in batches), error)
        finally:
            self._in_flight[node] -= 1
        left_out = NetworkError("the broker's answer left the batch out")
        again = [batch for batch in batches if self._settle(batch, answers.get(batch.place, left_out))]
        if self._has_failed:
            return
        self._pump()
        if again:
            self._cluster.refresh_soon()
            pause_ms = self._options.backoff.delay_ms(min(batch.failures for batch in again) - 1)
            await asyncio.sleep(pause_ms / 1000)
            self._idle.update(dict.fromkeys(batch.place for batch in again))
            self._pump()

    async def _produce(self, node: int, batches: list[EncodedBatch]) -> dict[TopicPartition, OttlaError | None]:
        if node < 0:
            raise NetworkError("there is no leader")
        if self._terms.enlist is not None:
            await self._terms.enlist([batch.place for batch in batches])
        connection = await self._cluster.connection(node)
        version = connection.version_of(ApiKey.PRODUCE)
        if self._terms.enlist is not None:
            version = min(version, LAST_BEFORE_TRANSACTIONS_V2)
        view = self._cluster.view
        ids = {batch.place.topic: Uuid(topic_id(view, batch.place.topic)) for batch in batches}
        if version >= IDS_FROM and ZERO_UUID in ids.values():
            version = IDS_FROM - 1
        request = self._request(batches, ids)
        response = await self._cluster.request(node, request, version=version)
        assert isinstance(response, ProduceResponse)
        names = {found: name for name, found in ids.items()}
        return {
            TopicPartition(names[topic.topic_id] if version >= IDS_FROM else topic.name, found.index): _error(found)
            for topic in response.responses
            for found in topic.partition_responses
        }

    def _request(self, batches: list[EncodedBatch], ids: dict[str, Uuid]) -> ProduceRequest:
        topics = {name: TopicProduceData(name=name, topic_id=found) for name, found in ids.items()}
        for batch in batches:
            data = PartitionProduceData(index=batch.place.partition, records=batch.data)
            topics[batch.place.topic].partition_data.append(data)
        return ProduceRequest(
            transactional_id=self._terms.transactional_id,
            acks=self._options.acks,
            timeout_ms=self._options.request_timeout_ms,
            topic_data=list(topics.values()),
        )

    def _settle(self, batch: EncodedBatch, error: OttlaError | None) -> bool:
        """Whether the batch has to be sent again."""
        if error is None:
            queue = self._waiting[batch.place]
            queue.popleft()
            if queue:
                self._idle[batch.place] = None
            else:
                del self._waiting[batch.place]
            self._backlog.remove(len(batch.data))
            return False
        batch.failures += 1
        is_late = asyncio.get_running_loop().time() >= batch.deadline_s
        if getattr(error, "retriable", False) and not is_late:
            return True
        self._fail(_reason(batch, error) if is_late else _explained(batch, error))
        return False

    def _fail(self, error: BaseException) -> None:
        self._has_failed = True
        self._waiting.clear()
        self._idle.clear()
        self._backlog.fail(error)


def _error(answer: PartitionProduceResponse) -> OttlaError | None:
    if answer.error_code in _WRITTEN:
        return None
    return error_for(answer.error_code, answer.error_message)


def _reason(batch: EncodedBatch, error: OttlaError) -> OttlaError:
    found = KafkaTimeoutError(
        f"records for {batch.place} were not written within delivery.timeout.ms, after {batch.failures} attempts: "
        f"{error}"
    )
    found.__cause__ = error
    return found


def _explained(batch: EncodedBatch, error: OttlaError) -> OttlaError:
    if isinstance(error, ApiError) and error.code is ErrorCode.MESSAGE_TOO_LARGE:
        return type(error)(
            f"{batch.place} takes no batch of {len(batch.data)} bytes: raise the topic's max.message.bytes, or lower "
            "'kafka.batch.size' if single records are smaller"
        )
    error.add_note(f"while writing to {batch.place}")
    return error
