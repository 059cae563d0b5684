"""From a JSON Schema's shape and an Arrow array to the steps that write the array's rows as documents.

Columns are found by name; one that the schema does not declare is an error. Null leaves a property out, or is `null`
where the property is required and may be null. Types that Arrow converts without loss are converted, as whole columns.
"""

import json
from typing import Any, Final

import pyarrow as pa

from ottla.schema.columns.array_plan import ArrayPlan, UnfitColumnError, as_list, as_map, converted, in_column, unfit
from ottla.schema.columns.json.layout import JsonKind
from ottla.schema.columns.json.shape import DocumentShape
from ottla.schema.columns.layout import Kind
from ottla.schema.columns.source import Write, WriteStep

_LEAVES: Final = {
    JsonKind.BOOLEAN: (pa.bool_(), Write.JSON_RAW),
    JsonKind.INTEGER: (pa.int64(), Write.JSON_RAW),
    # What is not a number is no JSON either.
    JsonKind.NUMBER: (pa.float64(), Write.JSON_TEXT),
    JsonKind.STRING: (pa.string(), Write.JSON_STRING),
    JsonKind.TEXT: (pa.string(), Write.JSON_TEXT),
}


class DocumentPlan(ArrayPlan):
    """By a schema's shape."""

    def __init__(self, root: DocumentShape, array: Any) -> None:
        super().__init__()
        self._value(root, array, "")

    def _value(self, shape: DocumentShape, array: Any, path: str) -> tuple[int, int]:
        """The step that writes a value, and the source that says which rows have one."""
        self.enter()
        if isinstance(array.type, pa.DictionaryType):
            array = array.dictionary_decode()
        place = self.reserve()
        if shape.kind is JsonKind.OBJECT:
            step = self._object(shape, array, path)
        elif shape.kind is JsonKind.LIST:
            step = self._list(shape, array, path)
        elif shape.kind is JsonKind.MAP:
            step = self._map(shape, array, path)
        else:
            step = self._leaf(shape, array, path)
        self.steps[place] = step
        self.depth -= 1
        return place, step.source

    def _leaf(self, shape: DocumentShape, array: Any, path: str) -> WriteStep:
        if shape.kind is JsonKind.NULL:
            source = self.add(Kind.BYTES, pa.nulls(len(array), pa.string()), path)
            return WriteStep(Write.JSON_OPTION, source)
        wanted, op = _LEAVES[shape.kind]
        texts = converted(converted(array, wanted, path), pa.string(), path)
        return WriteStep(op, self.add(Kind.BYTES, texts, path))

    def _object(self, shape: DocumentShape, array: Any, path: str) -> WriteStep:
        if not pa.types.is_struct(array.type):
            raise unfit(array, "an object", path)
        source = self.add(Kind.STRUCT, array, path)
        declared = {field.name: part for field, part in zip(shape.type, shape.parts, strict=True)}
        names = [field.name for field in array.type]
        unknown = [name for name in names if name not in declared]
        if unknown:
            raise UnfitColumnError(
                f"{in_column(path)}the schema has no property {unknown[0]}, whose values would be lost: it has "
                f"{', '.join(declared)}"
            )
        parts: list[int] = []
        for name, part in declared.items():
            head = f",{json.dumps(name, ensure_ascii=False)}:".encode("utf-8", "replace")
            is_required = name in shape.required
            if name in names:
                column = array.field(names.index(name))
                parts.append(self._property(part, column, f"{path}.{name}", (head, is_required)))
            elif is_required and part.is_nullable:
                parts.append(self.constant(source, head + b"null"))
            elif is_required:
                raise UnfitColumnError(f"{in_column(path)}there is no column for {name}, which is required")
        return WriteStep(Write.JSON_OBJECT, source, parts=tuple(parts))

    def _property(self, shape: DocumentShape, array: Any, path: str, place: tuple[bytes, bool]) -> int:
        head, is_required = place
        step = self.reserve()
        value, source = self._item(shape, array, path) if is_required else self._value(shape, array, path)
        parts = (self.constant(source, head), value)
        # A required value's own step refuses null, where the schema does.
        self.steps[step] = WriteStep(Write.JSON_MEMBER if is_required else Write.PRESENT, source, parts=parts)
        return step

    def _item(self, shape: DocumentShape, array: Any, path: str) -> tuple[int, int]:
        """A value that is `null` where it may be."""
        if not shape.is_nullable or shape.kind is JsonKind.NULL:
            return self._value(shape, array, path)
        place = self.reserve()
        value, source = self._value(shape, array, path)
        self.steps[place] = WriteStep(Write.JSON_OPTION, source, parts=(value,))
        return place, source

    def _list(self, shape: DocumentShape, array: Any, path: str) -> WriteStep:
        lists = as_list(array)
        if lists is None:
            raise unfit(array, "a list", path)
        source = self.add(Kind.LIST, lists, path)
        value, _ = self._item(shape.parts[0], lists.values, f"{path}[]")
        return WriteStep(Write.JSON_LIST, source, self.add_length(lists.values), parts=(value,))

    def _map(self, shape: DocumentShape, array: Any, path: str) -> WriteStep:
        maps = as_map(array)
        if maps is None:
            raise unfit(array, "an object", path)
        source = self.add(Kind.LIST, maps, path)
        keys, _ = self._value(shape.parts[0], maps.keys, f"{path}.key")
        values, _ = self._item(shape.parts[1], maps.items, f"{path}.value")
        return WriteStep(Write.JSON_MAP, source, self.add_length(maps.keys), parts=(keys, values))
