"""Which slices of an Arrow batch go where."""

import pyarrow as pa
import pytest

from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.row_routing import RowRouting


def routed(routing: RowRouting, **columns: list[object]) -> list[tuple[str, int, list[object]]]:
    batch = pa.record_batch({name: _array(name, values) for name, values in columns.items()})
    return [(found.topic, found.partition, found.rows.column("value").to_pylist()) for found in routing.route(batch)]


def _array(name: str, values: list[object]) -> pa.Array:
    return pa.array(values, pa.int32()) if name == "partition" else pa.array(values)


def four(_topic: str, _at_least: int) -> int:
    return 4


def test_keys_go_where_every_kafka_client_puts_them_and_stay_in_order() -> None:
    keys = [b"a", b"b", b"c", b"a", b"b", b"a"]
    found = routed(RowRouting("t", four), key=keys, value=[b"%d" % row for row in range(6)])
    for key in set(keys):
        partition = partition_of_key(key, 4)
        [rows] = [values for _, number, values in found if number == partition]
        wanted = [b"%d" % row for row, other in enumerate(keys) if partition_of_key(other, 4) == partition]
        assert rows == wanted


def test_text_keys_hash_as_their_utf8_bytes() -> None:
    [(_, partition, _)] = routed(RowRouting("t", four), key=["zürich"], value=["x"])
    assert partition == partition_of_key("zürich".encode(), 4)


def test_the_partition_column_wins_over_the_key_and_null_leaves_it_to_the_key() -> None:
    found = routed(RowRouting("t", four), key=[b"k", b"k"], partition=[3, None], value=[b"given", b"hashed"])
    by_key = partition_of_key(b"k", 4)
    assert by_key != 3
    assert sorted(found) == sorted([("t", 3, [b"given"]), ("t", by_key, [b"hashed"])])


def test_rows_without_key_and_partition_take_the_partitions_in_turn_a_slice_each() -> None:
    routing = RowRouting("t", four)
    partitions = [routed(routing, value=[b"a", b"b"])[0][1] for _ in range(8)]
    assert sorted(partitions) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_times_travel_with_their_rows() -> None:
    batch = pa.record_batch({"value": ["a", "b"], "partition": pa.array([1, 0], pa.int32()), "timestamp": [5, None]})
    found = {each.partition: each.rows.column("timestamp").to_pylist() for each in RowRouting("t", four).route(batch)}
    assert found == {1: [5], 0: [None]}


def test_null_keys_among_others_go_together() -> None:
    found = routed(RowRouting("t", lambda *_: 1000), key=[None, b"k", None], value=[b"1", b"2", b"3"])
    assert [b"1", b"3"] in [values for _, _, values in found]
    assert sum(len(values) for _, _, values in found) == 3


def test_the_topic_column_separates_and_the_option_wins() -> None:
    columns = {"topic": ["b", "a", "b"], "value": [b"1", b"2", b"3"], "partition": [0, 0, 0]}
    assert sorted(routed(RowRouting(None, four), **columns)) == [("a", 0, [b"2"]), ("b", 0, [b"1", b"3"])]
    assert routed(RowRouting("all", four), **columns) == [("all", 0, [b"1", b"2", b"3"])]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"topic": ["a", None], "value": [b"1", b"2"]}, "column 'topic': a row has none"),
        ({"topic": ["a"], "partition": [4], "value": [b"1"]}, "a has partitions 0 to 3, not 4"),
        ({"topic": ["a"], "partition": [-1], "value": [b"1"]}, "a has partitions 0 to 3, not -1"),
    ],
)
def test_what_is_no_place_is_refused(columns: dict[str, list[object]], words: str) -> None:
    with pytest.raises(SinkError, match=words):
        routed(RowRouting(None, four), **columns)


def test_a_topic_that_grows_is_asked_for_again() -> None:
    known = iter((2, 2, 3))
    needed = []

    def count(_topic: str, at_least: int) -> int:
        needed.append(at_least)
        return next(known)

    routing = RowRouting("t", count)
    routed(routing, key=[b"k"], value=[b"1"])
    routed(routing, partition=[1, None], value=[b"2", b"3"])
    assert routed(routing, partition=[2], value=[b"4"]) == [("t", 2, [b"4"])]
    assert needed == [1, 2, 3]


def test_slices_of_larger_arrays_and_empty_batches() -> None:
    batch = pa.record_batch({"key": ["x", "a", "b", "y"], "value": ["0", "1", "2", "3"]}).slice(1, 2)
    found = {value for routed in RowRouting("t", four).route(batch) for value in routed.rows["value"].to_pylist()}
    assert found == {"1", "2"}
    assert list(RowRouting("t", four).route(batch.slice(0, 0))) == []
