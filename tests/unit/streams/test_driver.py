"""TopologyTestDriver and its topics: times of records, what can be read when, and stores by their kinds."""

from datetime import timedelta
from typing import Any

import pytest

from ottla.streams import (
    Consumed,
    Materialized,
    Produced,
    Serdes,
    StreamsBuilder,
    StreamsError,
    TimeWindows,
    Topology,
    TopologyTestDriver,
)

TEXT = Serdes.string()


def copying() -> Topology:
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(TEXT, TEXT)).to("out", Produced.with_(TEXT, TEXT))
    return builder.build()


def times(driver: TopologyTestDriver) -> list[int]:
    return [record.timestamp for record in driver.create_output_topic("out", TEXT, TEXT).read_records_to_list()]


def test_records_without_a_time_have_the_one_of_the_topics_making() -> None:
    with TopologyTestDriver(copying(), initial_wall_clock_ms=100) as driver:
        source = driver.create_input_topic("in", TEXT, TEXT)
        driver.advance_wall_clock_time(50)
        source.pipe_input("a", "x")
        source.advance_time(timedelta(milliseconds=7))
        source.pipe_input("a", "y")
        source.pipe_input("a", "z", 3)
        driver.create_input_topic("in", TEXT, TEXT).pipe_input("a", "w")
        assert times(driver) == [100, 107, 3, 150]


def test_a_topic_advances_by_itself() -> None:
    with TopologyTestDriver(copying()) as driver:
        source = driver.create_input_topic("in", TEXT, TEXT, start_timestamp=5, auto_advance=10)
        source.pipe_key_value_list([("a", "x"), ("b", "y")])
        source.pipe_value_list(["z"])
        source.pipe_key_value_list([("a", "x"), ("b", "y")], 70, timedelta(milliseconds=2))
        source.pipe_value_list(["z"], 90)
        source.pipe_input("a", "last")
        assert times(driver) == [5, 15, 25, 70, 72, 90, 35]


def test_time_does_not_go_back() -> None:
    with TopologyTestDriver(copying()) as driver:
        with pytest.raises(ValueError, match="autoAdvance must be positive"):
            driver.create_input_topic("in", TEXT, TEXT, auto_advance=-1)
        with pytest.raises(ValueError, match="advance must be positive"):
            driver.create_input_topic("in", TEXT, TEXT).advance_time(-1)
        with pytest.raises(ValueError, match="Sleep ms cannot be negative"):
            driver.advance_wall_clock_time(-1)


def test_what_was_not_written_cannot_be_read() -> None:
    with TopologyTestDriver(copying()) as driver:
        result = driver.create_output_topic("out", TEXT, TEXT)
        assert driver.produced_topic_names() == set()
        assert (result.is_empty(), result.get_queue_size(), result.read_records_to_list()) == (True, 0, [])
        with pytest.raises(StreamsError, match="Uninitialized topic: out"):
            result.read_record()
        source = driver.create_input_topic("in", TEXT, TEXT)
        source.pipe_input("a", "x")
        assert result.read_key_value() == ("a", "x")
        with pytest.raises(StreamsError, match="Empty topic: out"):
            result.read_value()
        assert driver.produced_topic_names() == {"out"}
        source.pipe_input(None, "x")
        with pytest.raises(StreamsError, match="Null keys not allowed"):
            result.read_key_values_to_map()
        with pytest.raises(StreamsError, match="Unknown topic: nowhere"):
            driver.create_input_topic("nowhere", TEXT, TEXT).pipe_input("a", "x")


def stores() -> Topology:
    builder = StreamsBuilder()
    builder.table("t", Consumed.with_(TEXT, TEXT), Materialized.as_("rows"))
    windows = (
        builder.stream("in", Consumed.with_(TEXT, TEXT))
        .group_by_key()
        .windowed_by(TimeWindows.of_size_with_no_grace(10))
    )
    counts: Materialized[str, int] = Materialized.as_("windows")
    windows.count(materialized_as=counts.with_retention(1000))
    return builder.build()


def test_stores_are_found_by_their_kind() -> None:
    with TopologyTestDriver(stores()) as driver:
        assert driver.get_state_store("nothing") is None
        finders: list[Any] = [
            driver.get_key_value_store,
            driver.get_timestamped_key_value_store,
            driver.get_window_store,
            driver.get_timestamped_window_store,
            driver.get_session_store,
            driver.get_versioned_key_value_store,
        ]
        found = {name: [find(name) is not None for find in finders] for name in ("rows", "windows", "nothing")}
        assert found == {
            "rows": [True, True, False, False, False, False],
            "windows": [False, False, True, True, False, False],
            "nothing": [False] * 6,
        }


def test_a_store_can_be_filled_before_the_first_record() -> None:
    with TopologyTestDriver(stores()) as driver:
        rows = driver.get_key_value_store("rows")
        rows.put("a", "x")
        rows.put_all([("b", "y"), ("c", "z")])
        assert rows.put_if_absent("a", "other") == "x"
        assert list(rows.reverse_range("a", "b")) == [("b", "y"), ("a", "x")]
        assert driver.get_timestamped_key_value_store("rows").get("a") == ("x", -1)


def test_windows_of_a_table_are_read_in_both_directions() -> None:
    with TopologyTestDriver(stores()) as driver:
        source = driver.create_input_topic("in", TEXT, TEXT)
        for key, timestamp in [("a", 5), ("b", 6), ("a", 15), ("c", 25), ("a", 26)]:
            source.pipe_input(key, "x", timestamp)
        windows = driver.get_window_store("windows")
        assert list(windows.fetch("a", 0, 20)) == [(0, 1), (10, 1), (20, 1)]
        assert list(windows.backward_fetch("a", 10, 20)) == [(20, 1), (10, 1)]
        every = [(key.key, key.window.start) for key, _ in windows.all()]
        assert every == [("a", 0), ("a", 10), ("a", 20), ("b", 0), ("c", 20)]
        assert [(key.key, key.window.start) for key, _ in windows.backward_all()] == every[::-1]
        ranged = [(key.key, key.window.start) for key, _ in windows.fetch_range("b", None, 0, 20)]
        assert ranged == [("b", 0), ("c", 20)]
        back = [(key.key, key.window.start) for key, _ in windows.backward_fetch_range(None, "b", 0, 10)]
        assert back == [("b", 0), ("a", 10), ("a", 0)]
        assert len(list(windows.backward_fetch_all(20, 20))) == 2
