"""Records of a task in columns: what comes in is decoded as single records are, and what goes out is all there."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

import pyarrow as pa

from ottla.client.record import TopicPartition
from ottla.pipelines.streams.arrow_feed import READ, ArrowFeed, records_of
from ottla.pipelines.streams.output_column import counted_rows, rows_of
from ottla.streams import Consumed, Produced, Serdes, StreamsBuilder, Topology
from ottla.streams.engine.error_handler import InputRecord, OutputRecord, log_and_continue
from ottla.streams.errors import ProcessingError, RecordDecodeError
from ottla.streams.host.application import Application
from ottla.streams.host.batch_run import BatchRun, ColumnFeed
from ottla.streams.host.output_column import OutputColumns
from ottla.streams.state.local_state import LocalState

PLACE = TopicPartition("in", 0)
TEXT = Serdes.string()
HEADERS = pa.list_(pa.field("element", pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))
Given = tuple[bytes | None, bytes | None]


def batch_of(given: Sequence[Given], headers: Sequence[Any] | None = None, first_time: int = 5) -> Any:
    keys, values = zip(*given, strict=True)
    arrays = [
        pa.array(keys, pa.binary()),
        pa.array(values, pa.binary()),
        pa.array(range(10, 10 + len(given))),
        pa.array([1_000 * (first_time + number) for number in range(len(given))], pa.timestamp("us", "UTC")),
        pa.array(headers or [None] * len(given), HEADERS),
    ]
    return pa.RecordBatch.from_arrays(arrays, list(READ))


def topology() -> Topology:
    builder = StreamsBuilder()
    stream = builder.stream("in", Consumed.with_(TEXT, TEXT)).filter(lambda key, value: value != "no")
    counted = stream.group_by_key().count(materialized_as=None).to_stream()
    counted.map_values(str).to("counts", Produced.with_(TEXT, TEXT))
    stream.map_values(lambda value: f"{value}!").to("out", Produced.with_(TEXT, TEXT))
    return builder.build()


def run(path: Any, feed: ColumnFeed | Iterator[InputRecord], **config: Any) -> tuple[list[OutputRecord], Any, int]:
    """What is written, the numbers that are kept, and how many records were left out."""
    given = {"application.id": "app", "default.key.serde": TEXT, "default.value.serde": TEXT, **config}
    application = Application.planned(topology(), given, {"in": 1})
    with LocalState(path, "app", is_synced=False) as state:
        state.restore().commit({"in": 10}, {})
        batch = state.begin({"in": 10})
        done = BatchRun(application, 0, batch)
        try:
            written = [
                record
                for columns in done.outputs({"in": feed})
                for one in sorted(columns, key=lambda one: one.topic)
                for record in one.records()
            ]
        finally:
            batch.abort()
    return written, done.times, done.dropped_records


PAIRS: list[Given] = [(b"a", b"1"), (None, b"2"), (b"a", b"no"), (b"b", None), ("ü".encode(), b"3"), (b"a", b"4")]


def test_columns_give_what_single_records_give(tmp_path: Any) -> None:
    headers = [[{"key": "h", "value": b"x"}], None, None, None, [], None]
    batches = [batch_of(PAIRS, headers), batch_of(PAIRS)]
    found = run(tmp_path / "columns", ArrowFeed(PLACE, iter(batches)))
    assert found == run(tmp_path / "records", records_of(PLACE, iter(batches)))
    assert len(found[0]) > len(PAIRS)


def test_what_cannot_be_decoded_goes_to_the_handler(tmp_path: Any) -> None:
    batch = batch_of([*PAIRS, (b"a", b"\xff")])
    with pytest.raises(RecordDecodeError, match="in-0 at offset 16"):
        run(tmp_path / "a", ArrowFeed(PLACE, iter([batch])))
    config = {"deserialization.exception.handler": log_and_continue}
    found = run(tmp_path / "b", ArrowFeed(PLACE, iter([batch])), **config)
    assert found == run(tmp_path / "c", records_of(PLACE, iter([batch])), **config)
    assert found[2] == run(tmp_path / "d", ArrowFeed(PLACE, iter([batch_of(PAIRS)])))[2] + 1


def test_an_error_names_the_record() -> None:
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(TEXT, TEXT)).map_values(int).to("out", Produced.with_(TEXT, Serdes.long()))
    application = Application.planned(builder.build(), {"application.id": "app"}, {"in": 1})

    class Nothing:
        times: dict[str, Any] = {}  # noqa: RUF012  (nothing is written to it)

    done = BatchRun(application, 0, Nothing())  # type: ignore[arg-type]  # no store, no state
    with pytest.raises(ProcessingError, match="KSTREAM-MAPVALUES-0000000001 failed on the record of in-0 at offset 11"):
        list(done.outputs({"in": ArrowFeed(PLACE, iter([batch_of([(b"a", b"1"), (b"b", b"x")])]))}))


def test_times_before_1970_are_judged_record_by_record(tmp_path: Any) -> None:
    with pytest.raises(Exception, match=r"offset 10 has invalid \(negative\) timestamp -1"):
        run(tmp_path, ArrowFeed(PLACE, iter([batch_of(PAIRS, first_time=-1)])))


def test_rows_have_what_records_have() -> None:
    columns = OutputColumns("out")
    columns.add_record(OutputRecord("out", b"k", b"1", 5, (("h", b"x"),)))
    columns.add_record(OutputRecord("out", None, None, 6, (), 2))
    assert rows_of(columns).to_pylist() == [
        {"topic": "out", "partition": None, "key": b"k", "value": b"1", "timestamp": 5,
         "headers": [{"key": "h", "value": b"x"}]},
        {"topic": "out", "partition": 2, "key": None, "value": None, "timestamp": 6, "headers": None},
    ]  # fmt: skip
    assert rows_of(columns.taken()).num_rows == 2
    assert len(columns) == 0


def test_rows_of_many_topics_can_be_joined() -> None:
    many = []
    for number in range(300):
        columns = OutputColumns(f"out-{number}")
        columns.add(b"k", b"v", number, ())
        many.append(rows_of(columns))
    assert pa.concat_batches(many).column("topic").to_pylist() == [f"out-{number}" for number in range(300)]


def test_spark_counts_a_row_for_each_record() -> None:
    assert [batch.num_rows for batch in counted_rows(100_000)] == [65_536, 34_464]
    assert list(counted_rows(0)) == []
