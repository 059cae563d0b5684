"""Buffers of every shape: read as plain bytes if they lie one after another, refused by both twins if not."""

import array
import struct
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.records.arrow.batches import decode
from ottla.protocol.records.columns_layout import BinarySource, LongSource, Source
from ottla.protocol.records.frames_plain import Demands
from ottla.protocol.records.legacy import convert
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.validation import single_batch
from ottla.protocol.records.writer import write_batch

RECORDS = [(offset, 5, b"k", b"v", ()) for offset in range(3)] + [(3, 5, b"key", b"v", ())]
BATCH = bytes(write_batch(RECORDS))
SECTION = BATCH[61:]
DEMANDS = Demands(key=True)


def strided(data: bytes) -> memoryview:
    spread = bytearray(2 * len(data))
    spread[::2] = data
    return memoryview(spread)[::2]


def turned_round(data: bytes) -> memoryview:
    return memoryview(data[::-1])[::-1]


def in_pairs(data: bytes) -> memoryview:
    return memoryview(array.array("h", data + bytes(len(data) % 2)))


def in_rows(data: bytes) -> memoryview:
    return memoryview(data).cast("B", [1, len(data)])


def signed(data: bytes) -> memoryview:
    return memoryview(data).cast("b")


SCATTERED = pytest.mark.parametrize("shape", [strided, turned_round])
CONTIGUOUS = pytest.mark.parametrize("shape", [in_pairs, in_rows, signed])


def _readers(frames: ModuleType) -> list[Callable[[Any], object]]:
    count = len(RECORDS)
    return [
        lambda data: frames.scan(data, count, 5),
        lambda data: frames.find_invalid(data, count, 5, DEMANDS, 9),
        lambda data: frames.decode(data, count, 0, 5, None),
        lambda data: list(frames.iterate(data, count, 0, 5, None)),
    ]


@SCATTERED
def test_scattered_bytes_are_refused(
    shape: Callable[[bytes], memoryview], twin: ModuleType, batch_twin: ModuleType, column_twin: Any
) -> None:
    for read in (*_readers(twin), lambda data: column_twin[0](63).append(data, len(RECORDS), 0, 5, None)):
        with pytest.raises(BufferError):
            read(shape(SECTION))
    for read in (batch_twin.Batch, batch_twin.Batches, read_tuples, decode, convert, contiguous):
        with pytest.raises(BufferError):
            read(shape(BATCH))
    with pytest.raises(BufferError):
        single_batch(shape(BATCH), 13)
    sound = BinarySource(0, b"\x01", struct.pack("=2i", 0, 4), b"abcd", 4)
    wrong: list[Any] = [
        sound._replace(offsets=shape(sound.offsets)),
        sound._replace(data=shape(sound.data)),
        sound._replace(validity=shape(b"\x01\0")),
    ]
    for source in wrong:
        with pytest.raises(BufferError):
            column_twin[1](Source(1, source, None, None, None, 0))
    with pytest.raises(BufferError):
        column_twin[1](Source(1, sound, None, None, LongSource(0, None, shape(bytes(8))), 0))


@CONTIGUOUS
def test_other_items_are_read_as_the_bytes_they_are(
    shape: Callable[[bytes], memoryview], twin: ModuleType, batch_twin: ModuleType, column_twin: Any
) -> None:
    if len(SECTION) % 2 == 0 or shape is not in_pairs:
        for read in _readers(twin):
            assert read(shape(SECTION)) == read(SECTION)
    data = BATCH + bytes(len(BATCH) % 2)
    batch = batch_twin.Batch(shape(data))
    assert batch.crc_matches()
    assert bytes(batch.data) == BATCH
    assert [each.size for each in batch_twin.Batches(shape(data))] == [len(BATCH)]
    assert read_tuples(shape(data)) == RECORDS
    assert decode(shape(data)).equals(decode(BATCH))
    assert single_batch(shape(data), 13).size == len(BATCH)
    with pytest.raises(ApiError) as caught:
        single_batch(shape(data[:60]), 13)
    assert caught.value.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("wrong", ["text", None, 7])
def test_what_is_no_buffer(wrong: Any, twin: ModuleType, batch_twin: ModuleType, column_twin: Any) -> None:
    append = column_twin[0](63).append
    for read in (*_readers(twin), lambda data: append(data, len(RECORDS), 0, 5, None), batch_twin.Batch):
        with pytest.raises(TypeError):
            read(wrong)
    for read in (batch_twin.Batches, read_tuples, decode, convert):
        with pytest.raises(TypeError):
            read(wrong)
