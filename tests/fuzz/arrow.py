"""Any bytes as a Fetch answer, read into Arrow columns: both twins must agree, and refuse only with `OttlaError`.

The first byte chooses: with bit 0 the rest is one batch's records behind a sound header, so that the loops over records
are reached; without it all is left to the bytes. What could be read is written again, and must read the same. With bit
1 the rest is the raw buffers of arrays, which need not be sound, to be written: `PYTHONMALLOC=debug` tells of bytes
that end up outside the batch.
"""

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ottla.base.errors import OttlaError
from ottla.protocol.records.arrow import batches as arrow
from ottla.protocol.records.arrow.batches import HEADERS, Projection, decode, encode, encode_batches
from ottla.protocol.records.arrow.source import HEADER
from ottla.protocol.records.batch import HEADER_BYTES
from ottla.protocol.records.reader import ReadOptions, read_tuples
from ottla.protocol.records.writer import write_batch
from tests.unit.protocol.records import twins

TITLE = "record batches as Arrow columns"
OPTIONS = ReadOptions(check_crcs=False, control_records=True, decompressed_bytes_max=1 << 20)
NUMBERS = Projection(timestamps=pa.int64())
KINDS = {pa.binary(): "i", pa.string(): "i", pa.large_binary(): "q", pa.large_string(): "q"}
FAR = (-1, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))


def fuzz_one(data: bytes) -> None:
    """One try."""
    if len(data) < 2:
        return
    if data[0] & 2:
        _write_raw(data[1:])
        return
    answer = _as_batch(data[2:], data[1]) if data[0] & 1 else data[1:]
    projection = Projection(NUMBERS.columns[data[0] >> 5 :], NUMBERS.timestamps)
    _on_both(lambda: decode(answer, projection, OPTIONS))
    records = _on_both(lambda: decode(answer, NUMBERS, OPTIONS))
    if not isinstance(records, pa.RecordBatch):
        assert records == _outcome(lambda: read_tuples(answer, OPTIONS))
        return
    records.validate(full=True)
    assert records.column("offset").to_pylist() == [record[0] for record in read_tuples(answer, OPTIONS)]
    if records.num_rows == 0:
        return
    written = _on_both(lambda: encode(records))
    fields = ["key", "value", "headers", "timestamp"]
    assert decode(written, Projection(tuple(fields), pa.int64())).equals(records.select(fields))
    batches = _on_both(lambda: list(encode_batches(records, batch_bytes_max=HEADER_BYTES + 4 * data[1])))
    assert decode(b"".join(batches), NUMBERS).select(fields).equals(records.select(fields))


def seeds() -> Iterator[bytes]:
    """What Apache Kafka wrote, as a place to start from: whole, and the records alone."""
    for path in sorted(Path("tests/vectors/batches").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            vector = json.loads(line)
            batch = bytes.fromhex(vector["hex"])
            if len(batch) < 2000:
                yield b"\0" + batch
            if vector["magic"] == 2 and vector["codec"] == "none" and len(vector["records"]) < 10:
                yield bytes((1, len(vector["records"]))) + batch[HEADER_BYTES:]
    yield bytes((2, *range(1, 200, 3)))
    yield bytes((2, *[5, 0, 0] * 40))


def _as_batch(section: bytes, count: int) -> bytes:
    """The section behind a header that announces `count` records."""
    header = write_batch([(7, 1_700_000_000_000, None, None, ())])[:HEADER_BYTES]
    header[8:12] = (len(section) + HEADER_BYTES - 12).to_bytes(4, "big")
    header[57:61] = count.to_bytes(4, "big")
    return bytes(header) + section


def _on_both(call: Callable[[], Any]) -> Any:
    """What the call gives by every twin, or how it refuses."""
    outcomes = []
    for arrow.ColumnReader, arrow.ColumnWriter in twins.COLUMNS:
        outcomes.append(_outcome(call))
    assert all(_same(outcome, outcomes[0]) for outcome in outcomes), outcomes
    return outcomes[0]


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except OttlaError as error:
        return type(error), str(error)


def _same(outcome: Any, other: Any) -> bool:
    return type(outcome) is type(other) and bool(outcome == other)


def _write_raw(data: bytes) -> None:
    """Writes arrays that are made of the bytes as they come."""
    draw = _Draw(data)
    try:
        records = draw.records()
    except pa.ArrowInvalid:
        # Lengths, or first and last offsets, that pyarrow refuses at once.
        return
    limit = HEADER_BYTES + draw.below(256)
    written = _on_both(lambda: encode(records))
    batches = _on_both(lambda: list(encode_batches(records, batch_bytes_max=limit)))
    if isinstance(written, bytearray):
        assert isinstance(batches, list)
        assert len(read_tuples(written)) == len(read_tuples(b"".join(batches))) == records.num_rows
    else:
        assert batches == written


class _Draw:
    """Arrays out of bytes; where they end, all is zero."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def below(self, bound: int) -> int:
        return next(self._bytes, 0) % bound

    def records(self) -> Any:
        rows = 1 + self.below(6)
        columns = {"value": self.binary(rows)}
        if self.below(2):
            columns["key"] = self.binary(rows)
        if self.below(2):
            columns["headers"] = self.headers(rows)
        if self.below(2):
            first = self.below(3)
            stamps = pa.py_buffer(struct.pack(f"={first + rows}q", *(self.offset() for _ in range(first + rows))))
            columns["timestamp"] = self._array(pa.int64(), rows, first, [stamps])
        return pa.record_batch(columns)

    def binary(self, rows: int, kinds: Sequence[Any] = tuple(KINDS)) -> Any:
        kind = kinds[self.below(len(kinds))]
        first = self.below(3)
        data = pa.py_buffer(bytes(self.below(256)) * (1 + 255 * self.below(2)))
        return self._array(kind, rows, first, [self.offsets(first + rows + 1, KINDS[kind]), data])

    def headers(self, rows: int) -> Any:
        pairs = self.below(8)
        children = [self.binary(pairs, [pa.string()]), self.binary(pairs, [pa.binary()])]
        structs = self._array(HEADER, pairs, 0, [], children)
        first = self.below(3)
        return self._array(HEADERS, rows, first, [self.offsets(first + rows + 1, "i")], [structs])

    def offsets(self, count: int, code: str) -> Any:
        """Mostly rising, as they should."""
        rising = self.below(4)
        numbers = [self.offset() for _ in range(count)]
        if rising:
            numbers = sorted(max(0, number) for number in numbers)
        bound = 2 ** (31 if code == "i" else 63)
        return pa.py_buffer(struct.pack(f"={count}{code}", *(max(-bound, min(n, bound - 1)) for n in numbers)))

    def offset(self) -> int:
        number = self.below(256)
        return FAR[number - 250] if 250 <= number < 255 else number % 16 * (1 + 254 * (number // 128))

    def _array(self, kind: Any, rows: int, first: int, buffers: list[Any], children: Any = None) -> Any:
        validity = None
        if self.below(2):
            validity = pa.py_buffer(bytes(self.below(256) for _ in range((first + rows + 7) // 8)))
        return pa.Array.from_buffers(kind, rows, [validity, *buffers], -1, first, children)
