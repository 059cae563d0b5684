"""Where partitions start, and what becomes of positions when leaders change."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ottla.client.consumer.errors import FetchBrokenError
from ottla.client.consumer.offset.offset_lookup import OffsetLookup
from ottla.client.consumer.offset.offset_reset import OffsetReset
from ottla.client.consumer.offset.position_update import PositionUpdate
from ottla.client.consumer.subscription_state import PartitionState, Position, SubscriptionState
from ottla.client.errors import LogTruncationError, NoOffsetForPartitionError
from ottla.client.record import TopicPartition
from ottla.protocol.errors import NotLeaderOrFollowerError, TopicAuthorizationFailedError
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from tests.unit.client.consumer.scripted import Answer, ScriptedCluster

ORDERS = TopicPartition("orders", 0)


def offset_is(offset: int, *, error: int = 0) -> Answer:
    def answer(request: ListOffsetsRequest) -> ListOffsetsResponse:
        partition = ListOffsetsPartitionResponse(partition_index=0, error_code=error, offset=offset, leader_epoch=5)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="orders", partitions=[partition])])

    return answer


def epoch_ends(epoch: int, end_offset: int) -> Answer:
    def answer(request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
        end = EpochEndOffset(partition=0, leader_epoch=epoch, end_offset=end_offset)
        return OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult(topic="orders", partitions=[end])])

    return answer


def run(cluster: ScriptedCluster, reset: str, work: Callable[[PositionUpdate, PartitionState], Any]) -> PartitionState:
    """Assigns the partition, lets `work` do something, and settles everything as a polling user does."""

    async def main() -> PartitionState:
        subscription = SubscriptionState()
        subscription.assign_manually([ORDERS])
        state = subscription.state_of(ORDERS)
        lookup = OffsetLookup(cluster.client, isolation_level=0, request_timeout_ms=1000)
        update = PositionUpdate(cluster.client, subscription, lookup, OffsetReset.parse(reset), lambda: None)
        work(update, state)
        update.is_needed = True
        try:
            while update.is_needed:
                update.begin()
                while update._task is not None:
                    await asyncio.sleep(0)
        finally:
            await update.close()
        return state

    return asyncio.run(main())


def nothing(update: PositionUpdate, state: PartitionState) -> None:
    """The partition is new."""


def at(offset: int, epoch: int | None) -> Callable[[PositionUpdate, PartitionState], None]:
    return lambda update, state: state.seek(Position(offset, epoch))


@pytest.mark.parametrize(("reset", "timestamp"), [("earliest", -2), ("latest", -1)])
def test_a_new_partition_is_reset(reset: str, timestamp: int) -> None:
    cluster = ScriptedCluster(offset_is(40))
    state = run(cluster, reset, nothing)
    [(node, request)] = cluster.asked
    assert (node, request.topics[0].partitions[0].timestamp) == (1, timestamp)
    assert (state.position, state.fetch_position) == (Position(40, 5), Position(40, 5))
    assert state.validated_epoch == 5


def test_without_a_reset_it_is_an_error() -> None:
    with pytest.raises(NoOffsetForPartitionError, match="orders-0"):
        run(ScriptedCluster(), "none", nothing)


def test_what_passes_is_tried_again_with_fresh_metadata() -> None:
    cluster = ScriptedCluster(offset_is(-1, error=NotLeaderOrFollowerError.code), offset_is(40))
    assert run(cluster, "earliest", nothing).position == Position(40, 5)
    assert cluster.refreshes == 1


def test_the_unforeseen_is_raised() -> None:
    def impossible(request: ListOffsetsRequest) -> ListOffsetsResponse:
        raise ZeroDivisionError

    with pytest.raises(FetchBrokenError, match="ZeroDivisionError"):
        run(ScriptedCluster(impossible), "earliest", nothing)


def test_what_does_not_pass_is_raised() -> None:
    with pytest.raises(TopicAuthorizationFailedError):
        run(ScriptedCluster(offset_is(-1, error=TopicAuthorizationFailedError.code)), "earliest", nothing)


def test_nothing_as_young_as_the_duration_means_the_end() -> None:
    cluster = ScriptedCluster(offset_is(-1), offset_is(70))
    assert run(cluster, "by_duration:PT1H", nothing).position == Position(70, 5)
    assert [request.topics[0].partitions[0].timestamp for _, request in cluster.asked][1] == -1


def test_a_seek_while_the_leader_is_asked_wins() -> None:
    states: list[PartitionState] = []

    def late(request: ListOffsetsRequest) -> Any:
        states[0].seek(Position(9))
        return offset_is(40)(request)

    state = run(ScriptedCluster(late), "earliest", lambda update, state: states.append(state))
    assert state.position == Position(9)


def test_a_position_without_an_epoch_or_of_the_leaders_epoch_is_believed() -> None:
    for epoch in (None, 5):
        cluster = ScriptedCluster()
        assert run(cluster, "none", at(85, epoch)).validated_epoch == 5
        assert cluster.asked == []


def test_a_position_that_the_new_leader_has() -> None:
    cluster = ScriptedCluster(epoch_ends(3, 85))
    state = run(cluster, "none", at(85, 3))
    [(_, request)] = cluster.asked
    assert (request.replica_id, request.topics[0].partitions[0].leader_epoch) == (-1, 3)
    assert (state.position, state.validated_epoch, state.is_fetchable) == (Position(85, 3), 5, True)


def test_a_truncated_log_is_an_error_until_somebody_seeks() -> None:
    """The module's example."""
    cluster = ScriptedCluster(epoch_ends(3, 80))
    with pytest.raises(LogTruncationError) as raised:
        run(cluster, "none", at(85, 3))
    assert raised.value.divergent == {ORDERS: 80}


def test_a_truncated_log_goes_back_to_where_the_logs_part() -> None:
    state = run(ScriptedCluster(epoch_ends(2, 80)), "latest", at(85, 3))
    assert (state.position, state.validated_epoch) == (Position(80, 2), 5)


def test_an_epoch_that_nobody_knows_is_reset() -> None:
    cluster = ScriptedCluster(epoch_ends(-1, -1), offset_is(10))
    assert run(cluster, "earliest", at(85, 3)).position == Position(10, 5)
    with pytest.raises(LogTruncationError, match="unknown offset"):
        run(ScriptedCluster(epoch_ends(-1, -1)), "none", at(85, 3))


def test_a_new_leader_makes_what_was_fetched_ahead_worthless() -> None:
    cluster = ScriptedCluster(epoch_ends(5, 100))

    def fetched_ahead(update: PositionUpdate, state: PartitionState) -> None:
        state.seek(Position(85, 5))
        state.validated_epoch, state.fetch_position = 5, Position(95, 5)
        cluster.lead(broker_id=2, epoch=6)

    state = run(cluster, "none", fetched_ahead)
    assert (state.fetch_position, state.validated_epoch) == (Position(85, 5), 6)
    assert cluster.asked[0][0] == 2


def test_a_position_of_a_partition_that_metadata_does_not_know_waits_without_spinning() -> None:
    """Its topic was deleted while the position was to be validated: the loop goes on meanwhile."""

    async def main() -> None:
        gone = TopicPartition("gone", 0)
        cluster, subscription = ScriptedCluster(), SubscriptionState()
        subscription.assign_manually([gone])
        state = subscription.state_of(gone)
        state.seek(Position(7, 3))
        state.needs_validation = True
        lookup = OffsetLookup(cluster.client, isolation_level=0, request_timeout_ms=1000)
        update = PositionUpdate(cluster.client, subscription, lookup, OffsetReset.parse("latest"), lambda: None)
        update.is_needed = True
        update.begin()
        for _ in range(5):
            await asyncio.sleep(0)
        assert update._task is not None
        assert state.needs_validation
        await update.close()

    asyncio.run(main())
