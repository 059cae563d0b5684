"""The refresh task with questions that the test answers."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.base.errors import OttlaError
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.cluster.metadata_refresh import MetadataRefresh
from ottla.client.errors import AuthenticationFailedError, ClosedError, InvalidStateError
from ottla.protocol.errors import NetworkError


class Cluster:
    """Answers each question when the test says so."""

    def __init__(self) -> None:
        self.questions: list[asyncio.Future[ClusterView]] = []

    async def ask(self) -> ClusterView:
        self.questions.append(asyncio.get_running_loop().create_future())
        return await self.questions[-1]

    async def question(self, number: int) -> "asyncio.Future[ClusterView]":
        while len(self.questions) < number:
            await asyncio.sleep(0)
        return self.questions[number - 1]


def run(
    test: Callable[[Cluster, MetadataRefresh], Awaitable[None]], max_age_ms: int = 3_600_000, pause_ms: int = 0
) -> None:
    async def main() -> None:
        cluster = Cluster()
        refresh = MetadataRefresh(cluster.ask, Backoff(pause_ms, pause_ms), max_age_ms)
        refresh.start()
        try:
            await test(cluster, refresh)
        finally:
            await refresh.close()

    asyncio.run(main())


def test_nobody_is_asked_without_need() -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        assert not cluster.questions

    run(test)


def test_what_got_old_is_asked_for_again() -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        (await cluster.question(1)).set_result(ClusterView())
        await cluster.question(2)

    run(test, max_age_ms=0)


def test_a_waiter_is_served_by_a_question_that_began_after_it_came() -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        first = refresh.wait()
        question = await cluster.question(1)
        second = refresh.wait()
        question.set_result(ClusterView(cluster_id="old"))
        assert (await first).cluster_id == "old"
        assert not second.done()
        (await cluster.question(2)).set_result(ClusterView(cluster_id="new"))
        assert (await second).cluster_id == "new"

    run(test)


def test_failures_are_repeated_while_somebody_waits() -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        waiter = refresh.wait()
        trouble = NetworkError("gone")
        (await cluster.question(1)).set_exception(trouble)
        (await cluster.question(2)).set_exception(trouble)
        third = await cluster.question(3)
        assert refresh.last_error is trouble
        third.set_result(ClusterView())
        await waiter
        assert refresh.last_error is None

    run(test)


def test_hints_are_followed_after_a_pause_and_wishes_at_once() -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        refresh.soon()
        (await cluster.question(1)).set_result(ClusterView())
        refresh.soon()
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(cluster.questions) == 1
        refresh.now()
        await cluster.question(2)

    run(test, pause_ms=3_600_000)


def test_a_listener_that_raises_is_told_to_those_who_wait() -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        refresh.soon()
        question = await cluster.question(1)
        waiter = refresh.wait()
        question.set_exception(ZeroDivisionError("a listener's"))
        with pytest.raises(InvalidStateError, match="a listener's"):
            await waiter

    run(test)


@pytest.mark.parametrize("refusal", [AuthenticationFailedError("wrong password")])
def test_a_refusal_is_told_at_once(refusal: OttlaError) -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        waiter = refresh.wait()
        (await cluster.question(1)).set_exception(refusal)
        with pytest.raises(AuthenticationFailedError):
            await waiter

    run(test)


def test_those_who_wait_hear_of_the_end() -> None:
    async def test(cluster: Cluster, refresh: MetadataRefresh) -> None:
        refresh.soon()
        await cluster.question(1)
        waiter = refresh.wait()
        await refresh.close()
        with pytest.raises(ClosedError):
            await waiter
        with pytest.raises(ClosedError):
            await refresh.wait()

    run(test)
