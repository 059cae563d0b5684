"""Fetch answers: several batches, some of them strange, the last perhaps cut short."""

from collections.abc import Callable
from typing import Any

import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import (
    CorruptMessageError,
    DecodeError,
    MessageTooLargeError,
    UnsupportedCompressionTypeError,
)
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.reader import ReadOptions, iterate_records, read_records, read_tuples
from ottla.protocol.records.record import Record, RecordTuple
from ottla.protocol.records.writer import BatchOptions, emptied, write_batch

pytestmark = pytest.mark.usefixtures("twin")

FIRST = [(offset, 10, b"k", b"v%d" % offset, ()) for offset in range(5)]
GAPS = [(offset, 20, None, b"x", (("h", None),)) for offset in (7, 12, 19)]
LAST = [(offset, 30, None, b"y" * 40, ()) for offset in range(30, 40)]
MARKER = EndTransactionMarker(ControlRecordType.ABORT, 3)
Reader = Callable[..., list[RecordTuple]]


def _iterated(*arguments: Any) -> list[RecordTuple]:
    return list(iterate_records(*arguments))


readers = pytest.mark.parametrize("read", [read_tuples, read_records, _iterated])


def _answer() -> bytearray:
    marker = write_end_marker(MARKER, producer_id=1, producer_epoch=0, timestamp=15)
    Batch(marker).assign(20, 0)
    empty = emptied(Batch(write_batch([(21, 0, None, b"gone", ())])))
    data = write_batch(FIRST) + write_batch(GAPS, BatchOptions(compression=CompressionType.GZIP, last_offset=19))
    return data + marker + empty + write_batch(LAST, BatchOptions(compression=CompressionType.LZ4))


@readers
def test_records_of_all_batches_in_order(read: Reader) -> None:
    assert read(_answer()) == FIRST + GAPS + LAST


@readers
def test_the_last_batch_may_be_cut_short(read: Reader) -> None:
    assert read(_answer()[:-1]) == FIRST + GAPS
    assert read(_answer()[:50]) == []
    assert read(b"") == []


@readers
def test_control_records_are_shown_on_demand(read: Reader) -> None:
    shown = read(_answer(), ReadOptions(control_records=True))
    assert [record[0] for record in shown if record not in FIRST + GAPS + LAST] == [20]


@readers
@pytest.mark.parametrize("offset", [0, 3, 5, 8, 19, 20, 33, 40])
def test_reading_from_an_offset(read: Reader, offset: int) -> None:
    wanted = [record for record in FIRST + GAPS + LAST if record[0] >= offset]
    assert read(_answer(), ReadOptions(from_offset=offset)) == wanted


def test_objects_have_names() -> None:
    first = read_records(_answer())[0]
    assert isinstance(first, Record)
    assert (first.offset, first.timestamp, first.key, first.value, first.headers) == FIRST[0]


@readers
def test_a_changed_byte_is_noticed(read: Reader) -> None:
    data = _answer()
    data[68] ^= 1
    with pytest.raises(CorruptMessageError, match="offset 0"):
        read(data)
    assert len(read(data, ReadOptions(check_crcs=False))) == 18


@readers
def test_a_bomb_stops_at_the_limit(read: Reader) -> None:
    data = write_batch([(0, 0, None, bytes(1_000_000), ())], BatchOptions(compression=CompressionType.ZSTD))
    assert len(data) < 1000
    with pytest.raises(MessageTooLargeError):
        read(data, ReadOptions(decompressed_bytes_max=999_999))


@readers
def test_an_unknown_codec(read: Reader) -> None:
    data = write_batch(FIRST)
    data[22] = 7
    with pytest.raises(UnsupportedCompressionTypeError):
        read(data, ReadOptions(check_crcs=False))


@readers
def test_what_is_no_batch(read: Reader) -> None:
    with pytest.raises(DecodeError):
        read(write_batch(FIRST) + bytes(100))


def test_an_iterator_reads_one_batch_at_a_time() -> None:
    records = iterate_records(write_batch(FIRST) + bytes(100))
    assert [next(records) for _ in FIRST] == FIRST
    with pytest.raises(DecodeError):
        next(records)
