"""The loop from Arrow arrays to encoded records, in plain Python; `_encoder` does the same, compiled.

A row that can't be written leaves no bytes behind, and is null. Lengths and offsets of arrays are not trusted.
"""

import re
import struct
from collections.abc import Callable, Sequence
from typing import Final

from ottla.base.buffer import Buffer
from ottla.schema.columns.default import number
from ottla.schema.columns.json.text_plain import is_json
from ottla.schema.columns.layout import BYTES_MAX, Code, Filled, Flaw, Kind
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
        if step.op not in _TAKES_NULL and self.is_null(step.source, row):
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

    def _parts(self, step: WriteStep, row: int) -> None:
        for part in step.parts:
            self._run(part, row)

    def _present(self, step: WriteStep, row: int) -> None:
        if not self.is_null(step.source, row):
            self._parts(step, row)

    def _nonzero(self, step: WriteStep, row: int) -> None:
        if not self.is_null(step.source, row) and not self._is_zero(step, row):
            self._parts(step, row)

    def _is_zero(self, step: WriteStep, row: int) -> bool:
        source = self._sources[step.source]
        if source.kind is Kind.BIT:
            bit = source.first + row
            return not self._data[step.source][bit >> 3] >> (bit & 7) & 1
        if source.kind is Kind.BYTES:
            start, end = self._range(step, row, len(self._data[step.source]))
            return start == end
        return not any(self._cell(step, row))

    def _repeated(self, step: WriteStep, row: int) -> None:
        if self.is_null(step.source, row):
            return
        start, end = self._range(step, row, self._sources[step.a].rows)
        for item in range(start, end):
            self._parts(step, item)

    def _packed(self, step: WriteStep, row: int) -> None:
        if self.is_null(step.source, row):
            return
        start, end = self._range(step, row, self._sources[step.a].rows)
        if start == end:
            return
        self._run(step.parts[0], row)
        before, self._out = self._out, bytearray()
        for item in range(start, end):
            self._run(step.parts[1], item)
        self._out = before + unsigned(len(self._out)) + self._out

    def _sized(self, step: WriteStep, row: int) -> None:
        before, self._out = self._out, bytearray()
        self._parts(step, row)
        self._out = before + unsigned(len(self._out)) + self._out

    def _varint(self, step: WriteStep, row: int) -> None:
        value = int.from_bytes(self._cell(step, row), "little", signed=True)
        self._out += unsigned(value & ((1 << 64) - 1))

    def _unsigned(self, step: WriteStep, row: int) -> None:
        self._out += unsigned(int.from_bytes(self._cell(step, row), "little"))

    def _slice(self, step: WriteStep, row: int) -> memoryview:
        data = self._data[step.source]
        start, end = self._range(step, row, len(data))
        return data[start:end]

    def _text(self, step: WriteStep, row: int) -> None:
        data = self._slice(step, row)
        self._out += unsigned(len(data)) + data

    def _enum(self, step: WriteStep, row: int) -> None:
        value = int.from_bytes(self._cell(step, row), "little", signed=True)
        if value < -(1 << 31):
            raise BadRowError(Code.NO_SUCH_SYMBOL, step.source)
        self._out += unsigned(value & ((1 << 64) - 1))

    def _json_object(self, step: WriteStep, row: int) -> None:
        start = len(self._out)
        self._parts(step, row)
        self._close(start, b"{}")

    def _json_list(self, step: WriteStep, row: int) -> None:
        start = len(self._out)
        first, last = self._range(step, row, self._sources[step.a].rows)
        for item in range(first, last):
            self._out += b","
            self._run(step.parts[0], item)
            if step.op is Write.JSON_MAP:
                self._out += b":"
                self._run(step.parts[1], item)
        self._close(start, b"{}" if step.op is Write.JSON_MAP else b"[]")

    def _close(self, start: int, brackets: bytes) -> None:
        """The opening bracket takes the place of the first comma."""
        self._out[start : start + 1] = brackets[:1]
        self._out += brackets[1:]

    def _json_string(self, step: WriteStep, row: int) -> None:
        self._out += b'"' + _ESCAPED.sub(_escape, bytes(self._slice(step, row))) + b'"'

    def _json_raw(self, step: WriteStep, row: int) -> None:
        self._out += self._slice(step, row)

    def _json_text(self, step: WriteStep, row: int) -> None:
        data = bytes(self._slice(step, row))
        if not is_json(data):
            raise BadRowError(Code.NOT_JSON, step.source)
        self._out += data

    def _json_option(self, step: WriteStep, row: int) -> None:
        if self.is_null(step.source, row):
            self._out += b"null"
        else:
            self._parts(step, row)


_RUN: Final[dict[Write, Callable[[_Writer, WriteStep, int], None]]] = {
    Write.NOTHING: _Writer._nothing,
    Write.BOOLEAN: _Writer._boolean,
    Write.INT: _Writer._number,
    Write.LONG: _Writer._number,
    Write.FIXED: _Writer._fixed,
    Write.BYTES: _Writer._bytes,
    Write.SYMBOL: _Writer._symbol,
    Write.DECIMAL: _Writer._decimal,
    Write.RECORD: _Writer._parts,
    Write.ARRAY: _Writer._array,
    Write.OPTION: _Writer._option,
    Write.MEMBERS: _Writer._members,
    Write.CONSTANT: _Writer._constant,
    Write.PRESENT: _Writer._present,
    Write.NONZERO: _Writer._nonzero,
    Write.REPEATED: _Writer._repeated,
    Write.PACKED: _Writer._packed,
    Write.SIZED: _Writer._sized,
    Write.VARINT: _Writer._varint,
    Write.UNSIGNED: _Writer._unsigned,
    Write.TEXT: _Writer._text,
    Write.ENUM: _Writer._enum,
    Write.JSON_OBJECT: _Writer._json_object,
    Write.JSON_LIST: _Writer._json_list,
    Write.JSON_MAP: _Writer._json_list,
    Write.JSON_STRING: _Writer._json_string,
    Write.JSON_RAW: _Writer._json_raw,
    Write.JSON_TEXT: _Writer._json_text,
    Write.JSON_OPTION: _Writer._json_option,
    Write.JSON_MEMBER: _Writer._parts,
}
_TAKES_NULL: Final = frozenset({
    *(Write.OPTION, Write.MEMBERS, Write.NOTHING, Write.CONSTANT, Write.PRESENT, Write.NONZERO),
    *(Write.REPEATED, Write.PACKED, Write.JSON_OPTION, Write.JSON_MEMBER),
})  # fmt: skip
_ESCAPED: Final = re.compile(rb'["\\\x00-\x1f]')
_SHORT: Final = {0x22: b'\\"', 0x5C: b"\\\\", 8: b"\\b", 12: b"\\f", 10: b"\\n", 13: b"\\r", 9: b"\\t"}


def _escape(found: re.Match[bytes]) -> bytes:
    character = found.group()[0]
    return _SHORT.get(character) or b"\\u%04x" % character


def unsigned(value: int) -> bytes:
    """A varint without a sign.

    >>> unsigned(1).hex(), unsigned(300).hex()
    ('01', 'ac02')
    """
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _octets(data: Buffer | None) -> memoryview:
    return memoryview(b"" if data is None else data).cast("B")
