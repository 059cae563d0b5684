"""Arrays that are not what they claim to be, and what else cannot be written, on both twins."""

import array
import struct
from typing import Any

import pyarrow as pa
import pytest

from ottla.protocol.errors import EncodeError
from ottla.protocol.records.arrow.batches import HEADERS, encode, encode_batches
from ottla.protocol.records.arrow.source import HEADER
from ottla.protocol.records.columns_layout import BinarySource, HeaderSource, LongSource, Source
from ottla.protocol.records.reader import read_tuples

pytestmark = pytest.mark.usefixtures("column_twin")

OUTSIDE = "do not lie within its data"
SHORT = "shorter than its rows need"
# What pyarrow itself says of an array that it would have to follow.
PYARROWS = "out of bounds|larger than values|exceeds length|longer than|spanned"


def _int32s(*numbers: int) -> bytes:
    return struct.pack(f"={len(numbers)}i", *numbers)


def _int64s(*numbers: int) -> bytes:
    return struct.pack(f"={len(numbers)}q", *numbers)


def offsets_of(*numbers: int) -> Any:
    return pa.py_buffer(_int32s(*numbers))


def binary(kind: Any, validity: int | None, offsets: Any, data: bytes, first: int = 0) -> Any:
    """An array of raw buffers; pyarrow looks at their lengths, and at the first and last offset.

    `validity` has a bit per element, lowest first.
    """
    rows = offsets.size // 4 - 1 - first
    bits = None if validity is None else pa.py_buffer(validity.to_bytes(8, "little"))
    return pa.Array.from_buffers(kind, rows, [bits, offsets, pa.py_buffer(data)], -1, first)


def header_lists(offsets: Any, keys: Any, values: Any, validity: int | None = None) -> Any:
    pairs = pa.Array.from_buffers(HEADER, len(keys), [None], 0, children=[keys, values])
    bits = None if validity is None else pa.py_buffer(validity.to_bytes(8, "little"))
    return pa.Array.from_buffers(HEADERS, offsets.size // 4 - 1, [bits, offsets], -1, children=[pairs])


def received(records: Any, sent: bytes, changed: bytes) -> Any:
    """The records out of an IPC stream in which somebody changed some bytes; pyarrow does not look at them."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, records.schema) as stream:
        stream.write_batch(records)
    raw = sink.getvalue().to_pybytes()
    assert raw.count(sent) == 1
    return pa.ipc.open_stream(raw.replace(sent, changed)).read_next_batch()


def refused(records: Any, match: str) -> str:
    """Where the refusal says that it is."""
    with pytest.raises(EncodeError, match=match) as caught:
        encode(records)
    with pytest.raises(EncodeError, match=match):
        list(encode_batches(records, batch_bytes_max=100))
    return caught.value.path


class TestOffsetsThatFall:
    """The room for a section follows from the distance between two offsets: a fall between them would hide bytes."""

    def test_under_a_null_header_value(self) -> None:
        size = 60_000
        values = binary(pa.binary(), 0b101, offsets_of(0, size, 0, size), bytes(size))
        headers = header_lists(offsets_of(0, 3), pa.array(["a", "b", "c"]), values)
        records = pa.record_batch({"value": [b"v"], "headers": headers})
        records.validate()
        assert refused(records, OUTSIDE) == "records[0]"

    @pytest.mark.parametrize("column", ["key", "value"])
    def test_under_a_null(self, column: str) -> None:
        falling = binary(pa.binary(), 0b101, offsets_of(0, 5000, 0, 5000), bytes(5000))
        records = pa.record_batch({"value": [b"a", b"b", b"c"]} | {column: falling})
        assert refused(records, OUTSIDE) == "records[1]"

    def test_in_a_null_list(self) -> None:
        lists = header_lists(offsets_of(0, 2, 0, 2), pa.array(["a", "b"]), pa.array([b"1", b"2"]), validity=0b101)
        assert refused(pa.record_batch({"value": [b"a", b"b", b"c"], "headers": lists}), OUTSIDE) == "records[1]"

    def test_of_headers_that_a_null_list_covers(self) -> None:
        keys = binary(pa.string(), None, offsets_of(0, 5000, 0, 5000), b"k" * 5000)
        lists = header_lists(offsets_of(0, 1, 2, 3), keys, pa.array([b"", b"", b""]), validity=0b101)
        assert refused(pa.record_batch({"value": [b"a", b"b", b"c"], "headers": lists}), OUTSIDE) == "records[1]"

    def test_as_far_as_int64_goes(self) -> None:
        sound = pa.record_batch({"value": pa.array([b"x" * 1234], pa.large_binary())})
        for ends in ((-(2**63), 2**63 - 1), (2**63 - 1, -(2**63)), (0, 2**63 - 1)):
            assert refused(received(sound, _int64s(0, 1234), _int64s(*ends)), OUTSIDE) == "records[0]"


class TestWhatIsSoundAllTheSame:
    def test_null_lists_that_cover_headers(self) -> None:
        keys, values = pa.array(["a", None, "c"]), pa.array([b"1", b"22", b"333"])
        lists = header_lists(offsets_of(0, 1, 2, 3), keys, values, validity=0b101)
        records = pa.record_batch({"value": [b"a", b"b", b"c"], "headers": lists})
        assert [record[4] for record in read_tuples(encode(records))] == [(("a", b"1"),), (), (("c", b"333"),)]

    def test_nulls_that_cover_bytes(self) -> None:
        values = binary(pa.binary(), 0b101, offsets_of(0, 1, 7, 8), b"abcdefgh")
        assert [record[3] for record in read_tuples(encode(pa.record_batch({"value": values})))] == [b"a", None, b"h"]

    def test_broken_offsets_outside_the_slice(self) -> None:
        values = binary(pa.binary(), None, offsets_of(900, -5, 0, 3), b"abc", first=2)
        assert [record[3] for record in read_tuples(encode(pa.record_batch({"value": values})))] == [b"abc"]

    def test_header_keys_that_are_not_utf8_are_written_as_they_are(self) -> None:
        lists = header_lists(offsets_of(0, 1), binary(pa.string(), None, offsets_of(0, 1), b"\xff"), pa.array([b""]))
        [record] = read_tuples(encode(pa.record_batch({"value": [b"v"], "headers": lists})))
        assert record[4] == (("\ufffd", b""),)

    def test_offset_buffers_with_a_few_bytes_more(self, column_twin: Any) -> None:
        offsets = offsets_of(0, 3).to_pybytes() + b"xx"
        written = column_twin[1](Source(1, BinarySource(0, None, offsets, b"abc", 4), None, None, None, 5))
        assert written.section(0, 0, 100).section == bytes.fromhex("12 00 00 00 01 06 61 62 63 00")


class TestShortBuffers:
    def test_validity(self) -> None:
        sound = pa.record_batch({"value": pa.array([None] + [b""] * 16, pa.binary())})
        # The length of the first buffer, then where the second begins, and its length.
        refused(received(sound, _int64s(3, 8, 72), _int64s(1, 8, 72)), SHORT)

    def test_lists(self) -> None:
        lists = pa.array([[("a", b"")] * 1230, [("a", b"")] * 4], HEADERS)
        sound = pa.record_batch({"value": [b"v", b"w"], "headers": lists})
        assert refused(received(sound, _int32s(1230, 1234), _int32s(1230, 1235)), PYARROWS) == "headers"

    @pytest.mark.parametrize("first", [-1, -(2**40), 2**62, 2**63 - 2])
    def test_a_first_row_that_is_nowhere(self, column_twin: Any, first: int) -> None:
        sound = BinarySource(0, None, offsets_of(0, 1), b"a", 4)
        lost = sound._replace(first=first)
        headers = HeaderSource(0, None, offsets_of(0, 1), 1, sound, sound)
        for source in (
            Source(1, lost, None, None, None, 0),
            Source(1, sound, lost, None, None, 0),
            Source(1, sound, None, headers._replace(first=first), None, 0),
            Source(1, sound, None, headers._replace(keys=lost), None, 0),
            Source(1, sound, None, None, LongSource(first, None, bytes(8)), 0),
        ):
            with pytest.raises(EncodeError, match=SHORT):
                column_twin[1](source)

    def test_indices_of_a_dictionary(self) -> None:
        words = pa.array([b"%d" % number for number in range(1234)])
        sound = pa.record_batch({"value": pa.DictionaryArray.from_arrays(pa.array([1233, 1232], pa.int32()), words)})
        assert refused(received(sound, _int32s(1233, 1232), _int32s(1233, 10**9)), PYARROWS) == "value"

    def test_offsets_of_an_array_that_is_cast(self) -> None:
        lists = pa.array(
            [[("k" * 1234, b"")]], pa.list_(pa.struct([("key", pa.large_string()), ("value", pa.binary())]))
        )
        sound = pa.record_batch({"value": [b""], "headers": lists})
        assert refused(received(sound, _int64s(0, 1234), _int64s(0, 2**40)), PYARROWS) == "headers"


def test_arrays_that_change_while_they_are_written_write_nothing_outside(column_twin: Any) -> None:
    """Between two sections here; between measuring and writing a record the same bounds hold."""
    offsets = array.array("i", [0, 1, 2])
    column = BinarySource(0, None, memoryview(offsets), b"x" * 100_000, 4)
    writer = column_twin[1](Source(2, column, None, None, None, 0))
    assert writer.section(0, 0, 8).stop == 1
    offsets[1] = offsets[2] = 100_001
    with pytest.raises(EncodeError, match=OUTSIDE):
        writer.section(1, 0, 8)


@pytest.mark.parametrize("stamp", [1 << 70, 2**63, -(2**63) - 1, 1.5, None, "now"])
def test_default_timestamps_that_are_none(stamp: Any) -> None:
    for column in ({}, {"timestamp": pa.array([1])}):
        records = pa.record_batch({"value": [b"v"]} | column)
        with pytest.raises(EncodeError, match="64-bit"):
            encode(records, default_timestamp=stamp)
        with pytest.raises(EncodeError, match="64-bit"):
            list(encode_batches(records, default_timestamp=stamp))


@pytest.mark.parametrize("stamp", [-(2**63), 2**63 - 1])
def test_default_timestamps_at_the_ends(stamp: int) -> None:
    assert read_tuples(encode(pa.record_batch({"value": [b"v"]}), default_timestamp=stamp))[0][1] == stamp


@pytest.mark.parametrize("records", [pa.table({"value": [b"v"]}), {"value": [b"v"]}, None, b"bytes"])
def test_what_is_no_record_batch(records: Any) -> None:
    with pytest.raises(EncodeError, match=r"a pyarrow\.RecordBatch is needed"):
        encode(records)
    with pytest.raises(EncodeError, match=r"a pyarrow\.RecordBatch is needed"):
        list(encode_batches(records))


@pytest.mark.parametrize(("bytes_max", "batches"), [(1 << 70, 1), (-(1 << 70), 3), (0, 3)])
def test_any_size_of_batches(bytes_max: int, batches: int) -> None:
    records = pa.record_batch({"value": [b"a", b"b", b"c"]})
    assert len(list(encode_batches(records, batch_bytes_max=bytes_max))) == batches
