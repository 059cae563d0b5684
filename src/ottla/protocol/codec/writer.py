"""Writes a struct by its plan: the plain twin of the compiled engine, and the one that explains refusals.

`pieces` collects the output: byte strings that grow, and between them the `records` values as they were given.
"""

import struct as binary
from collections.abc import Sequence
from typing import Any, NoReturn

from ottla.protocol.codec.plan import FieldPlan, StructPlan
from ottla.protocol.codec.reader import STRING_LENGTH_MAX
from ottla.protocol.errors import EncodeError, UnsupportedVersionError
from ottla.protocol.field import Records
from ottla.protocol.struct_type import Kind

_INTEGERS = {
    Kind.INT8: (">b", -(1 << 7), (1 << 7) - 1),
    Kind.INT16: (">h", -(1 << 15), (1 << 15) - 1),
    Kind.INT32: (">i", -(1 << 31), (1 << 31) - 1),
    Kind.INT64: (">q", -(1 << 63), (1 << 63) - 1),
    Kind.UINT16: (">H", 0, (1 << 16) - 1),
    Kind.UINT32: (">I", 0, (1 << 32) - 1),
}
_NULL_LENGTH = -1


class Writer:
    """Appends structs to one growing output."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.pieces: list[Records] = []
        self._path: list[str] = []

    def write(self, plan: StructPlan, value: Any) -> None:
        """Appends one message."""
        self._path.append(plan.struct.__name__)
        self._struct(plan, value)
        self._path.pop()

    def finish(self) -> list[Records]:
        """The output so far, in pieces."""
        return [*self.pieces, bytes(self.out)] if self.out or not self.pieces else self.pieces

    def _struct(self, plan: StructPlan, value: Any) -> None:
        if not isinstance(value, plan.struct):
            self._fail(f"{shown(value)} is not a {plan.struct.__name__}")
        for planned in plan.absent:
            if not planned.field.ignorable and not planned.field.is_default(self._get(planned, value)):
                path = f"{''.join(self._path)}.{planned.name}"
                raise UnsupportedVersionError(f"{path}: version {plan.version} has no such field, yet it is set")
        for planned in plan.fields:
            self._path.append(f".{planned.name}")
            self._field(planned, self._get(planned, value))
            self._path.pop()
        if plan.flexible:
            self._tags(plan, value)
        elif value.unknown_tags is not None:
            path = f"{''.join(self._path)}.unknown_tags"
            raise UnsupportedVersionError(f"{path}: version {plan.version} has no tagged fields, yet some are set")

    def _get(self, planned: FieldPlan, value: Any) -> Any:
        try:
            return getattr(value, planned.name)
        except AttributeError:
            self._fail(f"{planned.name} was deleted")

    def _field(self, planned: FieldPlan, value: Any) -> None:
        kind = planned.kind
        if value is None and not planned.nullable:
            self._fail("null where no null can stand")
        if kind in _INTEGERS:
            self._integer(kind, value)
        elif kind is Kind.STRING:
            self._string(planned, value)
        elif kind is Kind.ARRAY:
            self._array(planned, value)
        elif kind is Kind.STRUCT:
            self._nested(planned, value)
        elif kind is Kind.BOOL:
            if not isinstance(value, int):
                self._fail(f"{shown(value)} is not a bool")
            self.out.append(1 if value else 0)
        elif kind is Kind.UUID:
            if not isinstance(value, bytes) or len(value) != 16:
                self._fail(f"{shown(value)} is not sixteen bytes")
            self.out += value
        elif kind is Kind.FLOAT64:
            self._float(value)
        else:
            self._bytes(planned, value)

    def _nested(self, planned: FieldPlan, value: Any) -> None:
        if planned.nullable:
            null = b"\x00" if planned.tagged else b"\xff"
            self.out += null if value is None else b"\x01"
        if value is not None:
            assert planned.nested is not None
            self._struct(planned.nested, value)

    def _array(self, planned: FieldPlan, values: Any) -> None:
        if values is None:
            self._length(planned, _NULL_LENGTH, ">i")
            return
        if not isinstance(values, (list, tuple)):
            self._fail(f"{shown(values)} is neither list nor tuple")
        assert planned.element is not None
        self._length(planned, len(values), ">i")
        for index, value in enumerate(values):
            self._path.append(f"[{index}]")
            self._field(planned.element, value)
            self._path.pop()

    def _integer(self, kind: Kind, value: Any) -> None:
        layout, lowest, highest = _INTEGERS[kind]
        if not isinstance(value, int):
            self._fail(f"{shown(value)} is not an integer")
        if not lowest <= value <= highest:
            self._fail(f"{value} is not within {lowest} … {highest}")
        self.out += binary.pack(layout, value)

    def _float(self, value: Any) -> None:
        if not isinstance(value, (int, float)):
            self._fail(f"{shown(value)} is not a number")
        try:
            self.out += binary.pack(">d", value)
        except OverflowError:
            self._fail(f"{value} is too large for a float64")

    def _string(self, planned: FieldPlan, value: Any) -> None:
        if value is None:
            self._length(planned, _NULL_LENGTH, ">h")
            return
        if not isinstance(value, str):
            self._fail(f"{shown(value)} is not a str")
        try:
            raw = value.encode()
        except UnicodeEncodeError as error:
            self._fail(f"no UTF-8 for it: {error.reason}")
        if len(raw) > STRING_LENGTH_MAX:
            self._fail(f"a string of {len(raw)} bytes; {STRING_LENGTH_MAX} is the limit")
        self._length(planned, len(raw), ">h")
        self.out += raw

    def _bytes(self, planned: FieldPlan, value: Any) -> None:
        if value is None:
            self._length(planned, _NULL_LENGTH, ">i")
            return
        if isinstance(value, memoryview) and not value.c_contiguous:
            self._fail("a view with gaps")
        if planned.kind is Kind.RECORDS:
            if not isinstance(value, (bytes, bytearray, memoryview)) and not hasattr(value, "fileno"):
                self._fail(f"{shown(value)} is neither bytes nor a stretch of a file")
            length = value.nbytes if isinstance(value, memoryview) else len(value)
            self._length(planned, length, ">i")
            if self.out:
                self.pieces.append(bytes(self.out))
            self.pieces.append(value)
            self.out = bytearray()
            return
        if not isinstance(value, (bytes, bytearray, memoryview)):
            self._fail(f"{shown(value)} is not bytes")
        self._length(planned, value.nbytes if isinstance(value, memoryview) else len(value), ">i")
        self.out += value

    def _length(self, planned: FieldPlan, length: int, layout: str) -> None:
        if planned.compact:
            self._uvarint(length + 1)
        else:
            self.out += binary.pack(layout, length)

    def _uvarint(self, value: int) -> None:
        while value > 0x7F:
            self.out.append(value & 0x7F | 0x80)
            value >>= 7
        self.out.append(value)

    def _tags(self, plan: StructPlan, value: Any) -> None:
        """Tagged fields that differ from their defaults, and the unknown ones, by ascending tag."""
        entries: list[tuple[int, FieldPlan | bytes]] = [
            (planned.field.tag or 0, planned)
            for planned in plan.tagged
            if not planned.field.is_default(self._get(planned, value))
        ]
        known = {planned.field.tag for planned in plan.tagged}
        for tag, raw in self._unknown_tags(value).items():
            if not isinstance(tag, int) or tag in known or not 0 <= tag <= 0x7FFFFFFF or not isinstance(raw, bytes):
                self._fail(f"tag {shown(tag)} can't be used for an unknown field with {shown(raw)}")
            entries.append((tag, raw))
        self._uvarint(len(entries))
        for tag, content in sorted(entries, key=lambda entry: entry[0]):
            self._uvarint(tag)
            self._tag_content(content, value)

    def _unknown_tags(self, value: Any) -> dict[int, bytes]:
        tags = value.unknown_tags
        if tags is None:
            return {}
        if not isinstance(tags, dict):
            self._fail(f"{shown(tags)} is no dictionary of unknown tags")
        return tags

    def _tag_content(self, content: FieldPlan | bytes, value: Any) -> None:
        if isinstance(content, FieldPlan):
            outer, self.out = self.out, bytearray()
            self._path.append(f".{content.name}")
            self._field(content, self._get(content, value))
            self._path.pop()
            raw, self.out = self.out, outer
        else:
            raw = bytearray(content)
        self._uvarint(len(raw))
        self.out += raw

    def _fail(self, reason: str) -> NoReturn:
        raise EncodeError(reason, path="".join(self._path))


def joined(pieces: Sequence[Records]) -> bytes:
    """The pieces as one byte string; a file region can't be joined."""
    for piece in pieces:
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise EncodeError(f"{shown(piece)} is not bytes: encode around it instead")
    return b"".join(pieces)  # type: ignore[arg-type]


def shown(value: object) -> str:
    """A value for an error message: short whatever it is, and never megabytes."""
    if isinstance(value, (str, bytes, bytearray, list, tuple, dict)) and len(value) > 40:
        return f"{type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
