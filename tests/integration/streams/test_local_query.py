"""Interactive queries: what stores of a running instance say, of every kind, and which instance has a key."""

from pathlib import Path
from typing import Any

import pytest

from ottla.streams import (
    Consumed,
    Grouped,
    Materialized,
    RunState,
    SessionWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
    Topology,
    Window,
    Windowed,
)
from ottla.streams.local.kafka_streams import KafkaStreams
from ottla.streams.local.query.place import HostInfo
from ottla.streams.local.query.reader import (
    InvalidStateStoreError,
    QueryableStoreType,
    StreamsNotRunningError,
    UnknownStateStoreError,
)
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import TEXT, counting, counts, expected, local, produce, wait_until
from tests.kafka.server import Server

VALUES = [f"v{number % 5}" for number in range(50)]


def stores(source: str) -> Topology:
    """A store of each kind, filled with counts of values; `produce` gives records a millisecond each from 1,000 on."""
    builder = StreamsBuilder()
    grouped = builder.stream(source, Consumed.with_(TEXT, TEXT)).group_by(lambda k, v: v, Grouped.with_(TEXT, TEXT))
    grouped.count(materialized_as=Materialized.as_("on-disk"))
    grouped.count(materialized_as=Materialized.as_(Stores.in_memory_key_value_store("in-memory")))
    windowed = grouped.windowed_by(TimeWindows.of_size_and_grace(20, 100))
    windowed.count(materialized_as=Materialized.as_("windows"))
    sessions = grouped.windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(100))
    sessions.count(materialized_as=Materialized.as_("sessions"))
    return builder.build()


@pytest.mark.parametrize("name", ["on-disk", "in-memory"])
def test_a_key_value_store_is_read_by_key_and_in_order(
    name: str, broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source = topic()
    produce(broker.bootstrap, source, VALUES)
    streams = local(stores(source), broker.bootstrap, application_id=f"kinds-{name}", state_dir=str(tmp_path))
    with pytest.raises(StreamsNotRunningError, match="State is CREATED"):
        streams.store(name)
    with streams:
        assert streams.wait_for(RunState.RUNNING, 60)
        store = streams.store(name, QueryableStoreType.KEY_VALUE)
        wait_until(lambda: store.get("v4") == 10, streams)
        everything = [(f"v{number}", 10) for number in range(5)]
        assert list(store.all()) == everything
        assert list(store.reverse_all()) == everything[::-1]
        assert list(store.range("v1", "v3")) == everything[1:4]
        assert list(store.reverse_range("v1", None)) == everything[:0:-1]
        assert list(store.prefix_scan(b"v2")) == [("v2", 10)]
        assert store.approximate_num_entries() == 5
        assert store.get("nothing") is None
        with_times = streams.store(name, QueryableStoreType.TIMESTAMPED_KEY_VALUE)
        assert with_times.get("v4") == (10, 1_049)
        with pytest.raises(UnknownStateStoreError, match="no such store is registered"):
            streams.store("none")
        with pytest.raises(InvalidStateStoreError, match="does not accept the actual store type"):
            streams.store(name, QueryableStoreType.WINDOW)
    with pytest.raises(StreamsNotRunningError):
        store.get("v4")


def test_windows_and_sessions_are_read_by_key_and_time(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source = topic()
    produce(broker.bootstrap, source, VALUES)
    with local(stores(source), broker.bootstrap, application_id="windowed", state_dir=str(tmp_path)) as streams:
        assert streams.wait_for(RunState.RUNNING, 60)
        windows, sessions = streams.store("windows"), streams.store("sessions")
        wait_until(lambda: windows.fetch_window("v4", 1_040) == 2, streams)
        assert list(windows.fetch("v4", 1_000, 1_030)) == [(1_000, 4), (1_020, 4)]
        assert len(list(windows.fetch_all(1_040, 1_040))) == 5
        assert len(list(windows.all())) == 15
        assert streams.store("windows", QueryableStoreType.TIMESTAMPED_WINDOW).fetch_window("v4", 1_040) == (2, 1_049)
        assert list(sessions.fetch("v4")) == [(Windowed("v4", Window(1_004, 1_049)), 10)]
        assert sessions.fetch_session("v4", 1_004, 1_049) == 10


def test_a_long_scan_goes_on_while_records_come(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, target = topic(), topic()
    values = [f"value {number:05}" for number in range(2_000)]
    produce(broker.bootstrap, source, values)
    config: dict[str, Any] = {"application_id": "scanning", "state_dir": str(tmp_path), "commit_interval_ms": "1"}
    with local(counting(source, target), broker.bootstrap, processing_guarantee="exactly_once_v2", **config) as streams:
        wait_until(lambda: len(counts(broker.bootstrap, target, 1)) == 2_000, streams)
        scan = streams.store("counts").all()
        first = [next(scan) for _ in range(10)]
        produce(broker.bootstrap, source, values)
        wait_until(lambda: counts(broker.bootstrap, target, 1) == expected(values * 2), streams)
        rest = list(scan)
    assert [key for key, _ in first + rest] == sorted(values)


def test_the_owner_of_a_key_is_found_and_a_copy_is_read_if_that_is_allowed(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    topology = counting(source, target)
    config = {"application_id": "owners", "num_standby_replicas": "1", "processing_guarantee": "exactly_once_v2"}
    first, second = (
        local(
            topology, broker.bootstrap, state_dir=str(tmp_path / name), application_server=f"localhost:{port}", **config
        )
        for name, port in (("a", 7_001), ("b", 7_002))
    )
    with first, second:
        instances: dict[int, KafkaStreams] = {7_001: first, 7_002: second}
        wait_until(lambda: all(one.metrics().get("active-tasks") == 2 for one in instances.values()), first, second)
        produce(broker.bootstrap, source, VALUES)
        wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES), first, second)
        wait_until(lambda: all(one.metrics().get("standby-tasks") == 1 for one in instances.values()), first, second)
        places = first.streams_metadata_for_store("counts")
        assert [one.host.port for one in places] == [7_001, 7_002]
        assert {one.host for one in second.metadata_for_all_streams_clients()} == {one.host for one in places}
        for key in ("v0", "v1", "v2", "v3", "v4"):
            found = first.query_metadata_for_key("counts", key)
            assert found == second.query_metadata_for_key("counts", key)
            assert found.active_host is not None
            owner = instances[found.active_host.port]
            assert owner.store("counts", partition=found.partition).get(key) == 10
            (copy_at,) = found.standby_hosts
            assert copy_at == HostInfo("localhost", 7_001 + 7_002 - found.active_host.port)
            other = instances[copy_at.port]
            with pytest.raises(InvalidStateStoreError, match="may have migrated to another instance"):
                other.store("counts", partition=found.partition)
            copy = other.store("counts", partition=found.partition, stale=True)
            wait_until(lambda copy=copy, key=key: copy.get(key) == 10, first, second)  # type: ignore[misc]
