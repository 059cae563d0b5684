"""Requests that take long: others have a turn, and the client gets its whole answer."""

from collections.abc import Callable

import pytest

from ottla.base.metric import MetricRegistry
from ottla.broker.request.answerer import find_handler
from ottla.broker.request.api_table import BROKER_SERVED
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.request.request_limit import elements_max
from ottla.broker.request.route import Route, RouteKind
from ottla.protocol.api_key import ApiKey
from ottla.protocol.messages.heartbeat import HeartbeatResponse
from ottla.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from tests.unit.broker.recorder import CORRELATION_ID, RecordedExchange


class Turns(RecordedExchange):
    """An exchange that keeps what is to be called after the others."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], None]] = []

    def after_others(self, callback: Callable[[], None]) -> None:
        self.waiting.append(callback)


@pytest.fixture
def exchange() -> Turns:
    return Turns()


@pytest.fixture
def context(exchange: Turns) -> RequestContext:
    return context_of(exchange, ApiKey.HEARTBEAT, 4)


def context_of(exchange: Turns, api: ApiKey, version: int) -> RequestContext:
    """A request on a machine on which every look at the clock takes a millisecond."""
    now = iter(range(10**9))
    kind = RouteKind(is_controller=False, metrics=MetricRegistry(), time=lambda: next(now) / 1000)
    served = BROKER_SERVED.served[api]
    handler = find_handler(BROKER_SERVED.handlers, api, served.answerer)
    return RequestContext(Route(api, version, handler, served, kind), CORRELATION_ID, "probe", exchange)  # type: ignore[arg-type]


def steps(count: int) -> WorkInTurns:
    for _ in range(count):
        yield
    return HeartbeatResponse(throttle_time_ms=count)


def test_short_work_is_answered_at_once(context: RequestContext, exchange: Turns) -> None:
    assert context.in_turns(steps(5)) == HeartbeatResponse(throttle_time_ms=5)
    assert not exchange.waiting


def test_long_work_lets_others_pass_and_is_answered_once(context: RequestContext, exchange: Turns) -> None:
    assert context.in_turns(steps(1000)) is None
    turns = 0
    while exchange.waiting:
        assert not exchange.is_done
        exchange.waiting.pop()()
        turns += 1
    assert exchange.response(ApiKey.HEARTBEAT, 4) == HeartbeatResponse(throttle_time_ms=1000)
    assert turns > 10


def test_a_long_answer_is_encoded_in_turns_with_others(exchange: Turns) -> None:
    context = context_of(exchange, ApiKey.LIST_GROUPS, 4)
    response = ListGroupsResponse(groups=[ListedGroup(group_id=f"group-{number}") for number in range(20_000)])
    context.answer(response)
    turns = 0
    while exchange.waiting:
        assert not exchange.is_done
        exchange.waiting.pop()()
        turns += 1
    assert turns > 10
    assert exchange.response(ApiKey.LIST_GROUPS, 4) == response


def test_nobody_works_for_a_client_that_is_gone(context: RequestContext, exchange: Turns) -> None:
    context.in_turns(steps(1000))
    exchange.connection.closed_with = "gone"
    exchange.waiting.pop()()
    assert not exchange.waiting


def test_a_mistake_in_a_later_turn_costs_the_connection(context: RequestContext, exchange: Turns) -> None:
    def failing() -> WorkInTurns:
        yield from steps(100)
        raise ZeroDivisionError

    context.in_turns(failing())
    while exchange.waiting:
        exchange.waiting.pop()()
    assert exchange.connection.closed_with == "ZeroDivisionError at the end of HEARTBEAT"


@pytest.mark.parametrize(
    "api",
    [
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.DELETE_RECORDS,
    ],
)
def test_every_partition_of_a_large_cluster_can_be_named(api: ApiKey) -> None:
    topics, partitions = 5_000, 200_000
    assert elements_max(api) >= topics + partitions
