"""The loop from Arrow arrays to encoded records, in plain Python; `_encoder` does the same, compiled.

A row that can't be written leaves no bytes behind, and is null. Lengths and offsets of arrays are not trusted.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Final

from ottla.base.buffer import Buffer
from ottla.schema.columns.default import number
from ottla.schema.columns.layout import BYTES_MAX, Code, Filled, Flaw
from ottla.schema.columns.source import Source, Write, WriteStep


class BadRowError(Exception):
    """Ends the writing of one row."""

    def __init__(self, code: int, source: int) -> None:
        super().__init__()
        self.code = code
        self.source = source


def encode_rows(
    sources: Sequence[Source], steps: Sequence[WriteStep], blob: bytes, prefix: bytes
) -> tuple[Filled, list[Flaw]]:
    """A record for each row of source 0, by step 0, each with the prefix before it; null rows are null.

    A flaw's position is the number of the source whose value did not fit.
    """
    writer = _Writer(sources, steps, blob)
    records: list[bytes] = []
    valid: list[bool] = []
    offsets = [0]
    flaws = []
    for row in range(sources[0].rows):
        data = b""
        is_valid = not writer.is_null(0, row)
        if is_valid:
            try:
                data = prefix + writer.record(row)
                if offsets[-1] + len(data) > BYTES_MAX:
                    raise BadRowError(Code.COLUMN_FULL, 0)
            except BadRowError as error:
                data, is_valid = b"", False
                flaws.append(Flaw(row, error.code, error.source))
        records.append(data)
        valid.append(is_valid)
        offsets.append(offsets[-1] + len(data))
    bitmap = bytearray((len(valid) + 7) // 8)
    for row, bit in enumerate(valid):
        bitmap[row >> 3] |= bit << (row & 7)
    nulls = valid.count(False)
    ends = struct.pack(f"={len(offsets)}i", *offsets)
    return Filled(len(valid), nulls, bytes(bitmap) if nulls else None, ends, b"".join(records)), flaws


class _Writer:
    def __init__(self, sources: Sequence[Source], steps: Sequence[WriteStep], blob: bytes) -> None:
        self._sources: Final = sources
        self._steps: Final = steps
        self._blob: Final = blob
        self._data: Final = [_octets(source.data) for source in sources]
        self._offsets: Final = [_octets(source.offsets).cast("i") for source in sources]
        self._out = bytearray()

    def record(self, row: int) -> bytes:
        self._out = bytearray()
        self._run(0, row)
        return bytes(self._out)

    def is_null(self, number: int, row: int) -> bool:
        source = self._sources[number]
        if source.validity is None:
            return False
        bit = source.first + row
        return not memoryview(source.validity).cast("B")[bit >> 3] >> (bit & 7) & 1

    def _run(self, number: int, row: int) -> None:
        step = self._steps[number]
        if step.op not in (Write.OPTION, Write.MEMBERS, Write.NOTHING, Write.CONSTANT) and self.is_null(
            step.source, row
        ):
            raise BadRowError(Code.NULL_VALUE, step.source)
        _RUN[step.op](self, step, row)

    def _nothing(self, step: WriteStep, row: int) -> None:
        pass

    def _boolean(self, step: WriteStep, row: int) -> None:
        bit = self._sources[step.source].first + row
        self._out.append(self._data[step.source][bit >> 3] >> (bit & 7) & 1)

    def _cell(self, step: WriteStep, row: int) -> memoryview:
        source = self._sources[step.source]
        at = (source.first + row) * source.width
        return self._data[step.source][at : at + source.width]

    def _number(self, step: WriteStep, row: int) -> None:
        self._out += number(int.from_bytes(self._cell(step, row), "little", signed=True))

    def _fixed(self, step: WriteStep, row: int) -> None:
        self._out += self._cell(step, row)

    def _range(self, step: WriteStep, row: int, bound: int) -> tuple[int, int]:
        offsets, at = self._offsets[step.source], self._sources[step.source].first + row
        start, end = offsets[at], offsets[at + 1]
        if not 0 <= start <= end <= bound:
            raise BadRowError(Code.ENDS_EARLY, step.source)
        return start, end

    def _bytes(self, step: WriteStep, row: int) -> None:
        data = self._data[step.source]
        start, end = self._range(step, row, len(data))
        self._out += number(end - start) + data[start:end]

    def _symbol(self, step: WriteStep, row: int) -> None:
        index = int.from_bytes(self._cell(step, row), "little", signed=True)
        if index < 0:
            raise BadRowError(Code.NO_SUCH_SYMBOL, step.source)
        self._out += number(index)

    def _decimal(self, step: WriteStep, row: int) -> None:
        value = int.from_bytes(self._cell(step, row), "little", signed=True)
        size = (value + (value < 0)).bit_length() // 8 + 1 if step.a < 0 else step.a
        if step.a < 0:
            self._out += number(size)
        try:
            self._out += value.to_bytes(size, "big", signed=True)
        except OverflowError:
            raise BadRowError(Code.DECIMAL_TOO_LARGE, step.source) from None

    def _record(self, step: WriteStep, row: int) -> None:
        for part in step.parts:
            self._run(part, row)

    def _array(self, step: WriteStep, row: int) -> None:
        start, end = self._range(step, row, self._sources[step.a].rows)
        if end > start:
            self._out += number(end - start)
            for item in range(start, end):
                for part in step.parts:
                    self._run(part, item)
        self._out.append(0)

    def _option(self, step: WriteStep, row: int) -> None:
        if self.is_null(step.source, row):
            if step.a < 0:
                raise BadRowError(Code.NULL_VALUE, step.source)
            self._out += number(step.a)
            return
        self._out += number(step.b)
        self._run(step.parts[0], row)

    def _members(self, step: WriteStep, row: int) -> None:
        if self.is_null(step.source, row):
            if step.a < 0:
                raise BadRowError(Code.NULL_VALUE, step.source)
            self._out += number(step.a)
            return
        chosen = [part for part in step.parts if not self.is_null(self._steps[part].source, row)]
        if len(chosen) != 1:
            raise BadRowError(Code.WRONG_MEMBERS, step.source)
        self._run(chosen[0], row)

    def _constant(self, step: WriteStep, row: int) -> None:
        self._out += self._blob[step.a : step.a + step.b]


_RUN: Final[dict[Write, Callable[[_Writer, WriteStep, int], None]]] = {
    Write.NOTHING: _Writer._nothing,
    Write.BOOLEAN: _Writer._boolean,
    Write.INT: _Writer._number,
    Write.LONG: _Writer._number,
    Write.FIXED: _Writer._fixed,
    Write.BYTES: _Writer._bytes,
    Write.SYMBOL: _Writer._symbol,
    Write.DECIMAL: _Writer._decimal,
    Write.RECORD: _Writer._record,
    Write.ARRAY: _Writer._array,
    Write.OPTION: _Writer._option,
    Write.MEMBERS: _Writer._members,
    Write.CONSTANT: _Writer._constant,
}


def _octets(data: Buffer | None) -> memoryview:
    return memoryview(b"" if data is None else data).cast("B")
