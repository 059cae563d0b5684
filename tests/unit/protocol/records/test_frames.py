"""Record frames: what is read and written, and what is said about malformed ones."""

from types import ModuleType

import pytest

from ottla.protocol.errors import DecodeError, EncodeError
from ottla.protocol.records.frames_plain import Demands

RECORDS = [
    (10, 1000, b"key", b"value", ()),
    (11, 999, None, b"", (("a", b"1"), ("a", None), ("größe", b""))),
    (15, 2**62, b"", None, ()),
    (16, -1, b"k" * 70, b"v" * 9000, ()),
]
# Length 9, attributes, timestamp delta 0, offset delta 0, key "k", value "v", no headers.
PLAIN_FRAME = bytes.fromhex("10 00 00 00 02 6b 02 76 00")


def test_what_is_written_is_read_back(twin: ModuleType) -> None:
    section, last_delta, highest = twin.encode(RECORDS, 10, 1000, 0)
    assert (last_delta, highest) == (6, 2**62)
    assert twin.decode(section, 4, 10, 1000, None) == RECORDS
    assert list(twin.iterate(section, 4, 10, 1000, None)) == RECORDS
    assert sum(twin.record_size(record, 0, 10, 1000) for record in RECORDS) == len(section)


def test_bytes_are_kafkas(twin: ModuleType) -> None:
    assert twin.encode([(0, 5, b"k", b"v", ())], 0, 5, 2)[0] == b"\0\0" + PLAIN_FRAME


def test_scan_tells_what_the_validator_needs(twin: ModuleType) -> None:
    section = twin.encode(RECORDS, 10, 1000, 0)[0]
    assert twin.scan(section, 4, 1000) == (999, 2**62, 1, False)
    section = twin.encode([(0, -1, b"k", None, ()), (1, -1, b"k", None, ())], 0, -1, 0)[0]
    assert twin.scan(section, 2, -1) == (-1, -1, 0, True)


def test_the_records_that_do_not_meet_a_demand(twin: ModuleType) -> None:
    records = [(0, 5, b"k", b"", ()), (1, -1, None, b"", ()), (2, 6, b"", None, ()), (4, 5, b"k", b"", ())]
    section = twin.encode(records, 0, 5, 0)[0]
    anything = Demands(key=False)
    assert twin.find_invalid(section, 4, 5, anything, 9) == [(3, 4, 5, True)]
    assert twin.find_invalid(section, 4, 5, Demands(key=True), 9) == [(1, 1, -1, False), (3, 4, 5, True)]
    assert twin.find_invalid(section, 4, 5, Demands(False, 6, 6), 9) == [(0, 0, 5, True), (3, 4, 5, True)]
    assert twin.find_invalid(section, 4, 5, Demands(True, 0, 5), 2) == [(1, 1, -1, False), (2, 2, 6, True)]
    assert twin.find_invalid(b"", 0, 5, Demands(key=True), 9) == []


def test_malformed_records_do_not_meet_demands(twin: ModuleType) -> None:
    for section, count in ((PLAIN_FRAME[:-1], 1), (PLAIN_FRAME, 2), (PLAIN_FRAME * 2, 1), (b"", -1)):
        with pytest.raises(DecodeError) as scanned:
            twin.scan(section, count, 0)
        with pytest.raises(DecodeError) as caught:
            twin.find_invalid(section, count, 0, Demands(key=False), 9)
        assert str(caught.value) == str(scanned.value)


def test_log_append_time_replaces_every_timestamp(twin: ModuleType) -> None:
    section = twin.encode(RECORDS, 10, 1000, 0)[0]
    assert {record[1] for record in twin.decode(section, 4, 10, 1000, 77)} == {77}


def test_no_records(twin: ModuleType) -> None:
    assert twin.encode([], 0, 0, 3) == (bytearray(3), -1, -1)
    assert twin.decode(b"", 0, 0, 0, None) == []
    assert twin.scan(b"", 0, 0) == (-1, -1, 0, True)


def test_sums_wrap_at_64_bits_as_in_java(twin: ModuleType) -> None:
    extremes = [(0, -(2**63), None, None, ()), (1, 2**63 - 1, None, None, ())]
    section = twin.encode(extremes, 0, 2**63 - 1, 0)[0]
    assert twin.decode(section, 2, 0, 2**63 - 1, None) == extremes
    assert twin.decode(PLAIN_FRAME[:3] + b"\x02" + PLAIN_FRAME[4:], 1, 2**63 - 1, 0, None)[0][0] == -(2**63)


def test_any_negative_length_is_null_and_overlong_numbers_are_read(twin: ModuleType) -> None:
    frame = bytes.fromhex("12 07 80 00 00 03 05 80 80 00")
    assert twin.decode(frame, 1, 0, 0, None) == [(0, 0, None, None, ())]


def test_a_header_name_that_is_not_utf8_reads_as_java_reads_it(twin: ModuleType) -> None:
    frame = bytes.fromhex("14 00 00 00 01 01 02 04 ff 61 01")
    assert twin.decode(frame, 1, 0, 0, None) == [(0, 0, None, None, (("\ufffda", None),))]


@pytest.mark.parametrize(
    ("frame", "path", "reason"),
    [
        ("", "records", "0 records where 1 were announced"),
        ("80", "records[0].length", "the bytes end inside a number"),
        ("80 80 80 80 80 00", "records[0].length", "a number of more than 5 bytes"),
        ("12 00 00 00 02 6b 02 76 00", "records[0].length", "a length of 9 with 8 bytes left"),
        ("00", "records[0].length", "a length of 0 with 0 bytes left"),
        ("01", "records[0].length", "a length of -1 with 0 bytes left"),
        ("02 00", "records[0].timestamp", "the bytes end inside a number"),
        ("1a 00 80 80 80 80 80 80 80 80 80 80 80 00", "records[0].timestamp", "a number of more than 10 bytes"),
        ("04 00 00", "records[0].offset", "the bytes end inside a number"),
        ("06 00 00 00 00 00 00", "records[0].key", "the bytes end inside a number"),
        ("0c 00 00 00 04 6b 02", "records[0].value", "the bytes end inside a number"),
        ("0c 00 00 00 06 6b 02", "records[0].key", "a length of 3 with 2 bytes left"),
        ("10 00 00 00 02 6b 20 76 00", "records[0].value", "a length of 16 with 2 bytes left"),
        ("10 00 00 00 02 6b 02 76 01", "records[0].headers", "-1 headers with 0 bytes left"),
        ("10 00 00 00 02 6b 02 76 08", "records[0].headers", "4 headers with 0 bytes left"),
        ("12 00 00 00 02 6b 01 02 01 01", "records[0].headers[0].name", "null"),
        ("12 00 00 00 02 6b 01 02 08 01", "records[0].headers[0].name", "a length of 4 with 1 bytes left"),
        ("12 00 00 00 02 6b 01 02 00 04", "records[0].headers[0].value", "a length of 2 with 0 bytes left"),
        ("12 00 00 00 02 6b 02 76 00 00", "records[0]", "1 bytes after the last field"),
        ("10 00 00 00 02 6b 02 76 00 ff", "records", "1 bytes after the last record"),
    ],
)
def test_malformed_frames_say_where_and_why(twin: ModuleType, frame: str, path: str, reason: str) -> None:
    data = bytes.fromhex(frame)
    for read in (
        lambda: twin.scan(data, 1, 0),
        lambda: twin.decode(data, 1, 0, 0, None),
        lambda: list(twin.iterate(data, 1, 0, 0, None)),
    ):
        with pytest.raises(DecodeError) as caught:
            read()
        assert (caught.value.path, caught.value.reason) == (path, reason)
        assert caught.value.position is not None
        assert caught.value.position <= len(data)


def test_the_bad_record_is_named_by_its_place(twin: ModuleType) -> None:
    data = PLAIN_FRAME * 17 + b"\x10\x00\x00\x00\x02\x6b\x02\x76\x01"
    with pytest.raises(DecodeError, match=r"records\[17\].headers: -1 headers with 0 bytes left \(at byte 161\)"):
        twin.scan(data, 18, 0)


def test_an_iterator_yields_what_precedes_the_bad_record(twin: ModuleType) -> None:
    records = twin.iterate(PLAIN_FRAME + b"\x00", 2, 0, 0, None)
    assert next(records)[3] == b"v"
    with pytest.raises(DecodeError):
        next(records)


@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_a_negative_count_is_refused(twin: ModuleType, count: int) -> None:
    for read in (twin.scan, lambda *a: twin.decode(*a, 0, None), lambda *a: twin.iterate(*a, 0, None)):
        with pytest.raises(DecodeError, match="a count of"):
            read(b"", count, 0)


def test_a_huge_count_costs_no_memory(twin: ModuleType) -> None:
    with pytest.raises(DecodeError, match="3 records where 2147483647 were announced"):
        twin.decode(PLAIN_FRAME * 3, 2**31 - 1, 0, 0, None)


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ((0, 0, None, None), "records[1]"),
        ([1, 0, None, None, ()], "records[1]"),
        (("1", 0, None, None, ()), "records[1].offset"),
        ((-1, 0, None, None, ()), "records[1].offset"),
        ((2**31, 0, None, None, ()), "records[1].offset"),
        ((2**63, 0, None, None, ()), "records[1].offset"),
        ((0, 0, None, None, ()), "records[1].offset"),
        ((1, 0.5, None, None, ()), "records[1].timestamp"),
        ((1, 2**63, None, None, ()), "records[1].timestamp"),
        ((1, 0, "k", None, ()), "records[1].key"),
        ((1, 0, None, 7, ()), "records[1].value"),
        ((1, 0, None, None, None), "records[1].headers"),
        ((1, 0, None, None, ("a",)), "records[1].headers[0]"),
        ((1, 0, None, None, (("a", None), (b"a", b""))), "records[1].headers[1]"),
        ((1, 0, None, None, (("a", "b"),)), "records[1].headers[0].value"),
        ((1, 0, None, None, (("\ud800", b""),)), "records[1].headers[0].name"),
    ],
)
def test_what_cannot_be_written_is_named(twin: ModuleType, record: object, path: str) -> None:
    with pytest.raises(EncodeError) as caught:
        twin.encode([(0, 0, None, None, ()), record], 0, 0, 0)
    assert caught.value.path == path


def test_any_buffer_is_taken_for_bytes(twin: ModuleType) -> None:
    loose = (0, 1, bytearray(b"k"), memoryview(b"xvx")[1:2], [("h", bytearray(b"1"))])
    strict = (0, 1, b"k", b"v", (("h", b"1"),))
    assert twin.encode([loose, (1, *strict[1:])], 0, 0, 0) == twin.encode([strict, (1, *strict[1:])], 0, 0, 0)


def test_a_section_in_a_memoryview_is_read_in_place(twin: ModuleType) -> None:
    view = memoryview(b"xx" + PLAIN_FRAME * 3 + b"yy")[2:-2]
    assert len(twin.decode(view, 3, 0, 0, None)) == 3
