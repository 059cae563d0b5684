"""Loading leaves the loop to others again and again, also within a large batch, and a load that failed is repeated."""

import errno
import logging
from collections.abc import Callable
from itertools import count, pairwise

import pytest

from ottla.broker.coordinator_host.coordinator_load import RETRY_MS_MAX, RETRY_MS_MIN, ReadInThread
from ottla.coordinator.runtime.shard import ShardStatus
from tests.unit.broker.coordinator_host.conftest import CoordinatorBroker
from tests.unit.broker.coordinator_host.test_group_call import commit, fetch

FAILED = 'kafka_server_group_coordinator_metrics_num_partitions{state="failed"}'

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


@pytest.fixture
def partition(make_coordinator: Callable[..., CoordinatorBroker]) -> int:
    """Holds an offset of a group, 7 in `orders`, that a broker which is closed now has committed."""
    first = make_coordinator()
    first.create_internal()
    first.broker.create("orders", 1)
    commit(first, "orders", 0, offset=7)
    first.broker.close()
    return first.broker.coordinators.groups.partition_for("g")


def reads_by(coordinator: CoordinatorBroker, read: ReadInThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the log of the groups read so."""
    loader = coordinator.broker.coordinators._loaders[0]
    monkeypatch.setattr(loader, "_settings", loader._settings._replace(read=read))


def test_a_load_that_failed_is_repeated_until_it_succeeds(
    make_coordinator: Callable[..., CoordinatorBroker],
    partition: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    again = make_coordinator()
    shards = again.broker.coordinators.groups.shards
    again.broker.create("orders", 1)
    broken = True

    def read(source: Callable[[], bytes], done: Callable[[bytes | Exception], None]) -> None:
        result = OSError(errno.EIO, "Input/output error") if broken else source()
        again.broker.loop.call_soon(lambda: done(result))

    reads_by(again, read, monkeypatch)
    with caplog.at_level(logging.ERROR):
        again.create_internal()
        again.broker.loop.run()
    assert f"[__consumer_offsets-{partition}] Not loaded (try 1)" in caplog.text
    assert "next try in 1 s: [Errno 5] Input/output error" in caplog.text
    assert f"{FAILED} 1" in again.broker.scrape()
    assert shards.find_active(partition) is None

    again.broker.loop.advance(10 * RETRY_MS_MAX)
    assert "(try 4)" in caplog.text
    assert "next try in 60 s" in caplog.text
    assert f"{FAILED} 1" in again.broker.scrape()

    broken = False
    again.broker.loop.advance(RETRY_MS_MAX)
    assert f"{FAILED} 0" in again.broker.scrape()
    assert fetch(again) == {("orders", 0): 7}


def test_a_partition_that_another_broker_took_over_is_not_tried_again(
    make_coordinator: Callable[..., CoordinatorBroker],
    partition: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    again = make_coordinator()

    def read_damaged(source: Callable[[], bytes], done: Callable[[bytes | Exception], None]) -> None:
        damaged = source()[:-1] + b"?"
        again.broker.loop.call_soon(lambda: done(damaged))

    reads_by(again, read_damaged, monkeypatch)
    again.create_internal()
    again.broker.loop.run()
    assert "does not match its checksum" in caplog.text
    again.broker.coordinators.groups.shards.resigned(partition, 9)
    again.broker.loop.advance(RETRY_MS_MIN)
    assert f"{FAILED} 0" in again.broker.scrape()
    assert caplog.text.count("Not loaded") == 1
