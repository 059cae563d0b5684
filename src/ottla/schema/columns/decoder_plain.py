"""The loop from encoded records to the buffers of Arrow arrays, in plain Python; `_decoder` does the same, compiled.

A record that can't be read leaves nothing behind: all slots are cut back to the row before, and get a null. Nothing
has to be remembered for that, since the length of every slot follows from the offsets of the slot around it.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Final

from ottla.base.buffer import Buffer
from ottla.schema.columns.layout import (
    BYTES_MAX,
    DEPTH_MAX,
    EMPTY_ITEMS_MAX,
    Code,
    Filled,
    Flaw,
    Kind,
    Op,
    Program,
    Slot,
    Step,
)

NO_RECORD: Final = -1
NO_FRAME: Final = -2
_FRAME: Final = struct.Struct(">bI")
_INT: Final = range(-(1 << 31), 1 << 31)


def frame_ids(data: Buffer, offsets: Buffer, validity: Buffer | None, first: int, rows: int) -> bytes:
    """The schema id of each record, as int64; -1 for null, -2 for what has no frame."""
    view, ends = _octets(data), memoryview(offsets).cast("B").cast("i")
    ids = []
    for row in range(first, first + rows):
        if not _is_valid(validity, row):
            ids.append(NO_RECORD)
        elif ends[row + 1] - ends[row] < _FRAME.size or view[ends[row]] != 0:
            ids.append(NO_FRAME)
        else:
            ids.append(_FRAME.unpack_from(view, ends[row])[1])
    return struct.pack(f"={rows}q", *ids)


def _is_valid(validity: Buffer | None, row: int) -> bool:
    return validity is None or bool(_octets(validity)[row >> 3] >> (row & 7) & 1)


def _octets(data: Buffer) -> memoryview:
    """pyarrow's own buffers show signed bytes."""
    return memoryview(data).cast("B")


class BadRecordError(Exception):
    """Ends the reading of one record."""

    def __init__(self, code: int, position: int) -> None:
        super().__init__()
        self.code = code
        self.position = position


class _Array:
    """A slot while it is filled."""

    def __init__(self, slot: Slot) -> None:
        self.kind: Final = slot.kind
        self.width: Final = slot.width
        self.children: Final = slot.children
        self.valid: list[bool] = []
        self.values: list[bytes] = []
        self.bits: list[bool] = []
        self.offsets: list[int] = [0]

    def filled(self) -> Filled:
        rows, nulls = len(self.valid), self.valid.count(False)
        if self.kind is Kind.NOTHING:
            return Filled(rows, rows, None, None, None)
        offsets = data = None
        if self.kind is Kind.BIT:
            data = _packed(self.bits)
        elif self.kind in (Kind.FIXED, Kind.BYTES):
            data = b"".join(self.values)
        if self.kind in (Kind.BYTES, Kind.LIST):
            offsets = struct.pack(f"={rows + 1}i", *self.offsets)
        return Filled(rows, nulls, _packed(self.valid) if nulls else None, offsets, data)


class ColumnDecoder:
    """Appends one column of records after another, and then hands out the buffers."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots: Final = tuple(slots)
        self._programs: Final[list[Program]] = []
        self._start()

    def _start(self) -> None:
        self._arrays = [_Array(slot) for slot in self._slots]

    def add(self, program: Program) -> int:
        """The number of a program, for `run`."""
        self._programs.append(program)
        return len(self._programs) - 1

    def run(
        self, data: Buffer, offsets: Buffer, validity: Buffer | None, first: int, programs: Buffer, skip: int
    ) -> list[Flaw]:
        """Decodes a row for each of `programs` (int32), from row `first` on; a negative number makes a null.

        `skip` bytes stand before each record. Returns the rows that could not be read, counted from `first`.
        """
        view, ends = _octets(data), memoryview(offsets).cast("B").cast("i")
        flaws = []
        for row, number in enumerate(memoryview(programs).cast("B").cast("i")):
            if number < 0 or not _is_valid(validity, first + row):
                self._append_null(0)
                continue
            start, end = ends[first + row], ends[first + row + 1]
            before = len(self._arrays[0].valid)
            try:
                if not 0 <= start + skip <= end <= len(view):
                    raise BadRecordError(Code.ENDS_EARLY, 0)
                _Record(self._arrays, self._programs[number], view[start + skip : end], self._append_null).run(0)
            except BadRecordError as error:
                self._truncate(0, before)
                self._append_null(0)
                flaws.append(Flaw(row, error.code, error.position))
        return flaws

    def finish(self) -> list[Filled]:
        """The buffers of each slot; the decoder is empty again."""
        filled = [array.filled() for array in self._arrays]
        self._start()
        return filled

    def _append_null(self, number: int) -> None:
        array = self._arrays[number]
        array.valid.append(False)
        if array.kind is Kind.BIT:
            array.bits.append(False)
        elif array.kind is Kind.FIXED:
            array.values.append(bytes(array.width))
        elif array.kind is Kind.BYTES:
            array.values.append(b"")
            array.offsets.append(array.offsets[-1])
        elif array.kind is Kind.LIST:
            array.offsets.append(array.offsets[-1])
        else:
            for child in array.children:
                self._append_null(child)

    def _truncate(self, number: int, rows: int) -> None:
        array = self._arrays[number]
        del array.valid[rows:], array.bits[rows:], array.values[rows:], array.offsets[rows + 1 :]
        for child in array.children:
            self._truncate(child, array.offsets[rows] if array.kind is Kind.LIST else rows)


class _Record:
    """One record's bytes, and how far they are read."""

    def __init__(
        self, arrays: list[_Array], program: Program, data: memoryview, append_null: Callable[[int], None]
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

    def _append(self, step: Step, value: bytes | memoryview) -> None:
        array = self._arrays[step.slot]
        array.valid.append(True)
        array.values.append(bytes(value))
        if array.kind is Kind.BYTES:
            if array.offsets[-1] + len(value) > BYTES_MAX:
                raise self._bad(Code.COLUMN_FULL)
            array.offsets.append(array.offsets[-1] + len(value))

    def _null(self, step: Step) -> None:
        self._append_null(step.slot)

    def _boolean(self, step: Step) -> None:
        array = self._arrays[step.slot]
        value = self._bytes(1)[0] != 0
        array.valid.append(True)
        array.bits.append(value)

    def _int(self, step: Step) -> None:
        value = self._number()
        if value not in _INT:
            raise self._bad(Code.INT_TOO_LARGE)
        self._append(step, struct.pack("=i", value))

    def _long(self, step: Step) -> None:
        self._append(step, struct.pack("=q", self._number()))

    def _float(self, step: Step) -> None:
        self._append(step, struct.pack("=I", *struct.unpack("<I", self._bytes(4))))

    def _double(self, step: Step) -> None:
        self._append(step, struct.pack("=Q", *struct.unpack("<Q", self._bytes(8))))

    def _integer_as_float(self, step: Step) -> None:
        self._append(step, struct.pack("=f", _nearest_single(self._number())))

    def _integer_as_double(self, step: Step) -> None:
        self._append(step, struct.pack("=d", self._number()))

    def _float_as_double(self, step: Step) -> None:
        self._append(step, struct.pack("=d", *struct.unpack("<f", self._bytes(4))))

    def _string(self, step: Step) -> None:
        value = self._bytes(self._length())
        try:
            str(value, "utf-8")
        except UnicodeDecodeError:
            raise self._bad(Code.NOT_UTF8) from None
        self._append(step, value)

    def _bytes_value(self, step: Step) -> None:
        self._append(step, self._bytes(self._length()))

    def _fixed(self, step: Step) -> None:
        self._append(step, self._bytes(step.a))

    def _decimal(self, step: Step) -> None:
        raw = self._bytes(self._length() if step.a < 0 else step.a)
        width = self._arrays[step.slot].width
        bound = int.from_bytes(self._program.blob[step.b : step.b + width], "little")
        value = int.from_bytes(raw, "big", signed=True)
        if not -bound < value < bound:
            raise self._bad(Code.DECIMAL_TOO_LARGE)
        self._append(step, value.to_bytes(width, "little", signed=True))

    def _record(self, step: Step) -> None:
        for part in step.parts:
            self.run(part)
        self._arrays[step.slot].valid.append(True)

    def _array(self, step: Step) -> None:
        self._blocks(step)
        array = self._arrays[step.slot]
        self._push_list(step, len(self._arrays[array.children[0]].valid))

    def _map(self, step: Step) -> None:
        array = self._arrays[step.slot]
        entries = self._arrays[array.children[0]]
        self._blocks(step, lambda: entries.valid.append(True))
        self._push_list(step, len(entries.valid))

    def _push_list(self, step: Step, end: int) -> None:
        if end > BYTES_MAX:
            raise self._bad(Code.COLUMN_FULL)
        array = self._arrays[step.slot]
        array.valid.append(True)
        array.offsets.append(end)

    def _blocks(self, step: Step, after_item: Callable[[], None] = lambda: None) -> None:
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

    def _member(self, step: Step) -> None:
        array = self._arrays[step.slot]
        for number, child in enumerate(array.children):
            if number != step.a:
                self._append_null(child)
        self.run(step.parts[0])
        array.valid.append(True)

    def _bare(self, step: Step) -> None:
        self._append(step, self._bytes(len(self._data) - self._at))

    def _text(self, step: Step) -> None:
        self._append(step, self._program.blob[step.a : step.a + step.b])

    def _constant(self, step: Step) -> None:
        data, at = self._data, self._at
        self._data, self._at = memoryview(self._program.blob)[step.a : step.a + step.b], 0
        self.run(step.parts[0])
        self._data, self._at = data, at

    def _choice(self, step: Step) -> None:
        branch = self._number()
        if not 0 <= branch < len(step.parts):
            raise self._bad(Code.NO_SUCH_BRANCH)
        self.run(step.parts[branch])

    def _fail(self, step: Step) -> None:
        raise self._bad(Code.REASON + step.a)

    def _skip_number(self, step: Step) -> None:
        self._number()

    def _skip_bytes(self, step: Step) -> None:
        self._bytes(self._length())

    def _skip_fixed(self, step: Step) -> None:
        self._bytes(step.a)

    def _skip_record(self, step: Step) -> None:
        for part in step.parts:
            self.run(part)

    def _skip_blocks(self, step: Step) -> None:
        self._blocks(step)


_RUN: Final[dict[Op, Callable[[_Record, Step], None]]] = {
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


def _packed(bits: Sequence[bool]) -> bytes:
    packed = bytearray((len(bits) + 7) // 8)
    for row, bit in enumerate(bits):
        packed[row >> 3] |= bit << (row & 7)
    return bytes(packed)
