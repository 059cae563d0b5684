"""Reads a struct by its plan, one field after the other, and knows at every moment where it is.

This is the plain twin of the compiled engine, and the one that explains: it fails with the path of the field and the
position in the bytes. Invariants: nothing is read past the end, and no more is allocated than the bytes at hand could
fill, whatever lengths they claim.
"""

import struct as binary
from typing import Any, NoReturn

from ottla.base.buffer import Buffer
from ottla.base.ids import Uuid
from ottla.protocol.codec.plan import FieldPlan, StructPlan
from ottla.protocol.errors import DecodeError
from ottla.protocol.struct_type import Kind

STRING_LENGTH_MAX = 0x7FFF

_LAYOUTS = {
    Kind.BOOL: binary.Struct(">?"),
    Kind.INT8: binary.Struct(">b"),
    Kind.INT16: binary.Struct(">h"),
    Kind.INT32: binary.Struct(">i"),
    Kind.INT64: binary.Struct(">q"),
    Kind.UINT16: binary.Struct(">H"),
    Kind.UINT32: binary.Struct(">I"),
    Kind.FLOAT64: binary.Struct(">d"),
}
_LAYOUT_BY_KIND = tuple(_LAYOUTS.get(kind) for kind in Kind)
"""By number, because looking an enum member up in a dictionary is slow."""


class Reader:
    """Reads strictly: every length, tag and character must be as a careful writer writes it."""

    def __init__(self, buffer: Buffer, position: int) -> None:
        self.view = memoryview(buffer).cast("B")
        self.position = position
        self.limit = len(self.view)

    def read(self, plan: StructPlan) -> Any:
        """The struct that starts at the current position."""
        try:
            if not 0 <= self.position <= self.limit:
                self._fail(f"outside of the {self.limit} bytes at hand")
            return self._struct(plan)
        except DecodeError as error:
            raise error.inside(plan.struct.__name__) from None

    def _struct(self, plan: StructPlan) -> Any:
        value = plan.struct.__new__(plan.struct)
        for planned in plan.fields:
            setattr(value, planned.name, self._named_field(planned))
        for planned in plan.defaulted:
            setattr(value, planned.name, planned.field.default_value())
        value.unknown_tags = self._tags(plan, value) if plan.flexible else None
        return value

    def _named_field(self, planned: FieldPlan) -> Any:
        try:
            return self._field(planned)
        except DecodeError as error:
            raise error.inside(f".{planned.name}") from None

    def _field(self, planned: FieldPlan) -> Any:
        kind = planned.kind
        layout = _LAYOUT_BY_KIND[kind]
        if layout is not None:
            position = self.position
            if self.limit - position < layout.size:
                self._fail(f"needs {layout.size} bytes, {self.limit - position} are left")
            self.position = position + layout.size
            return layout.unpack_from(self.view, position)[0]
        if kind is Kind.STRING:
            return self._string(planned)
        if kind is Kind.ARRAY:
            return self._array(planned)
        if kind is Kind.STRUCT:
            assert planned.nested is not None
            return None if planned.nullable and self._null_struct(planned) else self._struct(planned.nested)
        if kind is Kind.UUID:
            return Uuid(self._take(16))
        return self._bytes(planned)

    def _null_struct(self, planned: FieldPlan) -> bool:
        """A byte stands before a nullable struct. Null is 0 in a tagged field and negative elsewhere."""
        marker: int = self._fixed(Kind.INT8)
        return marker == 0 if planned.tagged else marker < 0

    def _array(self, planned: FieldPlan) -> list[Any] | None:
        count = self._length(Kind.INT32, planned)
        if count is None:
            return None
        # Every element takes at least a byte, so a count beyond the bytes left can't be honest.
        if count > self.limit - self.position:
            self._fail(f"an array of {count} elements in {self.limit - self.position} bytes")
        self._spend(count)
        element = planned.element
        assert element is not None
        values: list[Any] = []
        try:
            for _ in range(count):
                values.append(self._field(element))
        except DecodeError as error:
            raise error.inside(f"[{len(values)}]") from None
        return values

    def _string(self, planned: FieldPlan) -> str | None:
        length = self._length(Kind.INT16, planned)
        if length is None:
            return None
        if length > STRING_LENGTH_MAX:
            self._fail(f"a string of {length} bytes; {STRING_LENGTH_MAX} is the limit")
        return self._text(self._take(length))

    def _text(self, raw: memoryview) -> str:
        try:
            return str(raw, "utf-8")
        except UnicodeDecodeError as error:
            self._fail(f"not UTF-8: {error.reason}")

    def _bytes(self, planned: FieldPlan) -> bytes | memoryview | None:
        length = self._length(Kind.INT32, planned)
        if length is None:
            return None
        raw = self._take(length)
        return raw if planned.kind is Kind.RECORDS else bytes(raw)

    def _length(self, kind: Kind, planned: FieldPlan) -> int | None:
        """The length that stands before strings, bytes and arrays; None if it says null."""
        start = self.position
        length: int = self._uvarint() - 1 if planned.compact else self._fixed(kind)
        if length >= 0:
            return length
        if not self._means_null(length):
            self.position = start
            self._fail(f"negative length {length}")
        if not planned.nullable:
            self.position = start
            self._fail("null where no null can stand")
        return None

    def _spend(self, count: int) -> None:
        """Counts elements that are about to be read; a strict reader has no limit."""

    def _means_null(self, length: int) -> bool:
        return length == -1

    def _fixed(self, kind: Kind) -> Any:
        layout = _LAYOUTS[kind]
        return layout.unpack(self._take(layout.size))[0]

    def _take(self, length: int) -> memoryview:
        if length > self.limit - self.position:
            self._fail(f"needs {length} bytes, {self.limit - self.position} are left")
        taken = self.view[self.position : self.position + length]
        self.position += length
        return taken

    def _uvarint(self) -> int:
        start = self.position
        value = 0
        for shift in range(0, 35, 7):
            byte = self._fixed(Kind.INT8) & 0xFF
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            self.position = start
            self._fail("a varint longer than five bytes")
        return self._checked_uvarint(value, start)

    def _checked_uvarint(self, value: int, start: int) -> int:
        if value > 0x7FFFFFFF:
            self.position = start
            self._fail(f"a varint of {value}, past the limit of a length")
        return value

    def _tags(self, plan: StructPlan, value: Any) -> dict[int, bytes] | None:
        """Reads the tagged fields at the end of a flexible struct; answers the ones we don't know."""
        unknown: dict[int, bytes] = {}
        known = {planned.field.tag: planned for planned in plan.tagged}
        last = -1
        try:
            count = self._uvarint()
            self._spend(count)
            for _ in range(count):
                tag, size = self._uvarint(), self._uvarint()
                self._check_tag_order(tag, last)
                last = tag
                if tag in known:
                    self._known_tag(known[tag], size, value)
                else:
                    unknown[tag] = self._unknown_tag(tag, size)
        except DecodeError as error:
            raise error.inside("" if error.path else ".<tags>") from None
        return unknown or None

    def _known_tag(self, planned: FieldPlan, size: int, value: Any) -> None:
        start = self.position
        setattr(value, planned.name, self._named_field(planned))
        if self.position != start + size:
            self._wrong_tag_size(planned, start, size)

    def _unknown_tag(self, tag: int, size: int) -> bytes:
        try:
            return bytes(self._take(size))
        except DecodeError as error:
            raise error.inside(f".<tag {tag}>") from None

    def _check_tag_order(self, tag: int, last: int) -> None:
        if tag <= last:
            self._fail(f"tag {tag} after tag {last}")

    def _wrong_tag_size(self, planned: FieldPlan, start: int, size: int) -> None:
        reason = f"a tagged field that says {size} bytes and has {self.position - start}"
        raise DecodeError(reason, path=f".{planned.name}", position=start)

    def _fail(self, reason: str) -> NoReturn:
        raise DecodeError(reason, position=self.position)
