"""The loop from encoded records to the buffers of Arrow arrays, in plain Python; `_decoder` does the same, compiled.

A decoder is made for one reader's schema; programs are added for writers' schemas.
"""

import struct
from collections.abc import Callable
from typing import Final

from ottla.base.buffer import Buffer
from ottla.schema.columns.layout import (
    BYTES_MAX,
    DEPTH_MAX,
    EMPTY_ITEMS_MAX,
    Code,
    Kind,
    Op,
    Program,
    ReadStep,
)
from ottla.schema.columns.slot_plain import BadRecordError, RowDecoder, SlotArray, is_valid, octets

NO_RECORD: Final = -1
NO_FRAME: Final = -2
_FRAME: Final = struct.Struct(">bI")
_INT: Final = range(-(1 << 31), 1 << 31)


def frame_ids(data: Buffer, offsets: Buffer, validity: Buffer | None, first: int, rows: int) -> bytes:
    """The schema id of each record, as int64; -1 for null, -2 for what has no frame."""
    view, ends = octets(data), memoryview(offsets).cast("B").cast("i")
    ids = []
    for row in range(first, first + rows):
        if not is_valid(validity, row):
            ids.append(NO_RECORD)
        elif ends[row + 1] - ends[row] < _FRAME.size or view[ends[row]] != 0:
            ids.append(NO_FRAME)
        else:
            ids.append(_FRAME.unpack_from(view, ends[row])[1])
    return struct.pack(f"={rows}q", *ids)


class ColumnDecoder(RowDecoder):
    """Reads Avro records."""

    def read(self, program: Program, data: memoryview) -> None:
        """Appends one record to the slots."""
        _Record(self.arrays, program, data, self.append_null).run(0)


class _Record:
    """One record's bytes, and how far they are read."""

    def __init__(
        self, arrays: list[SlotArray], program: Program, data: memoryview, append_null: Callable[[int], None]
    ) -> None:
        self._arrays: Final = arrays
        self._program: Final = program
        self._data = data
        self._at = 0
        self._depth = 0
        self._empty_left = EMPTY_ITEMS_MAX
        self._append_null: Final = append_null

    def run(self, number: int) -> None:
        """One step."""
        step = self._program.steps[number]
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._bad(Code.TOO_DEEP)
        _RUN[step.op](self, step)
        self._depth -= 1

    def _bad(self, code: int) -> BadRecordError:
        return BadRecordError(code, self._at)

    def _bytes(self, size: int) -> memoryview:
        if size > len(self._data) - self._at:
            raise self._bad(Code.ENDS_EARLY)
        self._at += size
        return self._data[self._at - size : self._at]

    def _number(self) -> int:
        raw = 0
        start = self._at
        for shift in range(0, 70, 7):
            if self._at >= len(self._data):
                self._at = start
                raise self._bad(Code.ENDS_EARLY)
            byte = self._data[self._at]
            self._at += 1
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                raw &= (1 << 64) - 1
                return (raw >> 1) ^ -(raw & 1)
        self._at = start
        raise self._bad(Code.NUMBER_TOO_LONG)

    def _length(self) -> int:
        length = self._number()
        if length < 0:
            raise self._bad(Code.NEGATIVE_LENGTH)
        return length

    def _append(self, step: ReadStep, value: bytes | memoryview) -> None:
        array = self._arrays[step.slot]
        array.valid.append(True)
        array.values.append(bytes(value))
        if array.kind is Kind.BYTES:
            if array.offsets[-1] + len(value) > BYTES_MAX:
                raise self._bad(Code.COLUMN_FULL)
            array.offsets.append(array.offsets[-1] + len(value))

    def _null(self, step: ReadStep) -> None:
        self._append_null(step.slot)

    def _boolean(self, step: ReadStep) -> None:
        array = self._arrays[step.slot]
        value = self._bytes(1)[0] != 0
        array.valid.append(True)
        array.bits.append(value)

    def _int(self, step: ReadStep) -> None:
        value = self._number()
        if value not in _INT:
            raise self._bad(Code.INT_TOO_LARGE)
        self._append(step, struct.pack("=i", value))

    def _long(self, step: ReadStep) -> None:
        self._append(step, struct.pack("=q", self._number()))

    def _float(self, step: ReadStep) -> None:
        self._append(step, struct.pack("=I", *struct.unpack("<I", self._bytes(4))))

    def _double(self, step: ReadStep) -> None:
        self._append(step, struct.pack("=Q", *struct.unpack("<Q", self._bytes(8))))

    def _integer_as_float(self, step: ReadStep) -> None:
        self._append(step, struct.pack("=f", _nearest_single(self._number())))

    def _integer_as_double(self, step: ReadStep) -> None:
        self._append(step, struct.pack("=d", self._number()))

    def _float_as_double(self, step: ReadStep) -> None:
        self._append(step, struct.pack("=d", *struct.unpack("<f", self._bytes(4))))

    def _string(self, step: ReadStep) -> None:
        self._append(step, self._text_of(self._bytes(self._length())))

    def _text_of(self, value: memoryview) -> memoryview:
        """The bytes themselves, once they turn out to be UTF-8."""
        try:
            str(value, "utf-8")
        except UnicodeDecodeError:
            raise self._bad(Code.NOT_UTF8) from None
        return value

    def _bytes_value(self, step: ReadStep) -> None:
        self._append(step, self._bytes(self._length()))

    def _fixed(self, step: ReadStep) -> None:
        self._append(step, self._bytes(step.a))

    def _decimal(self, step: ReadStep) -> None:
        raw = self._bytes(self._length() if step.a < 0 else step.a)
        width = self._arrays[step.slot].width
        bound = int.from_bytes(self._program.blob[step.b : step.b + width], "little")
        value = int.from_bytes(raw, "big", signed=True)
        if not -bound < value < bound:
            raise self._bad(Code.DECIMAL_TOO_LARGE)
        self._append(step, value.to_bytes(width, "little", signed=True))

    def _record(self, step: ReadStep) -> None:
        for part in step.parts:
            self.run(part)
        self._arrays[step.slot].valid.append(True)

    def _array(self, step: ReadStep) -> None:
        self._blocks(step)
        array = self._arrays[step.slot]
        self._push_list(step, len(self._arrays[array.children[0]].valid))

    def _map(self, step: ReadStep) -> None:
        array = self._arrays[step.slot]
        entries = self._arrays[array.children[0]]
        self._blocks(step, lambda: entries.valid.append(True))
        self._push_list(step, len(entries.valid))

    def _push_list(self, step: ReadStep, end: int) -> None:
        if end > BYTES_MAX:
            raise self._bad(Code.COLUMN_FULL)
        array = self._arrays[step.slot]
        array.valid.append(True)
        array.offsets.append(end)

    def _blocks(self, step: ReadStep, after_item: Callable[[], None] = lambda: None) -> None:
        while True:
            count = self._number()
            if count == 0:
                return
            if count < 0:
                count = -count
                self._length()
            if step.op in (Op.MAP, Op.SKIP_MAP) or step.a:
                if count > len(self._data) - self._at:
                    raise self._bad(Code.TOO_MANY_ITEMS)
            else:
                self._empty_left -= count
                if self._empty_left < 0:
                    raise self._bad(Code.TOO_MANY_ITEMS)
            for _ in range(count):
                for part in step.parts:
                    self.run(part)
                after_item()

    def _member(self, step: ReadStep) -> None:
        array = self._arrays[step.slot]
        for number, child in enumerate(array.children):
            if number != step.a:
                self._append_null(child)
        self.run(step.parts[0])
        array.valid.append(True)

    def _bare(self, step: ReadStep) -> None:
        value = self._bytes(len(self._data) - self._at)
        self._append(step, self._text_of(value) if step.a else value)

    def _text(self, step: ReadStep) -> None:
        self._append(step, self._program.blob[step.a : step.a + step.b])

    def _constant(self, step: ReadStep) -> None:
        data, at = self._data, self._at
        self._data, self._at = memoryview(self._program.blob)[step.a : step.a + step.b], 0
        self.run(step.parts[0])
        self._data, self._at = data, at

    def _choice(self, step: ReadStep) -> None:
        branch = self._number()
        if not 0 <= branch < len(step.parts):
            raise self._bad(Code.NO_SUCH_BRANCH)
        self.run(step.parts[branch])

    def _fail(self, step: ReadStep) -> None:
        raise self._bad(Code.REASON + step.a)

    def _skip_number(self, step: ReadStep) -> None:
        self._number()

    def _skip_bytes(self, step: ReadStep) -> None:
        self._bytes(self._length())

    def _skip_fixed(self, step: ReadStep) -> None:
        self._bytes(step.a)

    def _skip_record(self, step: ReadStep) -> None:
        for part in step.parts:
            self.run(part)

    def _skip_blocks(self, step: ReadStep) -> None:
        self._blocks(step)


_RUN: Final[dict[Op, Callable[[_Record, ReadStep], None]]] = {
    Op.NULL: _Record._null,
    Op.BOOLEAN: _Record._boolean,
    Op.INT: _Record._int,
    Op.LONG: _Record._long,
    Op.FLOAT: _Record._float,
    Op.DOUBLE: _Record._double,
    Op.INTEGER_AS_FLOAT: _Record._integer_as_float,
    Op.INTEGER_AS_DOUBLE: _Record._integer_as_double,
    Op.FLOAT_AS_DOUBLE: _Record._float_as_double,
    Op.STRING: _Record._string,
    Op.BYTES: _Record._bytes_value,
    Op.FIXED: _Record._fixed,
    Op.DECIMAL: _Record._decimal,
    Op.RECORD: _Record._record,
    Op.ARRAY: _Record._array,
    Op.MAP: _Record._map,
    Op.MEMBER: _Record._member,
    Op.BARE: _Record._bare,
    Op.TEXT: _Record._text,
    Op.CONSTANT: _Record._constant,
    Op.CHOICE: _Record._choice,
    Op.FAIL: _Record._fail,
    Op.SKIP_NUMBER: _Record._skip_number,
    Op.SKIP_BYTES: _Record._skip_bytes,
    Op.SKIP_FIXED: _Record._skip_fixed,
    Op.SKIP_RECORD: _Record._skip_record,
    Op.SKIP_ARRAY: _Record._skip_blocks,
    Op.SKIP_MAP: _Record._skip_blocks,
}


def _nearest_single(value: int) -> float:
    """A long as the nearest float, rounded once, as C does: through a double it would be rounded twice."""
    if abs(value) < 1 << 24:
        return float(value)
    shift = abs(value).bit_length() - 24
    kept, rest = abs(value) >> shift, abs(value) & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and kept & 1):
        kept += 1
    return float(kept << shift) * (1 if value >= 0 else -1)
