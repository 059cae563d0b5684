"""From a Protobuf message and an Arrow array to the steps that write the array's rows as records.

Columns are found by name. One that the array lacks stays unset, one that the message lacks is an error. Null is unset;
so is a field's default where presence is not known, as generated classes have it. Types that Arrow converts without
loss are converted, as whole columns.
"""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from ottla.schema.columns.array_plan import ArrayPlan, UnfitColumnError, as_list, as_map, converted, in_column, unfit
from ottla.schema.columns.encoder_plain import unsigned
from ottla.schema.columns.layout import Kind
from ottla.schema.columns.protobuf.layout import Value
from ottla.schema.columns.protobuf.shape import SCALARS, fields_of, is_map_field
from ottla.schema.columns.source import Write, WriteStep

_LEAVES: Final = {
    Value.BOOL: Write.BOOLEAN,
    Value.VARINT32: Write.VARINT,
    Value.VARINT64: Write.VARINT,
    Value.ZIGZAG32: Write.INT,
    Value.ZIGZAG64: Write.LONG,
    Value.FIXED32: Write.FIXED,
    Value.FIXED64: Write.FIXED,
    Value.STRING: Write.TEXT,
    Value.BYTES: Write.TEXT,
}
_WIRE: Final = {Value.FIXED32: 5, Value.FIXED64: 1, Value.STRING: 2, Value.BYTES: 2, Value.MESSAGE: 2}
_NO_CONSTANT: Final = -(1 << 62)


class MessagePlan(ArrayPlan):
    """By a message's descriptor."""

    def __init__(self, descriptor: Any, array: Any) -> None:
        super().__init__()
        self._message(descriptor, array, "")

    def _message(self, descriptor: Any, array: Any, path: str) -> int:
        """The step that writes a message's fields."""
        self.enter()
        if not pa.types.is_struct(array.type):
            raise unfit(array, descriptor.full_name, path)
        place = self.reserve()
        source = self.add(Kind.STRUCT, array, path)
        names = [field.name for field in array.type]
        fields = sorted(fields_of(descriptor), key=lambda each: each[0].number)
        known = [field.name for field, _ in fields]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UnfitColumnError(
                f"{in_column(path)}{descriptor.full_name} has no field {unknown[0]}, whose values would be lost: it "
                f"has {', '.join(known)}"
            )
        parts: list[int] = []
        for field, proto in fields:
            if field.name in names:
                column = array.field(names.index(field.name))
                parts += self._field(field, proto, column, f"{path}.{field.name}")
            elif proto.label == FieldDescriptorProto.LABEL_REQUIRED:
                raise UnfitColumnError(f"there is no column for {field.full_name}, which is required")
        self.steps[place] = WriteStep(Write.RECORD, source, parts=tuple(parts))
        self.depth -= 1
        return place

    def _field(self, field: Any, proto: FieldDescriptorProto, array: Any, path: str) -> list[int]:
        if isinstance(array.type, pa.DictionaryType):
            array = array.dictionary_decode()
        if proto.label == FieldDescriptorProto.LABEL_REPEATED:
            return [self._map(field, array, path) if is_map_field(field) else self._list(field, proto, array, path)]
        return [self._single(field, proto, array, path)]

    def _single(self, field: Any, proto: FieldDescriptorProto, array: Any, path: str) -> int:
        place = self.reserve()
        value, source = self._value(field, proto, array, path)
        tag = self.constant(source, _tag(field.number, SCALARS[proto.type][0]))
        if proto.label == FieldDescriptorProto.LABEL_REQUIRED:
            op = Write.RECORD
        else:
            op = Write.PRESENT if field.has_presence else Write.NONZERO
        self.steps[place] = WriteStep(op, source, parts=(tag, value))
        return place

    def _list(self, field: Any, proto: FieldDescriptorProto, array: Any, path: str) -> int:
        lists = as_list(array)
        if lists is None:
            raise unfit(array, f"repeated {field.full_name}", path)
        place, source = self.reserve(), self.add(Kind.LIST, lists, path)
        value, _ = self._value(field, proto, lists.values, f"{path}[]")
        op, tag = Write.REPEATED, _tag(field.number, SCALARS[proto.type][0])
        if field.is_packed:
            op, tag = Write.PACKED, unsigned(field.number << 3 | 2)
        parts = (self.constant(source, tag), value)
        self.steps[place] = WriteStep(op, source, self.add_length(lists.values), parts=parts)
        return place

    def _map(self, field: Any, array: Any, path: str) -> int:
        maps = as_map(array)
        if maps is None:
            raise unfit(array, f"map {field.full_name}", path)
        place, source = self.reserve(), self.add(Kind.LIST, maps, path)
        entry = self.reserve()
        parts: list[int] = []
        entry_source = -1
        for (inner, proto), column in zip(fields_of(field.message_type), (maps.keys, maps.items), strict=True):
            # Keys and values are written even where they are defaults, as protobuf does.
            value, inner_source = self._value(inner, proto, column, f"{path}.{inner.name}")
            entry_source = inner_source if entry_source < 0 else entry_source
            parts += (self.constant(inner_source, _tag(inner.number, SCALARS[proto.type][0])), value)
        self.steps[entry] = WriteStep(Write.SIZED, entry_source, parts=tuple(parts))
        tag = self.constant(source, _tag(field.number, Value.MESSAGE))
        self.steps[place] = WriteStep(Write.REPEATED, source, self.add_length(maps.keys), parts=(tag, entry))
        return place

    def _value(self, field: Any, proto: FieldDescriptorProto, array: Any, path: str) -> tuple[int, int]:
        """The step that writes a value without its tag, and the source that says which rows have one."""
        place = self.reserve()
        value, arrow, width = SCALARS[proto.type]
        if value is Value.MESSAGE:
            if pa.types.is_null(array.type):
                array = pa.nulls(len(array), pa.struct([]))
            part = self._message(field.message_type, array, path)
            source = self.steps[part].source
            self.steps[place] = WriteStep(Write.SIZED, source, parts=(part,))
            return place, source
        if value is Value.ENUM:
            source = self.add(Kind.FIXED, _numbers(field.enum_type, converted(array, arrow, path)), path, 8)
            self.steps[place] = WriteStep(Write.ENUM, source)
            return place, source
        kind = Kind.BIT if value is Value.BOOL else Kind.FIXED if width else Kind.BYTES
        source = self.add(kind, converted(array, arrow, path), path, width)
        op = Write.UNSIGNED if arrow in (pa.uint32(), pa.uint64()) and value < Value.FIXED32 else _LEAVES[value]
        self.steps[place] = WriteStep(op, source)
        return place, source


def _tag(number: int, value: Value) -> bytes:
    return unsigned(number << 3 | _WIRE.get(value, 0))


def _numbers(enum: Any, names: Any) -> Any:
    """The numbers of constants by their names, or by their digits."""
    known = {constant.name: constant.number for constant in enum.values}
    places = pc.index_in(names, pa.array(list(known), pa.string()))
    numbers = pa.array(list(known.values()), pa.int64()).take(places)
    is_digits = pc.match_substring_regex(names, "^-?[0-9]{1,10}$")
    digits = pc.if_else(is_digits, names, pa.scalar(str(_NO_CONSTANT))).cast(pa.int64())
    found = pc.coalesce(numbers, digits)
    is_number = pc.and_(pc.greater_equal(found, -(1 << 31)), pc.less(found, 1 << 31))
    return pc.if_else(is_number, found, pa.scalar(_NO_CONSTANT, pa.int64()))
