"""The lookup with brokers whose answers the test writes."""

import asyncio
from collections.abc import Callable

import pytest

from ottla.base.errors import OttlaError
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_view import BrokerView
from ottla.client.cluster.coordinator_lookup import CoordinatorKind, CoordinatorLookup
from ottla.client.errors import ClosedError, KafkaTimeoutError
from ottla.protocol.errors import ErrorCode, GroupAuthorizationFailedError, NetworkError
from ottla.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

GROUP = CoordinatorKind.GROUP
FOUND = FindCoordinatorResponse(coordinators=[Coordinator(key="g", node_id=3, host="c", port=9092)])
LOADING = FindCoordinatorResponse(coordinators=[Coordinator(key="g", error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)])
FORBIDDEN = FindCoordinatorResponse(
    coordinators=[Coordinator(key="g", error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)]
)
OLD = FindCoordinatorResponse(node_id=3, host="c", port=9092)


class Brokers:
    """Gives one answer after the other, the last one for ever."""

    def __init__(self, *answers: FindCoordinatorResponse | OttlaError, version: int = 6) -> None:
        self.answers = list(answers)
        self.asked: list[FindCoordinatorRequest] = []
        self.learnt: list[BrokerView] = []
        self.version = version

    async def ask(self, request: Callable[[int], FindCoordinatorRequest], timeout_ms: int) -> FindCoordinatorResponse:
        self.asked.append(request(self.version))
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, OttlaError):
            raise answer
        return answer

    def lookup(self) -> CoordinatorLookup:
        return CoordinatorLookup(self.ask, self.learnt.append, Backoff(0, 0))


def test_a_found_coordinator_is_remembered() -> None:
    brokers = Brokers(FOUND)

    async def main() -> None:
        lookup = brokers.lookup()
        assert await asyncio.gather(*(lookup.find(GROUP, "g", 1_000) for _ in range(3))) == [3, 3, 3]
        assert await lookup.find(GROUP, "g", 1_000) == 3
        assert lookup.known(GROUP, "g") == 3

    asyncio.run(main())
    assert brokers.asked == [FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])]
    assert brokers.learnt == [BrokerView(3, "c", 9092)]


def test_a_forgotten_one_is_looked_for_again() -> None:
    brokers = Brokers(FOUND)

    async def main() -> None:
        lookup = brokers.lookup()
        await lookup.find(CoordinatorKind.TRANSACTION, "g", 1_000)
        lookup.forget(CoordinatorKind.TRANSACTION, "g")
        await lookup.find(CoordinatorKind.TRANSACTION, "g", 1_000)

    asyncio.run(main())
    assert len(brokers.asked) == 2


def test_old_brokers_are_asked_in_the_old_way() -> None:
    brokers = Brokers(OLD, version=2)
    asyncio.run(_find(brokers))
    assert brokers.asked == [FindCoordinatorRequest(key_type=0, key="g")]


def test_passing_troubles_are_waited_out() -> None:
    brokers = Brokers(LOADING, NetworkError("gone"), FOUND)
    assert asyncio.run(_find(brokers)) == 3


def test_a_refusal_is_told() -> None:
    with pytest.raises(GroupAuthorizationFailedError):
        asyncio.run(_find(Brokers(FORBIDDEN)))


def test_patience_ends_with_the_last_reason() -> None:
    with pytest.raises(KafkaTimeoutError, match="no coordinator of group 'g' was found within 20 ms"):
        asyncio.run(_find(Brokers(LOADING), timeout_ms=20))


def test_those_who_wait_hear_of_the_end() -> None:
    async def never(request: Callable[[int], FindCoordinatorRequest], timeout_ms: int) -> FindCoordinatorResponse:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("unreachable")

    async def main() -> None:
        lookup = CoordinatorLookup(never, lambda broker: None, Backoff(0, 0))
        waiting = asyncio.create_task(lookup.find(GROUP, "g", 60_000))
        await asyncio.sleep(0)
        await lookup.close()
        with pytest.raises(ClosedError):
            await waiting

    asyncio.run(main())


async def _find(brokers: Brokers, timeout_ms: int = 10_000) -> int:
    return await brokers.lookup().find(GROUP, "g", timeout_ms)
