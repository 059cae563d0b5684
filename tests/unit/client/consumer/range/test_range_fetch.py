"""A range that is fetched from a broker which answers as a test says."""

import asyncio
from typing import Any

from ottla.base.ids import ZERO_UUID
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_view import ClusterView, PartitionView, TopicView
from ottla.client.consumer.range.offset_range import OffsetRange
from ottla.client.consumer.range.range_fetch import FetchedBatches, FetchLimits, RangeFetch
from ottla.client.record import TopicPartition
from ottla.protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from ottla.protocol.records.writer import BatchOptions, write_batch

LIMITS = FetchLimits(bytes_max=1000, wait_ms_max=1, timeout_ms=10_000, is_committed_only=True, check_crcs=True)


class Brokers:
    """A cluster of one topic, whose answers are written down before."""

    request_timeout_ms = 1000
    backoff = Backoff(0, 0)

    def __init__(self, *answers: FetchResponse) -> None:
        self.view = ClusterView(topics={"t": TopicView("t", ZERO_UUID, {0: PartitionView(0, 1, 0)})})
        self.answers = list(answers)
        self.asked: list[int] = []

    async def request(self, _node: int, request: FetchRequest, **_: Any) -> FetchResponse:
        self.asked.append(request.topics[0].partitions[0].fetch_offset)
        return self.answers.pop(0)


def refuse(what: str) -> None:
    raise AssertionError(what)


def fetch(brokers: Brokers, end: int) -> list[FetchedBatches]:
    wanted = RangeFetch(brokers, OffsetRange(TopicPartition("t", 0), 0, end), LIMITS, refuse)  # type: ignore[arg-type]

    async def run() -> list[FetchedBatches]:
        found = []
        while (answer := await wanted.next()) is not None:
            found.append(answer)
        return found

    return asyncio.run(run())


def records(first: int, count: int) -> FetchResponse:
    """An answer with one batch."""
    batch = write_batch([(first + at, 0, None, b"x", ()) for at in range(count)], BatchOptions(base_offset=first))
    return answered(PartitionData(partition_index=0, last_stable_offset=100, records=memoryview(bytes(batch))))


def answered(data: PartitionData) -> FetchResponse:
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])


def test_an_answer_that_only_asks_for_a_pause_is_none() -> None:
    pause = FetchResponse(throttle_time_ms=50)
    brokers = Brokers(pause, records(0, 5), pause, pause, records(5, 5))
    assert [found.start for found in fetch(brokers, 10)] == [0, 5]
    assert brokers.asked == [0, 0, 5, 5, 5]
