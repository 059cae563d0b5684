"""Record batches to Arrow columns and back, on both twins."""

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import CorruptMessageError, DecodeError, EncodeError, MessageTooLargeError
from ottla.protocol.records import writer
from ottla.protocol.records.arrow.batches import EVERYTHING, HEADERS, Projection, decode, encode, encode_batches
from ottla.protocol.records.batch import HEADER_BYTES, batches
from ottla.protocol.records.columns_layout import BinarySource, Columns, Source, Wanted, Written
from ottla.protocol.records.reader import ReadOptions, read_tuples
from ottla.protocol.records.writer import BatchOptions, write_batch

NOW = 1_700_000_000_000
RECORDS = [
    (10, NOW, b"k", b"v", ()),
    (11, NOW + 5, None, b"", (("trace", b"1"), ("trace", None))),
    (14, NOW - 7, b"", None, (("", b""),)),
]
VECTORS = [
    json.loads(line)
    for path in sorted(Path("tests/vectors/batches").glob("*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]


@pytest.fixture(autouse=True)
def twin(column_twin: Any) -> Any:
    """Every test runs on both twins."""
    return column_twin


def tuples(records: Any) -> list[tuple[Any, ...]]:
    """An Arrow record batch as the tuples that the tuple reader gives."""
    records.validate(full=True)
    return [
        (
            row["offset"],
            row["timestamp"],
            row["key"],
            row["value"],
            tuple((header["key"], header["value"]) for header in row["headers"]),
        )
        for row in records.to_pylist()
    ]


AS_TUPLES = Projection(timestamps=pa.int64())


class TestDecode:
    def test_every_column(self) -> None:
        records = decode(write_batch(RECORDS), AS_TUPLES)
        assert tuples(records) == RECORDS
        assert records.column("timestamp_type").to_pylist() == [0, 0, 0]

    def test_the_schema_is_sparks(self) -> None:
        schema = decode(b"").schema
        assert schema == EVERYTHING.schema
        assert schema.field("headers").type == pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
        assert schema.field("timestamp").type == pa.timestamp("ms", "UTC")

    def test_many_batches_with_gaps_between_them(self) -> None:
        later = [(100, NOW, None, b"x" * 1000, ())]
        assert tuples(decode(write_batch(RECORDS) + write_batch(later), AS_TUPLES)) == RECORDS + later

    @pytest.mark.parametrize("codec", CompressionType)
    def test_every_codec(self, codec: CompressionType) -> None:
        batch = write_batch(RECORDS, BatchOptions(compression=codec))
        assert tuples(decode(batch + batch, AS_TUPLES)) == RECORDS * 2

    @pytest.mark.parametrize("cut", [1, 30, 61, 80])
    def test_a_last_batch_that_is_cut_short_is_left_out(self, cut: int) -> None:
        data = write_batch(RECORDS)
        assert tuples(decode(data + data[:cut], AS_TUPLES)) == RECORDS

    def test_records_before_the_offset_asked_for_are_dropped(self) -> None:
        data = write_batch(RECORDS[:1]) + write_batch(RECORDS)
        assert tuples(decode(data, AS_TUPLES, ReadOptions(from_offset=11))) == RECORDS[1:]
        assert decode(data, AS_TUPLES, ReadOptions(from_offset=15)).num_rows == 0

    def test_control_and_empty_batches_give_no_rows(self) -> None:
        control = write_batch([(5, NOW, b"\0\0\0\1", b"\0\0\0\0\0\0", ())], BatchOptions(is_control=True))
        assert tuples(decode(control + write_batch([]) + write_batch(RECORDS), AS_TUPLES)) == RECORDS
        assert decode(control, AS_TUPLES, ReadOptions(control_records=True)).num_rows == 1

    def test_log_append_time_is_every_records_timestamp(self) -> None:
        data = write_batch(RECORDS, BatchOptions(log_append_time=NOW + 99)) + write_batch(RECORDS)
        records = decode(data, AS_TUPLES)
        assert records.column("timestamp").to_pylist() == [NOW + 99] * 3 + [NOW, NOW + 5, NOW - 7]
        assert records.column("timestamp_type").to_pylist() == [1, 1, 1, 0, 0, 0]

    @pytest.mark.parametrize("columns", [("value",), ("timestamp_type", "key"), ("headers", "offset"), ()])
    def test_only_the_columns_asked_for_in_their_order(self, columns: tuple[str, ...]) -> None:
        records = decode(write_batch(RECORDS), Projection(columns))
        assert tuple(records.schema.names) == columns
        if columns:
            assert records.equals(decode(write_batch(RECORDS)).select(columns))

    @pytest.mark.parametrize("columns", [("value", "value"), ("topic",)])
    def test_columns_that_no_record_has_are_refused(self, columns: tuple[str, ...]) -> None:
        with pytest.raises(ValueError, match="columns are some of"):
            Projection(columns)

    def test_timestamps_of_another_type(self) -> None:
        micros = decode(write_batch(RECORDS), Projection(("timestamp",), pa.timestamp("us", "UTC")))
        assert micros.column(0).cast(pa.int64()).to_pylist() == [NOW * 1000, (NOW + 5) * 1000, (NOW - 7) * 1000]
        with pytest.raises(ValueError, match="timestamps are"):
            Projection(timestamps=pa.string())

    def test_timestamps_that_the_type_cannot_hold_are_refused(self) -> None:
        data = write_batch([(0, 2**62, None, b"", ())])
        with pytest.raises(DecodeError, match=r"^timestamp: "):
            decode(data, Projection(timestamps=pa.timestamp("ns")))

    def test_columns_without_null_have_no_validity(self) -> None:
        records = decode(write_batch([(0, NOW, b"k", b"v", ())]))
        assert [column.null_count for column in records.columns] == [0] * 6
        assert records.column("key").buffers()[0] is None

    def test_nulls_far_into_a_column(self) -> None:
        rows = [(i, NOW, None if i % 13 == 12 else b"%d" % i, None if i == 3000 else b"v", ()) for i in range(3001)]
        assert tuples(decode(write_batch(rows[:2000]) + write_batch(rows[2000:]), AS_TUPLES)) == rows

    def test_a_header_key_that_is_not_utf8_is_read_with_replacement_characters(self) -> None:
        data = bytes(write_batch([(0, NOW, None, b"v", (("ab", b"1"), ("é", b"2")))])).replace(b"ab", b"a\xff")
        records = decode(data, AS_TUPLES, ReadOptions(check_crcs=False))
        assert tuples(records)[0][4] == (("a\ufffd", b"1"), ("é", b"2"))

    def test_any_buffer_will_do(self) -> None:
        data = bytes(write_batch(RECORDS))
        for buffer in (data, bytearray(data), memoryview(data), pa.py_buffer(data)):
            assert tuples(decode(buffer, AS_TUPLES)) == RECORDS

    def test_the_columns_outlive_the_buffer(self) -> None:
        data = write_batch(RECORDS)
        records = decode(data, AS_TUPLES)
        data[:] = bytes(len(data))
        assert tuples(records) == RECORDS
        more = [decode(write_batch([(0, NOW, None, b"y" * 200_000, ())])) for _ in range(3)]
        del more[0]
        assert more[0].column("value")[0].as_py() == b"y" * 200_000

    @pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['name']}-{vector['baseOffset']}")
    def test_batches_that_apache_kafka_wrote(self, vector: dict[str, Any]) -> None:
        options = ReadOptions(control_records=True)
        data = bytes.fromhex(vector["hex"])
        assert tuples(decode(data, AS_TUPLES, options)) == read_tuples(data, options)
        assert [row["value"] for row in decode(data, AS_TUPLES, options).to_pylist()] == [
            None if record["value"] is None else bytes.fromhex(record["value"]) for record in vector["records"]
        ]


class TestMalformed:
    def test_old_messages_are_not_compressed_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        vector = next(vector for vector in VECTORS if vector["magic"] == 1 and vector["codec"] == "gzip")
        message = bytes.fromhex(vector["hex"])
        expected = read_tuples(message)
        monkeypatch.setattr(writer, "compress", None)
        assert tuples(decode(message, Projection(timestamps=pa.int64()))) == expected

    def test_a_wrong_crc(self) -> None:
        data = write_batch(RECORDS)
        data[-1] ^= 1
        with pytest.raises(CorruptMessageError, match="offset 10"):
            decode(data)

    @pytest.mark.parametrize(
        ("section", "count", "path", "position"),
        [
            ("", 1, "records", 0),
            ("0e", 1, "records[0].length", 0),
            ("ffffffffff01", 1, "records[0].length", 0),
            ("0c000000020004", 1, "records[0].value", 6),
            ("0c00000001017f", 1, "records[0].headers", 6),
            ("0c000000010100" * 2, 1, "records", 7),
            ("0c000000010100", 2, "records", 7),
            ("0c000000010100" + "0c000000010102", 2, "records[1].headers", 13),
            ("1000000001010201", 1, "records[0].length", 0),
            ("1000000001010201ff", 1, "records[0].headers[0].name", 7),
            ("0e00000001010000", 1, "records[0]", 7),
            ("0c000000010100", 2**31 - 1, "records", 7),
            ("0c000000010100", -1, "records", None),
        ],
    )
    def test_frames(self, twin: Any, section: str, count: int, path: str, position: int | None) -> None:
        for wanted in (Wanted(0), ~Wanted(0)):
            with pytest.raises(DecodeError) as caught:
                twin[0](wanted).append(bytes.fromhex(section), count, 0, 0, None)
            assert (caught.value.path, caught.value.position) == (path, position)

    def test_an_announced_count_costs_no_memory(self, twin: Any) -> None:
        tracemalloc.start()
        with pytest.raises(DecodeError):
            twin[0](~Wanted(0)).append(bytes(100), 2**31 - 1, 0, 0, None)
        assert tracemalloc.get_traced_memory()[1] < 100_000
        tracemalloc.stop()

    def test_a_batch_that_decompresses_to_too_much(self) -> None:
        data = write_batch([(0, NOW, None, bytes(10_000), ())], BatchOptions(compression=CompressionType.ZSTD))
        with pytest.raises(MessageTooLargeError):
            decode(data, options=ReadOptions(decompressed_bytes_max=5_000))

    @pytest.mark.parametrize("column", ["key", "value", "headers"])
    def test_a_full_column_is_an_error(self, twin: Any, column: str) -> None:
        half = b"x" * 60
        fields = {"key": (half, None, ()), "value": (None, half, ()), "headers": (None, None, (("h", half),))}[column]
        [batch] = batches(write_batch([(0, NOW, *fields), (1, NOW, *fields)]))
        reader = twin[0](Wanted[column.upper()], limit=100)
        with pytest.raises(DecodeError, match="a column cannot hold that many bytes") as caught:
            reader.append(batch.records, 2, 0, NOW, None)
        assert caught.value.path == "records[1]"

    def test_sums_wrap_as_javas_longs_do(self, twin: Any) -> None:
        reader = twin[0](Wanted.OFFSET | Wanted.TIMESTAMP)
        [batch] = batches(write_batch([(1, 2, None, None, ())], BatchOptions(base_offset=0)))
        reader.append(batch.records, 1, 2**63 - 1, 2**63 - 1, None)
        columns: Columns = reader.finish()
        assert memoryview(columns.offset).cast("B").cast("q").tolist() == [-(2**63)]


def table(**columns: Any) -> Any:
    return pa.record_batch({"value": [b"a", b"bb", None]} | columns)


def sections(writer: Any) -> Iterator[Written]:
    """All that a writer with two rows writes."""
    row = 0
    while row < 2:
        written = writer.section(row, HEADER_BYTES, 1000)
        row = written.stop
        yield written


class TestEncode:
    def test_the_same_bytes_as_from_tuples(self) -> None:
        records = decode(write_batch(RECORDS))
        rows = [(i, *record[1:]) for i, record in enumerate(RECORDS)]
        for options in (
            BatchOptions(),
            BatchOptions(base_offset=7, partition_leader_epoch=3, log_append_time=NOW + 1),
            BatchOptions(producer_id=9, producer_epoch=1, base_sequence=5, is_transactional=True),
            BatchOptions(compression=CompressionType.ZSTD, compression_level=7),
        ):
            moved = [(row[0] + (options.base_offset or 0), *row[1:]) for row in rows]
            assert encode(records, options) == write_batch(moved, options)

    def test_only_values(self) -> None:
        assert read_tuples(encode(table(), default_timestamp=NOW)) == [
            (0, NOW, None, b"a", ()),
            (1, NOW, None, b"bb", ()),
            (2, NOW, None, None, ()),
        ]

    @pytest.mark.parametrize(
        "kind",
        [
            pa.binary(),
            pa.large_binary(),
            pa.string(),
            pa.large_string(),
            pa.binary_view(),
            pa.string_view(),
            pa.binary(2),
            pa.dictionary(pa.int8(), pa.string()),
            pa.dictionary(pa.int32(), pa.binary()),
        ],
        ids=str,
    )
    def test_every_type_of_bytes_and_every_slice(self, kind: Any) -> None:
        raw: list[Any] = ["aa", None, "bb", "cc", "dd", None, None, "ee", "ff", "gg"]
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
            raw = [None if text is None else text.encode() for text in raw]
        array = pa.array(raw).cast(kind) if pa.types.is_dictionary(kind) else pa.array(raw, kind)
        expected = [None if text is None else text if isinstance(text, bytes) else text.encode() for text in raw]
        records = pa.record_batch({"value": array, "key": array})
        for start, stop in ((0, 10), (1, 9), (3, 4), (9, 10)):
            found = read_tuples(encode(records.slice(start, stop - start)))
            assert [record[2] for record in found] == [record[3] for record in found] == expected[start:stop]

    def test_no_rows_give_an_empty_batch_or_none(self) -> None:
        empty = pa.record_batch({"value": pa.array([], pa.binary()), "headers": pa.array([], HEADERS)})
        assert encode(empty) == write_batch([])
        assert list(encode_batches(empty)) == []

    @pytest.mark.parametrize(
        ("kind", "raw"),
        [
            (pa.timestamp("s"), 1_700_000_000),
            (pa.timestamp("ms", "Europe/Vienna"), NOW),
            (pa.timestamp("us", "UTC"), NOW * 1000 + 999),
            (pa.timestamp("ns"), NOW * 1_000_000 + 999_999),
            (pa.int64(), NOW),
        ],
        ids=str,
    )
    def test_every_unit_of_time(self, kind: Any, raw: int) -> None:
        records = table(timestamp=pa.array([raw, None, raw], pa.int64()).cast(kind))
        assert [record[1] for record in read_tuples(encode(records, default_timestamp=5))] == [NOW, 5, NOW]

    def test_null_columns_are_as_good_as_none(self) -> None:
        records = table(key=pa.nulls(3), headers=pa.nulls(3), timestamp=pa.nulls(3))
        assert encode(records) == encode(table())

    def test_headers_of_slices_with_null_lists(self) -> None:
        headers = pa.array([[("a", b"1")], None, [], [("b", None), ("c", b"")], [("d", b"4")]], HEADERS)
        records = pa.record_batch({"value": pa.nulls(5, pa.binary()), "headers": headers})
        expected = [(("a", b"1"),), (), (), (("b", None), ("c", b"")), (("d", b"4"),)]
        for start in range(5):
            assert [record[4] for record in read_tuples(encode(records.slice(start)))] == expected[start:]

    def test_headers_of_other_list_types(self) -> None:
        kind = pa.large_list(pa.struct([("key", pa.large_string()), ("value", pa.large_binary())]))
        records = table(headers=pa.array([[("a", b"1")], None, []], kind))
        assert read_tuples(encode(records))[0][4] == (("a", b"1"),)

    @pytest.mark.parametrize(
        ("columns", "path"),
        [
            ({"value": pa.array([1, 2, 3])}, "value"),
            ({"key": pa.array([1.5, 2, 3])}, "key"),
            ({"timestamp": pa.array(["a", "b", "c"])}, "timestamp"),
            ({"timestamp": pa.array([2**60] * 3, pa.timestamp("s"))}, "timestamp"),
            ({"headers": pa.array([["x"], [], []])}, "headers"),
            ({"headers": pa.array([[], [(None, b"")], []], HEADERS)}, "records[1]"),
            ({"headers": pa.array([[], [], [None]], HEADERS)}, "records[2]"),
        ],
    )
    def test_columns_that_cannot_be_written(self, columns: dict[str, Any], path: str) -> None:
        with pytest.raises(EncodeError) as caught:
            encode(table(**columns))
        assert caught.value.path == path

    def test_a_value_column_is_needed_once(self) -> None:
        with pytest.raises(EncodeError, match=r"^value: there is no such column"):
            encode(pa.record_batch({"key": [b""]}))
        two = pa.RecordBatch.from_arrays([pa.array([b""]), pa.array([b""])], ["value", "value"])
        with pytest.raises(EncodeError, match=r"^value: two columns"):
            encode(two)

    @pytest.mark.parametrize(
        "options", [BatchOptions(last_offset=9), BatchOptions(delete_horizon_ms=1), BatchOptions(is_control=True)]
    )
    def test_compacted_and_control_batches_are_refused(self, options: BatchOptions) -> None:
        with pytest.raises(EncodeError, match="not written from columns"):
            encode(table(), options)

    @pytest.mark.parametrize("offsets", [[0, 5, 1], [0, 1, 9], [-1, 0, 1], [0, 2**31 - 1, 2**31 - 1]])
    def test_offsets_that_lie_outside_the_data_are_refused(self, twin: Any, offsets: list[int]) -> None:
        raw = pa.array(offsets, pa.int32()).buffers()[1]
        source = Source(2, BinarySource(0, None, raw, b"12345678", 4), None, None, None, -1)
        with pytest.raises(EncodeError, match="do not lie within its data"):
            list(sections(twin[1](source)))

    def test_buffers_shorter_than_the_rows_need_are_refused(self, twin: Any) -> None:
        for validity, offsets in ((None, bytes(8)), (b"", bytes(12))):
            with pytest.raises(EncodeError, match="shorter than its rows need"):
                twin[1](Source(2, BinarySource(0, validity, offsets, b"", 4), None, None, None, -1))


class TestEncodeBatches:
    def test_offsets_and_sequences_go_on(self) -> None:
        records = pa.record_batch({"value": [b"x" * 50] * 10, "timestamp": [NOW + i for i in range(10)]})
        options = BatchOptions(base_offset=100, producer_id=1, producer_epoch=0, base_sequence=2**31 - 3)
        found = [next(batches(batch)) for batch in encode_batches(records, options, batch_bytes_max=240)]
        assert [batch.base_offset for batch in found] == [100, 103, 106, 109]
        assert [batch.base_sequence for batch in found] == [2**31 - 3, 0, 3, 6]
        assert [batch.base_timestamp for batch in found] == [NOW, NOW + 3, NOW + 6, NOW + 9]
        assert [batch.max_timestamp for batch in found] == [NOW + 2, NOW + 5, NOW + 8, NOW + 9]
        assert all(batch.size <= 240 for batch in found)

    def test_without_a_producer_there_is_no_sequence(self) -> None:
        found = encode_batches(pa.record_batch({"value": [b"x" * 50] * 4}), batch_bytes_max=150)
        assert {next(batches(batch)).base_sequence for batch in found} == {-1}

    def test_a_record_larger_than_a_batch_goes_alone(self) -> None:
        values = [b"a", b"x" * 500, b"b", b"c"]
        found = list(encode_batches(pa.record_batch({"value": values}), batch_bytes_max=100))
        assert [[record[3] for record in read_tuples(batch)] for batch in found] == [[b"a"], [b"x" * 500], [b"b", b"c"]]

    def test_a_batch_is_filled_to_the_last_byte(self) -> None:
        records = pa.record_batch({"value": [b"x" * 50] * 4})
        size = len(encode(records.slice(0, 3)))
        assert len(next(encode_batches(records, batch_bytes_max=size))) == size
        assert len(next(encode_batches(records, batch_bytes_max=size - 1))) < size
