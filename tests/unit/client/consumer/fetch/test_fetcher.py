"""What is fetched from whom, and what becomes of the answers."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ottla.client.consumer.errors import FetchBrokenError
from ottla.client.consumer.fetch.completed_fetch import CompletedFetch
from ottla.client.consumer.fetch.fetch_answer import FetchAnswers
from ottla.client.consumer.fetch.fetch_buffer import FailedFetch, FetchBuffer
from ottla.client.consumer.fetch.fetch_metric import FetchMetrics
from ottla.client.consumer.fetch.fetch_option import FetchOptions
from ottla.client.consumer.fetch.fetcher import Fetcher
from ottla.client.consumer.subscription_state import PartitionState, Position, SubscriptionState
from ottla.client.errors import AuthenticationFailedError, OffsetOutOfRangeError
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ErrorCode, NetworkError, TopicAuthorizationFailedError
from ottla.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.writer import write_batch
from tests.unit.client.consumer.scripted import SETTINGS, TOPIC_ID, Answer, ScriptedCluster

ORDERS = TopicPartition("orders", 0)


def data(offset: int, size_bytes: int = 10) -> memoryview:
    batch = write_batch([(offset, 1, None, bytes(size_bytes), ())])
    Batch(batch).assign(base_offset=offset, partition_leader_epoch=5)
    return memoryview(bytes(batch))


def partition(**fields: Any) -> Answer:
    """An answer about the partition."""

    def answer(request: FetchRequest) -> FetchResponse:
        found = PartitionData(partition_index=0, high_watermark=100, **fields)
        return FetchResponse(session_id=9, responses=[FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[found])])

    return answer


def refused(code: int) -> Answer:
    return lambda request: FetchResponse(error_code=code)


def lost(request: FetchRequest) -> NetworkError:
    return NetworkError("gone")


def later(request: FetchRequest) -> None:
    """The request waits at the broker."""


class Bench:
    """A fetcher on a scripted cluster, and what the user would find."""

    def __init__(self, cluster: ScriptedCluster) -> None:
        self.cluster = cluster
        self.subscription = SubscriptionState()
        self.subscription.assign_manually([ORDERS])
        self.state: PartitionState = self.subscription.state_of(ORDERS)
        self.state.seek(Position(7, 5))
        self.state.validated_epoch = 5
        self.buffer = FetchBuffer()
        options = FetchOptions.of(SETTINGS.but(max_partition_fetch_bytes=1000))
        metrics = FetchMetrics(cluster.metrics, self.subscription, is_committed_only=False)
        answers = FetchAnswers(cluster.client, options, metrics, self.buffer, lambda: None)
        self.fetcher = Fetcher(cluster.client, self.subscription, answers, options)


def run(*answers: Answer, prepare: Callable[[Bench], None] | None = None) -> Bench:
    """Lets the fetcher go on until the script is used up."""

    async def main() -> Bench:
        cluster = ScriptedCluster(*answers)
        bench = Bench(cluster)
        if prepare is not None:
            prepare(bench)
        bench.fetcher.wake()
        for _ in range(50):
            await asyncio.sleep(0)
        await bench.fetcher.close()
        return bench

    return asyncio.run(main())


def test_the_next_fetch_goes_on_where_the_last_ended() -> None:
    bench = run(partition(records=data(7)), partition(records=data(8)))
    wanted = [request.topics[0].partitions[0].fetch_offset for _, request in bench.cluster.asked]
    assert wanted == [7, 8]
    assert [(request.session_id, request.session_epoch) for _, request in bench.cluster.asked] == [(0, 0), (9, 1)]
    assert bench.state.position == Position(7, 5)
    assert bench.state.fetch_position == Position(9, 5)
    assert len(bench.buffer) == 2
    assert bench.state.high_watermark == 100


def test_no_more_than_two_fetches_ahead() -> None:
    bench = run(partition(records=data(7, 2500)), partition(records=data(8)))
    assert len(bench.cluster.asked) == 1
    assert bench.fetcher.waits_for_room


def test_paused_or_unchecked_partitions_are_not_asked_for() -> None:
    def pause(bench: Bench) -> None:
        bench.state.is_paused = True

    def new_leader(bench: Bench) -> None:
        bench.cluster.lead(broker_id=2, epoch=6)

    assert run(partition(), prepare=pause).cluster.asked == []
    assert run(partition(), prepare=new_leader).cluster.asked == []


def test_a_nearer_replica_is_read_until_it_fails() -> None:
    bench = run(partition(preferred_read_replica=2), lost, partition(records=data(7)))
    assert [node for node, _ in bench.cluster.asked] == [1, 2, 1]
    assert len(bench.buffer) == 1


def test_a_replica_that_lags_is_not_believed_about_the_range() -> None:
    out_of_range = partition(error_code=ErrorCode.OFFSET_OUT_OF_RANGE)
    bench = run(partition(preferred_read_replica=2), out_of_range, out_of_range)
    assert [node for node, _ in bench.cluster.asked] == [1, 2, 1]
    failed = bench.buffer.head()
    assert isinstance(failed, FailedFetch)
    assert isinstance(failed.error, OffsetOutOfRangeError)
    assert failed.error.positions == {ORDERS: 7}


def test_the_leader_that_an_answer_names_is_believed() -> None:
    named = LeaderIdAndEpoch(leader_id=2, leader_epoch=6)
    bench = run(partition(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER, current_leader=named))
    assert bench.cluster.leaders == [("orders", 0, 2, 6)]
    assert bench.cluster.refreshes == 0
    assert run(partition(error_code=ErrorCode.FENCED_LEADER_EPOCH)).cluster.refreshes >= 1


def test_a_lost_session_is_begun_again() -> None:
    bench = run(partition(), refused(ErrorCode.FETCH_SESSION_ID_NOT_FOUND), partition(records=data(7)))
    assert [(request.session_id, request.session_epoch) for _, request in bench.cluster.asked] == [
        (0, 0),
        (9, 1),
        (0, 0),
    ]
    assert len(bench.buffer) == 1


def test_what_a_seek_made_worthless_is_dropped() -> None:
    benches: list[Bench] = []

    def seek_meanwhile(request: FetchRequest) -> FetchResponse:
        benches[0].state.seek(Position(50, 5))
        benches[0].state.validated_epoch = 5
        return partition(records=data(7))(request)  # type: ignore[return-value]

    bench = run(seek_meanwhile, partition(records=data(50)), prepare=benches.append)
    fetched = bench.buffer.head()
    assert isinstance(fetched, CompletedFetch)
    assert (fetched.position.offset, len(bench.buffer)) == (50, 1)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (partition(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED), TopicAuthorizationFailedError),
        (lambda request: AuthenticationFailedError("who?"), AuthenticationFailedError),
    ],
)
def test_what_only_the_user_can_settle_waits_in_the_buffer(answer: Answer, error: type[Exception]) -> None:
    bench = run(answer)
    failed = bench.buffer.head()
    assert isinstance(failed, FailedFetch)
    assert isinstance(failed.error, error)


def senseless(request: FetchRequest) -> FetchResponse:
    """What no broker says, and no code reckons with."""
    return FetchResponse(session_id=9, responses=None)  # type: ignore[arg-type]


def impossible(request: FetchRequest) -> FetchResponse:
    raise ZeroDivisionError


@pytest.mark.parametrize("answer", [senseless, impossible])
def test_the_unforeseen_reaches_the_user_and_reading_goes_on(answer: Answer) -> None:
    bench = run(partition(), answer, partition(records=data(7)))
    failed = bench.buffer.head()
    assert isinstance(failed, FailedFetch)
    assert isinstance(failed.error, FetchBrokenError)
    assert failed.error.__cause__ is not None
    bench.buffer.drop(failed)
    assert isinstance(bench.buffer.head(), CompletedFetch)
    assert [request.session_epoch for _, request in bench.cluster.asked] == [0, 1, 0]


def test_sessions_are_ended_with_the_consumer() -> None:
    assert run(partition()).cluster.ended_sessions == [9]
    assert run(partition(), lost).cluster.ended_sessions == [], "who can't be reached is not waited for"


def test_a_seek_does_not_wait_for_the_request_that_waits() -> None:
    benches: list[Bench] = []

    def wait_until_sought(request: FetchRequest) -> None:
        bench = benches[0]
        bench.state.seek(Position(50, 5))
        bench.state.validated_epoch = 5
        bench.fetcher.wake()

    bench = run(wait_until_sought, partition(records=data(50)), partition(), later, prepare=benches.append)
    beside = [request for _, request in bench.cluster.asked[1:]]
    assert [request.topics[0].partitions[0].fetch_offset for request in beside] == [50, 51], "not again at the end"
    assert {(request.session_id, request.session_epoch, request.max_wait_ms) for request in beside} == {(0, -1, 0)}
    assert bench.state.fetch_position == Position(51, 5)
    assert len(bench.buffer) == 1


def test_what_is_on_its_way_beside_a_request_is_not_asked_for_again() -> None:
    benches: list[Bench] = []
    waiting: list[asyncio.Future[FetchResponse]] = []
    tasks: list[asyncio.Future[None]] = []

    def wait_until_sought(request: FetchRequest) -> "asyncio.Future[FetchResponse]":
        benches[0].state.seek(Position(50, 5))
        benches[0].state.validated_epoch = 5
        benches[0].fetcher.wake()
        waiting.append(asyncio.get_running_loop().create_future())
        return waiting[0]

    def end_the_wait_first(request: FetchRequest) -> "asyncio.Future[FetchResponse]":
        waiting[0].set_result(FetchResponse(session_id=9))
        answered: asyncio.Future[FetchResponse] = asyncio.get_running_loop().create_future()

        async def answer() -> None:
            for _ in range(10):
                await asyncio.sleep(0)
            found = PartitionData(partition_index=0, high_watermark=100, records=data(50))
            topic = FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[found])
            answered.set_result(FetchResponse(responses=[topic]))

        tasks.append(asyncio.ensure_future(answer()))
        return answered

    bench = run(wait_until_sought, end_the_wait_first, later, prepare=benches.append)
    offsets = [request.topics[0].partitions[0].fetch_offset for _, request in bench.cluster.asked]
    assert offsets == [7, 50, 51]
    assert bench.cluster.asked[2][1].session_id == 9
