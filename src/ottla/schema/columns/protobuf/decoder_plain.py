"""The loop from Protobuf records to the buffers of Arrow arrays, in plain Python; `_decoder` does the same, compiled.

Fields may come in any order, and again. Values go to their columns as they are met; one that comes again replaces the
one before. Messages that are not repeated wait for the end of the whole, since those that come again are merged.
"""

import struct
from bisect import bisect_left
from collections.abc import Callable
from typing import Final

from ottla.schema.columns.layout import BYTES_MAX, DEPTH_MAX, Code, Slot
from ottla.schema.columns.protobuf.layout import (
    Absent,
    FieldPlan,
    MessageLayout,
    MessagePlan,
    MessageProgram,
    Value,
)
from ottla.schema.columns.slot_plain import BadRecordError, RowDecoder

_VARINT, _FIXED64, _SIZED, _GROUP, _GROUP_END, _FIXED32 = range(6)
_FIRST: Final = (b"\x00", b"\x02\x00")
"""Both ways to write the place of the first message."""


class MessageDecoder(RowDecoder):
    """Reads Protobuf records."""

    def __init__(self, slots: tuple[Slot, ...], layout: MessageLayout) -> None:
        super().__init__(slots)
        self.layout: Final = layout
        self.numbers: Final = [[field.number for field in plan.fields] for plan in layout.plans]

    def read(self, program: MessageProgram, data: memoryview) -> None:
        """Appends one record to the slots."""
        places = _FIRST if program.place == _FIRST[0] else (program.place,)
        start = next((len(place) for place in places if place and data[: len(place)] == place), None)
        if start is None:
            raise BadRecordError(Code.REASON, 0)
        _Reading(self, data, start).message(0, len(data))


class _Seen:
    """The fields of one message that were met."""

    def __init__(self, plan: MessagePlan, row: int) -> None:
        self.row: Final = row
        self.counts: Final = [0] * len(plan.fields)
        self.first: Final = [0] * len(plan.fields)
        self.oneofs: Final = [-1] * plan.oneofs


class _Reading:
    """One record's bytes, and how far they are read."""

    def __init__(self, decoder: MessageDecoder, data: memoryview, at: int) -> None:
        self._decoder: Final = decoder
        self._arrays: Final = decoder.arrays
        self._data = data
        self._at = at

    def message(self, number: int, end: int) -> None:
        """From where reading is up to the end, as a row of the plan's slot."""
        plan = self._decoder.layout.plans[number]
        seen = _Seen(plan, len(self._arrays[plan.slot].valid))
        while self._at < end:
            start = self._at
            tag = self._tag(end)
            index = self._find(number, tag)
            if index is None:
                self._skip(tag, end, 0)
            elif plan.fields[index].absent is Absent.LIST:
                self._repeated(plan.fields[index], tag, end)
            else:
                self._single(plan, index, seen, (start, tag, end))
        for index in range(len(plan.fields)):
            self._complete(number, index, seen, end)
        self._at = end
        self._arrays[plan.slot].valid.append(True)

    def _find(self, number: int, tag: int) -> int | None:
        """Which field a tag means; one in another wire type is not known."""
        numbers = self._decoder.numbers[number]
        index = bisect_left(numbers, tag >> 3)
        if index == len(numbers) or numbers[index] != tag >> 3:
            return None
        field = self._decoder.layout.plans[number].fields[index]
        fits = tag & 7 == _wire(field.value)
        return index if fits or _is_packed(field, tag) else None

    def _repeated(self, field: FieldPlan, tag: int, end: int) -> None:
        if not _is_packed(field, tag):
            self._value(field, end)
            return
        stop = self._sized_end(end)
        while self._at < stop:
            self._value(field, stop)

    def _single(self, plan: MessagePlan, index: int, seen: _Seen, place: tuple[int, int, int]) -> None:
        start, tag, end = place
        field = plan.fields[index]
        if field.oneof >= 0:
            other = seen.oneofs[field.oneof]
            if other not in (-1, index):
                self._decoder.truncate(plan.fields[other].slot, seen.row)
                seen.counts[other] = 0
            seen.oneofs[field.oneof] = index
        if seen.counts[index] == 0:
            seen.first[index] = start
        seen.counts[index] = min(seen.counts[index] + 1, 2)
        if field.value is Value.MESSAGE:
            self._skip(tag, end, 0)
            return
        self._decoder.truncate(field.slot, seen.row)
        self._value(field, end)

    def _complete(self, number: int, index: int, seen: _Seen, end: int) -> None:
        field = self._decoder.layout.plans[number].fields[index]
        if field.absent is Absent.LIST:
            rows = len(self._arrays[field.item].valid)
            if rows > BYTES_MAX:
                raise self._bad(Code.COLUMN_FULL)
            self._arrays[field.slot].valid.append(True)
            self._arrays[field.slot].offsets.append(rows)
        elif seen.counts[index] == 0:
            self._absent(field)
        elif field.value is Value.MESSAGE:
            self._at = seen.first[index]
            if seen.counts[index] == 1:
                self._tag(end)
                self._value(field, end)
            else:
                self._merged(number, index, end)

    def _absent(self, field: FieldPlan) -> None:
        if field.absent is Absent.REQUIRED:
            raise self._bad(Code.REASON + field.reason)
        if field.absent is Absent.NULL:
            self._decoder.append_null(field.slot)
            return
        data, at = self._data, self._at
        self._data, self._at = memoryview(field.default), 0
        try:
            self._value(field, len(field.default))
        except BadRecordError as error:
            raise BadRecordError(error.code, at) from None
        self._data, self._at = data, at

    def _merged(self, number: int, index: int, end: int) -> None:
        """All of one message that came in several parts: their bytes one behind the other."""
        plan, start = self._decoder.layout.plans[number], self._at
        field = plan.fields[index]
        parts: list[memoryview] = []
        while self._at < end:
            tag = self._tag(end)
            found = self._find(number, tag)
            if found == index:
                stop = self._sized_end(end)
                parts.append(self._data[self._at : stop])
                self._at = stop
                continue
            if found is not None and field.oneof >= 0 and plan.fields[found].oneof == field.oneof:
                break
            self._skip(tag, end, 0)
        data = self._data
        self._data, self._at = memoryview(b"".join(parts)), 0
        try:
            self.message(field.part, len(self._data))
        except BadRecordError as error:
            raise BadRecordError(error.code, start) from None
        self._data = data

    def _value(self, field: FieldPlan, end: int) -> None:
        _READ[field.value](self, field, end)

    def _bad(self, code: int) -> BadRecordError:
        return BadRecordError(code, self._at)

    def _varint(self, end: int) -> int:
        raw = 0
        for index, shift in enumerate(range(0, 70, 7)):
            if self._at + index >= end:
                raise self._bad(Code.ENDS_EARLY)
            byte = self._data[self._at + index]
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                self._at += index + 1
                return raw & ((1 << 64) - 1)
        raise self._bad(Code.NUMBER_TOO_LONG)

    def _tag(self, end: int) -> int:
        start = self._at
        tag = self._varint(end)
        if not 8 <= tag < 1 << 32 or tag & 7 > _FIXED32:
            self._at = start
            raise self._bad(Code.WIRE_TYPE)
        return tag

    def _sized_end(self, end: int) -> int:
        start = self._at
        size = self._varint(end)
        if size > end - self._at:
            self._at = start
            raise self._bad(Code.ENDS_EARLY)
        return self._at + size

    def _take(self, size: int, end: int) -> memoryview:
        if size > end - self._at:
            raise self._bad(Code.ENDS_EARLY)
        self._at += size
        return self._data[self._at - size : self._at]

    def _skip(self, tag: int, end: int, depth: int) -> None:
        """Passes over the value of a tag; a group's goes on to its end."""
        wire = tag & 7
        if wire == _VARINT:
            self._varint(end)
        elif wire == _SIZED:
            self._at = self._sized_end(end)
        elif wire in (_FIXED64, _FIXED32):
            self._take(8 if wire == _FIXED64 else 4, end)
        elif wire == _GROUP_END or depth >= DEPTH_MAX:
            raise self._bad(Code.WIRE_TYPE if wire == _GROUP_END else Code.TOO_DEEP)
        else:
            while True:
                inner = self._tag(end)
                if inner == tag + 1:
                    return
                self._skip(inner, end, depth + 1)

    def _append(self, field: FieldPlan, value: bytes | memoryview) -> None:
        array = self._arrays[field.item]
        if field.value in _TEXTS and array.offsets[-1] + len(value) > BYTES_MAX:
            raise self._bad(Code.COLUMN_FULL)
        array.valid.append(True)
        array.values.append(bytes(value))
        if field.value in _TEXTS:
            array.offsets.append(array.offsets[-1] + len(value))

    def _bool(self, field: FieldPlan, end: int) -> None:
        value = self._varint(end) != 0
        self._arrays[field.item].valid.append(True)
        self._arrays[field.item].bits.append(value)

    def _varint32(self, field: FieldPlan, end: int) -> None:
        self._append(field, struct.pack("=I", self._varint(end) & 0xFFFFFFFF))

    def _varint64(self, field: FieldPlan, end: int) -> None:
        self._append(field, struct.pack("=Q", self._varint(end)))

    def _zigzag32(self, field: FieldPlan, end: int) -> None:
        raw = self._varint(end) & 0xFFFFFFFF
        self._append(field, struct.pack("=i", (raw >> 1) ^ -(raw & 1)))

    def _zigzag64(self, field: FieldPlan, end: int) -> None:
        raw = self._varint(end)
        self._append(field, struct.pack("=q", (raw >> 1) ^ -(raw & 1)))

    def _enum(self, field: FieldPlan, end: int) -> None:
        (number,) = struct.unpack("=i", struct.pack("=I", self._varint(end) & 0xFFFFFFFF))
        enum = self._decoder.layout.enums[field.part]
        at = bisect_left(enum.numbers, number)
        is_known = at < len(enum.numbers) and enum.numbers[at] == number
        self._append(field, enum.names[at] if is_known else str(number).encode())

    def _fixed32(self, field: FieldPlan, end: int) -> None:
        self._append(field, struct.pack("=I", *struct.unpack("<I", self._take(4, end))))

    def _fixed64(self, field: FieldPlan, end: int) -> None:
        self._append(field, struct.pack("=Q", *struct.unpack("<Q", self._take(8, end))))

    def _string(self, field: FieldPlan, end: int) -> None:
        stop = self._sized_end(end)
        value = self._data[self._at : stop]
        try:
            str(value, "utf-8")
        except UnicodeDecodeError:
            raise self._bad(Code.NOT_UTF8) from None
        self._at = stop
        self._append(field, value)

    def _bytes(self, field: FieldPlan, end: int) -> None:
        stop = self._sized_end(end)
        self._append(field, self._data[self._at : stop])
        self._at = stop

    def _message_value(self, field: FieldPlan, end: int) -> None:
        self.message(field.part, self._sized_end(end))


_READ: Final[dict[Value, Callable[[_Reading, FieldPlan, int], None]]] = {
    Value.BOOL: _Reading._bool,
    Value.VARINT32: _Reading._varint32,
    Value.VARINT64: _Reading._varint64,
    Value.ZIGZAG32: _Reading._zigzag32,
    Value.ZIGZAG64: _Reading._zigzag64,
    Value.ENUM: _Reading._enum,
    Value.FIXED32: _Reading._fixed32,
    Value.FIXED64: _Reading._fixed64,
    Value.STRING: _Reading._string,
    Value.BYTES: _Reading._bytes,
    Value.MESSAGE: _Reading._message_value,
}
_TEXTS: Final = (Value.STRING, Value.BYTES, Value.ENUM)


def _wire(value: Value) -> int:
    if value is Value.FIXED32:
        return _FIXED32
    if value is Value.FIXED64:
        return _FIXED64
    return _VARINT if value < Value.FIXED32 else _SIZED


def _is_packed(field: FieldPlan, tag: int) -> bool:
    return field.absent is Absent.LIST and field.value < Value.STRING and tag & 7 == _SIZED
