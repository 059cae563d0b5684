"""Commits while the group changes: what is repeated, as whom, and what the user is told."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, cast

import pytest

from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.client.consumer.interceptor import Interceptors
from ottla.client.consumer.membership import GroupMetadata
from ottla.client.consumer.offset.commit_metric import CommitMetrics
from ottla.client.consumer.offset.committer import Committer
from ottla.client.consumer.offset.group_coordinator import GroupCoordinator
from ottla.client.consumer.offset.offset_commit import OffsetCommits
from ottla.client.consumer.subscription_state import Position, SubscriptionState
from ottla.client.consumer.user_call import UserCalls, invoke_here
from ottla.client.errors import CommitFailedError, RetriableCommitFailedError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.errors import ApiError, ErrorCode, RebalanceInProgressError
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from tests.unit.client.consumer.scripted import SETTINGS, ScriptedCluster

ORDERS = TopicPartition("orders", 0)
OFFSETS = {ORDERS: OffsetAndMetadata(7)}
NOT_WHO_WE_WERE = (
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.STALE_MEMBER_EPOCH,
)


class Coordinator:
    """Answers commits with one error code after the other."""

    def __init__(self, codes: Sequence[int]) -> None:
        self.codes = list(codes)
        self.asked: list[OffsetCommitRequest] = []
        self.version = 9
        self.ids: dict[str, Uuid] | None = None

    async def ask(self, api: object, build: Callable[[int], OffsetCommitRequest], *_: object, **__: object) -> Any:
        self.asked.append(build(self.version))
        partitions = [OffsetCommitResponsePartition(partition_index=0, error_code=self.codes.pop(0))]
        return OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="orders", partitions=partitions)]), 9

    async def find(self, *, timeout_ms: int) -> int:
        return 1

    def ids_of(self, topics: set[str]) -> dict[str, Uuid] | None:
        return self.ids

    def judge(self, error: OttlaError) -> None:
        pass


class Member:
    """In generation 3; a heartbeat moves it on to the next one, unless it has been thrown out."""

    def __init__(self) -> None:
        self.generation_id = 3
        self.is_known = True
        self.doubts: list[ApiError] = []

    @property
    def may_commit(self) -> bool:
        return self.generation_id >= 0

    def metadata(self) -> GroupMetadata:
        return GroupMetadata("billing", self.generation_id, "me")

    def rejoin_needed(self, error: ApiError) -> None:
        self.doubts.append(error)

    async def refresh_epoch(self) -> bool:
        self.generation_id = self.generation_id + 1 if self.is_known else -1
        return self.is_known


class Bench:
    """A committer with its user's context."""

    def __init__(self, codes: Sequence[int]) -> None:
        cluster = ScriptedCluster()
        self.subscription = SubscriptionState()
        self.subscription.subscribe_topics(["orders"], None)
        self.subscription.assign_from_group([ORDERS])
        self.subscription.state_of(ORDERS).seek(Position(7))
        self.member = Member()
        self.coordinator = Coordinator(codes)
        self.calls = UserCalls(invoke_here, lambda: None)
        settings = SETTINGS.but(group_id="billing", retry_backoff_ms=0)
        self.committer = Committer(settings, self.subscription, self.calls, Interceptors(()))
        self.committer.commits = OffsetCommits(
            cluster.client,
            cast(GroupCoordinator, self.coordinator),
            self.member,
            CommitMetrics(cluster.metrics, self.subscription),
        )

    @property
    def generations(self) -> list[int]:
        """As whom commits were sent."""
        return [request.generation_id_or_member_epoch for request in self.coordinator.asked]


def run(codes: Sequence[int], use: Callable[[Bench], Coroutine[Any, Any, None]]) -> Bench:
    async def main() -> Bench:
        bench = Bench(codes)
        await use(bench)
        return bench

    return asyncio.run(main())


async def commit(bench: Bench) -> None:
    await bench.committer.commit(OFFSETS, 60)


def test_a_topic_that_is_gone_by_the_time_the_coordinator_is_found_has_the_id_that_it_had() -> None:
    async def use(bench: Bench) -> None:
        bench.coordinator.version, bench.coordinator.ids = 10, {"orders": Uuid(bytes(15) + b"1")}
        await asyncio.wait_for(commit(bench), 60)

    [request] = run([0], use).coordinator.asked
    assert request.topics[0].topic_id == Uuid(bytes(15) + b"1")


def test_nobody_waits_for_a_commit_that_met_with_something_unforeseen() -> None:
    async def use(bench: Bench) -> None:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(commit(bench), 60)

    run([], use)


@pytest.mark.parametrize("code", NOT_WHO_WE_WERE)
def test_who_is_still_a_member_commits_as_who_it_is_now(code: int) -> None:
    assert run([code, 0], commit).generations == [3, 4]


@pytest.mark.parametrize("code", NOT_WHO_WE_WERE)
def test_who_was_thrown_out_is_told(code: int) -> None:
    async def use(bench: Bench) -> None:
        bench.member.is_known = False
        with pytest.raises(CommitFailedError, match="rebalanced without this consumer"):
            await commit(bench)
        with pytest.raises(CommitFailedError, match="not a member of the group now"):
            await commit(bench)

    assert run([code], use).generations == [3], "the second one must not be sent as nobody's"


def test_a_rebalance_under_way_is_waited_for_and_gets_what_it_needs_of_the_user() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("listener")

    async def use(bench: Bench) -> None:
        asked = asyncio.create_task(bench.calls.request(work))
        await asyncio.sleep(0)
        await commit(bench)
        await asked

    bench = run([ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.REBALANCE_IN_PROGRESS, 0], use)
    assert bench.generations == [3, 3, 3]
    assert done == ["listener"]


def test_a_rebalance_that_does_not_end_is_said_at_the_deadline() -> None:
    async def use(bench: Bench) -> None:
        with pytest.raises(RebalanceInProgressError):
            await bench.committer.commit(OFFSETS, 0)

    run([ErrorCode.REBALANCE_IN_PROGRESS], use)


def test_what_the_rebalance_took_away_is_not_committed_any_more() -> None:
    """The next owner may have read on."""

    async def use(bench: Bench) -> None:
        async def revoke() -> None:
            bench.subscription.assign_from_group([])

        asked = asyncio.create_task(bench.calls.request(revoke))
        await asyncio.sleep(0)
        with pytest.raises(CommitFailedError, match="orders-0"):
            await commit(bench)
        await asked

    assert len(run([ErrorCode.REBALANCE_IN_PROGRESS, 0], use).generations) == 1


def test_a_commit_that_nobody_waits_for_is_not_repeated() -> None:
    heard: list[OttlaError | None] = []

    async def use(bench: Bench) -> None:
        bench.committer.commit_later(OFFSETS, lambda offsets, error: heard.append(error))
        assert bench.committer.commits is not None
        await bench.committer.commits.drain(60)
        await bench.calls.run()

    assert run([ErrorCode.ILLEGAL_GENERATION], use).generations == [3]
    assert [type(error) for error in heard] == [RetriableCommitFailedError]


@pytest.mark.parametrize(
    ("code", "levels"), [(ErrorCode.COORDINATOR_NOT_AVAILABLE, []), (ErrorCode.GROUP_AUTHORIZATION_FAILED, ["WARNING"])]
)
def test_automatic_commit_is_not_complained_about_if_the_next_may_succeed(
    code: int, levels: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def use(bench: Bench) -> None:
        bench.committer.commit_automatically()
        assert bench.committer.commits is not None
        await bench.committer.commits.drain(60)

    with caplog.at_level("INFO", "ottla.client"):
        run([code], use)
    assert [record.levelname for record in caplog.records] == levels
