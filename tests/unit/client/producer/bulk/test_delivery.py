"""Batches on their way to brokers that answer as a test says."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest

from ottla.base.ids import ZERO_UUID
from ottla.client.cluster.cluster_view import PartitionView
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.producer.bulk.backlog import Backlog
from ottla.client.producer.bulk.delivery import Delivery, DeliveryTerms, EncodedBatch
from ottla.client.producer.option import ProducerOptions
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ErrorCode, MessageTooLargeError, NetworkError, TopicAuthorizationFailedError
from ottla.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

SETTINGS = {
    "bootstrap.servers": "localhost:1",
    "retry.backoff.ms": "0",
    "batch.size": "524288",
    "max.request.size": "2097152",
}
OPTIONS = ProducerOptions.of(ClientSettings.of(PRODUCER_KEYS, SETTINGS))


@dataclass
class Brokers:
    """A cluster whose answers are written down before; it is its own view and its own connections."""

    answers: list[Any] = field(default_factory=list)
    """For each request an error code, an exception, or None for an answer that leaves the batches out; then 0."""
    leaders: dict[int, int] = field(default_factory=dict)
    received: list[tuple[int, list[tuple[int, bytes]]]] = field(default_factory=list)
    """For each request the node and its batches: partition and bytes."""
    on_refresh: Callable[[], None] = lambda: None
    topics: dict[str, Any] = field(default_factory=dict)
    busy: set[int] = field(default_factory=set)

    @property
    def view(self) -> "Brokers":
        return self

    def partition(self, _topic: str, number: int) -> PartitionView:
        return PartitionView(number, self.leaders.get(number, 1), 0, (), (), ())

    async def connection(self, _node: int) -> "Brokers":
        return self

    def version_of(self, _api: object) -> int:
        return 12

    def refresh_soon(self) -> None:
        self.on_refresh()

    async def request(self, node: int, request: ProduceRequest, *, version: int) -> ProduceResponse:
        assert version == 12
        [topic] = request.topic_data
        assert topic.topic_id == ZERO_UUID
        places = {data.index for data in topic.partition_data}
        assert not places & self.busy, "a partition has two batches under way"
        self.busy |= places
        self.received.append((node, [(data.index, bytes(data.records or b"")) for data in topic.partition_data]))
        await asyncio.sleep(0)
        self.busy -= places
        answer = self.answers.pop(0) if self.answers else 0
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return ProduceResponse(responses=[])
        parts = [PartitionProduceResponse(index=data.index, error_code=answer) for data in topic.partition_data]
        return ProduceResponse(responses=[TopicProduceResponse(name=topic.name, partition_responses=parts)])

    @property
    def batches(self) -> list[tuple[int, bytes]]:
        return [batch for _, batches in self.received for batch in batches]


def batch(data: bytes, partition: int = 0) -> EncodedBatch:
    return EncodedBatch(TopicPartition("t", partition), bytearray(data))


def deliver(brokers: Brokers, *batches: EncodedBatch) -> None:
    """Sends them all at once; raises what the task would hear."""
    backlog = Backlog(1_000_000)
    backlog.add(sum(len(found.data) for found in batches))

    async def run() -> None:
        delivery = Delivery(brokers, OPTIONS, DeliveryTerms(), backlog)  # type: ignore[arg-type]
        delivery.add(batches)
        await asyncio.to_thread(backlog.wait)

    asyncio.run(_soon(run()))


async def _soon(work: Coroutine[Any, Any, None]) -> None:
    async with asyncio.timeout(10):
        await work


def test_a_partition_gets_its_batches_in_order_and_partitions_share_requests() -> None:
    brokers = Brokers()
    deliver(brokers, batch(b"a0"), batch(b"b0", 1), batch(b"a1"), batch(b"a2"))
    assert brokers.received[0] == (1, [(0, b"a0"), (1, b"b0")])
    assert [data for number, data in brokers.batches if number == 0] == [b"a0", b"a1", b"a2"]


@pytest.mark.parametrize(
    "trouble", [ErrorCode.NOT_LEADER_OR_FOLLOWER, NetworkError("gone"), None, ErrorCode.NOT_ENOUGH_REPLICAS]
)
def test_what_passes_is_sent_again_before_what_follows(trouble: object) -> None:
    brokers = Brokers(answers=[trouble, trouble, 0])
    deliver(brokers, batch(b"0"), batch(b"1"))
    assert [data for _, data in brokers.batches] == [b"0", b"0", b"0", b"1"]


def test_a_batch_that_a_broker_has_already_is_done() -> None:
    brokers = Brokers(answers=[NetworkError("gone"), ErrorCode.DUPLICATE_SEQUENCE_NUMBER])
    deliver(brokers, batch(b"0"))
    assert len(brokers.received) == 2


def test_a_batch_follows_its_partition_to_the_new_leader() -> None:
    brokers = Brokers(answers=[ErrorCode.NOT_LEADER_OR_FOLLOWER])
    brokers.on_refresh = lambda: brokers.leaders.update({0: 2})
    deliver(brokers, batch(b"0"))
    assert [node for node, _ in brokers.received] == [1, 2]


def test_without_a_leader_it_waits_for_one() -> None:
    brokers = Brokers(leaders={0: -1})
    brokers.on_refresh = lambda: brokers.leaders.update({0: 3})
    deliver(brokers, batch(b"0"))
    assert [node for node, _ in brokers.received] == [3]


def test_what_does_not_pass_is_raised_with_the_place_and_ends_the_rest() -> None:
    brokers = Brokers(answers=[ErrorCode.TOPIC_AUTHORIZATION_FAILED])
    with pytest.raises(TopicAuthorizationFailedError) as refused:
        deliver(brokers, batch(b"0"), batch(b"1"))
    assert refused.value.__notes__ == ["while writing to t-0"]
    assert len(brokers.received) == 1


def test_a_batch_that_is_too_large_says_what_to_change() -> None:
    with pytest.raises(MessageTooLargeError, match=r"t-0 takes no batch of 3 bytes: raise the topic's max\.message"):
        deliver(Brokers(answers=[ErrorCode.MESSAGE_TOO_LARGE]), batch(b"big"))


def test_what_nobody_has_foreseen_ends_the_wait() -> None:
    with pytest.raises(ZeroDivisionError):
        deliver(Brokers(answers=[ZeroDivisionError()]), batch(b"0"), batch(b"1"))
