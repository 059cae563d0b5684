"""The Arrow type of a Protobuf message, and the plans that its records are read by.

A field that is not in a record is null where presence is known (messages, `optional`, oneofs, proto2 without a
default), and else its default, as generated classes have it. Enums are text. A type that contains itself has no Arrow
type.
"""

import struct
from typing import Any, Final

import pyarrow as pa
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

from ottla.base.frozen import frozen
from ottla.schema.columns.encoder_plain import unsigned
from ottla.schema.columns.layout import Kind, Slot
from ottla.schema.columns.protobuf.layout import Absent, EnumPlan, FieldPlan, MessageLayout, MessagePlan, Value
from ottla.schema.error import InvalidSchemaError

_SLOTS_MAX: Final = 10_000
_LEVELS_MAX: Final = 60
_TYPES: Final = FieldDescriptorProto
SCALARS: Final = {
    _TYPES.TYPE_DOUBLE: (Value.FIXED64, pa.float64(), 8),
    _TYPES.TYPE_FLOAT: (Value.FIXED32, pa.float32(), 4),
    _TYPES.TYPE_INT64: (Value.VARINT64, pa.int64(), 8),
    _TYPES.TYPE_UINT64: (Value.VARINT64, pa.uint64(), 8),
    _TYPES.TYPE_INT32: (Value.VARINT32, pa.int32(), 4),
    _TYPES.TYPE_UINT32: (Value.VARINT32, pa.uint32(), 4),
    _TYPES.TYPE_FIXED64: (Value.FIXED64, pa.uint64(), 8),
    _TYPES.TYPE_FIXED32: (Value.FIXED32, pa.uint32(), 4),
    _TYPES.TYPE_SFIXED64: (Value.FIXED64, pa.int64(), 8),
    _TYPES.TYPE_SFIXED32: (Value.FIXED32, pa.int32(), 4),
    _TYPES.TYPE_SINT64: (Value.ZIGZAG64, pa.int64(), 8),
    _TYPES.TYPE_SINT32: (Value.ZIGZAG32, pa.int32(), 4),
    _TYPES.TYPE_BOOL: (Value.BOOL, pa.bool_(), 0),
    _TYPES.TYPE_STRING: (Value.STRING, pa.string(), 0),
    _TYPES.TYPE_BYTES: (Value.BYTES, pa.binary(), 0),
    _TYPES.TYPE_ENUM: (Value.ENUM, pa.string(), 0),
    _TYPES.TYPE_MESSAGE: (Value.MESSAGE, None, 0),
}


@frozen
class MessageShape:
    """One type: where its values go."""

    slot: int
    type: Any
    parts: "tuple[MessageShape, ...]" = ()


class MessageShapes:
    """Lays out one message; `descriptor` is `protobuf`'s, with its names resolved."""

    def __init__(self, descriptor: Any) -> None:
        self._slots: Final[list[Slot]] = []
        self._plans: Final[list[MessagePlan]] = []
        self._enums: Final[list[EnumPlan]] = []
        self._reasons: Final = [""]
        self._open: Final[list[str]] = []
        self.root: Final = self._message(descriptor)[1]
        self.slots: Final = tuple(self._slots)
        self.layout: Final = MessageLayout(tuple(self._plans), tuple(self._enums), tuple(self._reasons))

    def _message(self, descriptor: Any, *, is_entry: bool = False) -> tuple[int, MessageShape]:
        """The plan's number and the shape."""
        name = descriptor.full_name
        if name in self._open:
            raise InvalidSchemaError(f"{name} contains itself: Arrow has no such type")
        if len(self._open) > _LEVELS_MAX:
            raise InvalidSchemaError(f"the schema is nested deeper than {_LEVELS_MAX}")
        self._open.append(name)
        number, slot = len(self._plans), self._reserve(Kind.STRUCT)
        self._plans.append(MessagePlan(slot, ()))
        fields, shapes = [], {}
        for field, proto in fields_of(descriptor):
            shapes[field.name], plan = self._field(field, proto, is_entry=is_entry)
            fields.append(plan)
        self._open.pop()
        fields.sort(key=lambda plan: plan.number)
        oneofs = len(descriptor.oneofs)
        self._plans[number] = MessagePlan(slot, tuple(fields), oneofs)
        parts = tuple(shapes.values())
        self._slots[slot] = Slot(Kind.STRUCT, 0, tuple(part.slot for part in parts))
        named = [pa.field(name, part.type) for name, part in shapes.items()]
        return number, MessageShape(slot, pa.struct(named), parts)

    def _reserve(self, kind: Kind, width: int = 0) -> int:
        if len(self._slots) >= _SLOTS_MAX:
            raise InvalidSchemaError(f"the schema has more than {_SLOTS_MAX} columns")
        self._slots.append(Slot(kind, width))
        return len(self._slots) - 1

    def _field(self, field: Any, proto: FieldDescriptorProto, *, is_entry: bool) -> tuple[MessageShape, FieldPlan]:
        if proto.type not in SCALARS:
            raise InvalidSchemaError(f"{field.full_name} is a group, which has no columns")
        if proto.label != _TYPES.LABEL_REPEATED:
            shape, part = self._single(field, proto.type)
            return shape, self._single_plan(field, proto, shape.slot, part, is_entry=is_entry)
        slot = self._reserve(Kind.LIST)
        is_map = is_map_field(field)
        if is_map:
            part, item = self._message(field.message_type, is_entry=True)
            key, value = item.parts
            shape = MessageShape(slot, pa.map_(key.type, value.type), (key, value))
        else:
            item, part = self._single(field, proto.type)
            shape = MessageShape(slot, pa.list_(item.type), (item,))
        self._slots[slot] = Slot(Kind.LIST, 0, (item.slot,))
        value_kind = SCALARS[proto.type][0]
        return shape, FieldPlan(field.number, value_kind, Absent.LIST, slot, item.slot, part=part)

    def _single(self, field: Any, kind: "FieldDescriptorProto.Type.ValueType") -> tuple[MessageShape, int]:
        if kind == _TYPES.TYPE_MESSAGE:
            number, shape = self._message(field.message_type)
            return shape, number
        value, arrow, width = SCALARS[kind]
        if value is Value.ENUM:
            self._enums.append(_enum(field.enum_type))
        slot_kind = Kind.BIT if value is Value.BOOL else Kind.FIXED if width else Kind.BYTES
        return MessageShape(self._reserve(slot_kind, width), arrow), len(self._enums) - 1

    def _single_plan(
        self, field: Any, proto: FieldDescriptorProto, slot: int, part: int, *, is_entry: bool
    ) -> FieldPlan:
        value = SCALARS[proto.type][0]
        absent, default, reason = Absent.NULL, b"", 0
        if proto.label == _TYPES.LABEL_REQUIRED:
            absent, reason = Absent.REQUIRED, len(self._reasons)
            self._reasons.append(f"the record has no {field.full_name}, which is required")
        elif is_entry or proto.HasField("default_value") or not field.has_presence:
            absent, default = Absent.DEFAULT, _default(field, value)
        oneof = -1 if field.containing_oneof is None else field.containing_oneof.index
        return FieldPlan(field.number, value, absent, slot, slot, oneof, part, default, reason)


def fields_of(descriptor: Any) -> list[tuple[Any, FieldDescriptorProto]]:
    """The fields, and what the schema says of them: the descriptors' attributes differ by release of `protobuf`."""
    proto = DescriptorProto()
    descriptor.CopyToProto(proto)
    return list(zip(descriptor.fields, proto.field, strict=True))


def is_map_field(field: Any) -> bool:
    """Whether a field is a map: its message type is a map entry."""
    if field.message_type is None:
        return False
    proto = DescriptorProto()
    field.message_type.CopyToProto(proto)
    return proto.options.map_entry


def _enum(descriptor: Any) -> EnumPlan:
    names: dict[int, bytes] = {}
    for constant in descriptor.values:
        names.setdefault(constant.number, constant.name.encode())
    numbers = tuple(sorted(names))
    return EnumPlan(numbers, tuple(names[number] for number in numbers))


def _default(field: Any, value: Value) -> bytes:
    """The default as it would stand in a record."""
    if value is Value.MESSAGE:
        return b"\0"
    given = field.default_value
    if value in (Value.STRING, Value.BYTES):
        raw = given.encode() if isinstance(given, str) else given
        return unsigned(len(raw)) + raw
    if value in (Value.FIXED32, Value.FIXED64):
        width = 4 if value is Value.FIXED32 else 8
        if isinstance(given, float):
            return struct.pack("<f" if width == 4 else "<d", given)
        return int(given).to_bytes(width, "little", signed=given < 0)
    number = int(given)
    if value in (Value.ZIGZAG32, Value.ZIGZAG64):
        number = (number << 1) ^ (number >> 63)
    return unsigned(number & ((1 << 64) - 1))
