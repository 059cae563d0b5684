"""ListTransactions and DescribeTransactions."""

import pytest

from ottla.coordinator.runtime.shard import Shard
from ottla.protocol.messages.list_transactions import ListTransactionsRequest
from tests.unit.coordinator.txn.world import A0, World


@pytest.fixture
def world() -> World:
    """orders-writer is open since 1,000 ms; x and y are idle."""
    world = World()
    world.add(world.producer(), A0)
    world.init(transactional_id="x-1")
    world.init(transactional_id="x-2")
    return world


def _ids(world: World, **fields: object) -> list[str]:
    response = world.coordinator.list_transactions(ListTransactionsRequest(**fields), world.now)  # type: ignore[arg-type]
    assert response.error_code == 0
    return sorted(entry.transactional_id for entry in response.transaction_states)


def test_all_of_them(world: World) -> None:
    response = world.coordinator.list_transactions(ListTransactionsRequest(), world.now)
    found = sorted(
        (entry.transactional_id, entry.producer_id, entry.transaction_state) for entry in response.transaction_states
    )
    assert found == [("orders-writer", 1_001, "Ongoing"), ("x-1", 1_002, "Empty"), ("x-2", 1_003, "Empty")]


def test_by_state_and_producer_id(world: World) -> None:
    assert _ids(world, state_filters=["Ongoing"]) == ["orders-writer"]
    assert _ids(world, state_filters=["Ongoing", "Empty"], producer_id_filters=[1_003]) == ["x-2"]
    assert _ids(world, state_filters=["Dead"]) == []


def test_unknown_states_come_back_and_match_nothing(world: World) -> None:
    request = ListTransactionsRequest(state_filters=["Ongoing", "ongoing"])
    response = world.coordinator.list_transactions(request, world.now)
    assert response.unknown_state_filters == ["ongoing"]
    assert [entry.transactional_id for entry in response.transaction_states] == ["orders-writer"]
    assert _ids(world, state_filters=["Nothing"]) == []


def test_by_duration(world: World) -> None:
    world.pass_ms(500)
    assert _ids(world, duration_filter=499, state_filters=["Ongoing"]) == ["orders-writer"]
    assert _ids(world, duration_filter=500, state_filters=["Ongoing"]) == []
    assert len(_ids(world, duration_filter=-1)) == 3


def test_by_pattern_of_the_whole_id(world: World) -> None:
    assert _ids(world, transactional_id_pattern="x-[0-9]") == ["x-1", "x-2"]
    assert _ids(world, transactional_id_pattern="x") == []
    assert len(_ids(world, transactional_id_pattern="")) == 3


@pytest.mark.parametrize("pattern", ["(", "x-[", "(?=x).*", "(x)\\1", "x++", "(?>x)", "(?<!a)x"])
def test_patterns_that_re2_does_not_take(world: World, pattern: str) -> None:
    request = ListTransactionsRequest(transactional_id_pattern=pattern)
    assert world.coordinator.list_transactions(request, world.now).error_code == 128


@pytest.mark.parametrize("pattern", [r"x\++", r"[(?=]+", r"x-\d", "(?:x|y)-1", "(?i)X-1", r"[*+]+", r"\(\?="])
def test_patterns_that_it_takes(world: World, pattern: str) -> None:
    request = ListTransactionsRequest(transactional_id_pattern=pattern)
    assert world.coordinator.list_transactions(request, world.now).error_code == 0


def test_no_pattern_holds_the_broker_up(world: World) -> None:
    """Both keep a matcher that tries all ways busy for years; one ends at once, the other is given up."""
    world.init(transactional_id="a" * 5_000)
    world.init(transactional_id="ab" * 5_000)
    assert _ids(world, transactional_id_pattern="(a+)+x") == []
    request = ListTransactionsRequest(transactional_id_pattern="(.*a.{800})+")
    assert world.coordinator.list_transactions(request, world.now).error_code == 128


def test_while_a_shard_loads_there_is_no_list() -> None:
    world = World()

    def never(shard: Shard[object]) -> None:
        """A load that takes its time."""

    world._load = never  # type: ignore[method-assign, assignment]
    world.restart()
    assert world.coordinator.list_transactions(ListTransactionsRequest(), world.now).error_code == 14
    assert world.describe().error_code == 14
    assert world.init().error_code == 14


def test_describe(world: World) -> None:
    found = world.describe()
    assert (found.error_code, found.producer_id, found.producer_epoch) == (0, 1_001, 0)
    assert (found.transaction_timeout_ms, found.transaction_start_time_ms) == (60_000, 1_000)
    assert world.describe("nobody").error_code == 105
    assert world.describe("").error_code == 42
