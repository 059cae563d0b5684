"""A coordinator that loads leaves the loop to others again and again, also within a large batch."""

from collections.abc import Callable
from itertools import count, pairwise

import pytest

from ottla.coordinator.runtime.shard import ShardStatus
from tests.unit.broker.coordinator.conftest import CoordinatorBroker
from tests.unit.broker.coordinator.test_group_call import commit, fetch

RECORDS = 2_000


def test_others_have_their_turn_within_a_batch(
    make_coordinator: Callable[..., CoordinatorBroker], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_coordinator()
    first.create_internal()
    first.broker.create("orders", 2)
    commit(first, "orders", *[number % 2 for number in range(RECORDS)], offset=7)
    partition = first.broker.coordinators.groups.partition_for("g")
    first.broker.close()

    again = make_coordinator()
    loop, shards = again.broker.loop, again.broker.coordinators.groups.shards
    seen: list[int] = []

    def turn() -> None:
        """Somebody else's; gives up its own once all is loaded, or if it never is."""
        loading = next((shard for shard in shards if shard.partition == partition), None)
        assert len(seen) < 10 * RECORDS
        seen.append(-1 if loading is None else loading.end_offset)
        if loading is None or loading.status is ShardStatus.LOADING:
            loop.call_soon(turn)

    again.broker.create("orders", 2)
    ticks = count()
    monkeypatch.setattr(loop, "time", lambda: next(ticks) / 1000)
    loop.call_soon(turn)
    again.create_internal()
    ends = sorted(set(seen) - {-1})
    assert (ends[0], ends[-1]) == (0, RECORDS)
    assert max(after - before for before, after in pairwise(ends)) <= RECORDS / 4
    assert fetch(again) == {("orders", 0): 7, ("orders", 1): 7}
