"""From an Avro schema and an Arrow array to the steps that write the array's rows as records.

Columns are found by name. One that the array lacks takes its default, or null; one that the schema lacks is an error,
since its values would be lost. Types that Arrow converts without loss are converted, as whole columns.
"""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ottla.schema.avro.model import Array, Enum, Field, Fixed, Map, Missing, Node, Record, Union
from ottla.schema.columns.default import UnfitDefaultError, encode_default
from ottla.schema.columns.layout import Kind
from ottla.schema.columns.shape import allows_null, decimal_digits, leaf, members, without_null
from ottla.schema.columns.source import Source, Write, WriteStep
from ottla.schema.error import InvalidSchemaError

_LEAVES: Final = {"boolean": Write.BOOLEAN, "int": Write.INT, "long": Write.LONG, "null": Write.NOTHING}


class UnfitColumnError(ValueError):
    """A column that can't be written by the schema at all."""


class WritePlan:
    """The sources and steps for one array; `paths` names the sources for messages."""

    def __init__(self, root: Node, array: Any) -> None:
        self.sources: Final[list[Source]] = []
        self.steps: Final[list[WriteStep]] = []
        self.blob: Final = bytearray()
        self.paths: Final[list[str]] = []
        self._depth = 0
        self._value(root, array, "")

    def _value(self, node: Node, array: Any, path: str) -> int:
        self._depth += 1
        if self._depth > 100:
            raise InvalidSchemaError("the schema is nested deeper than 100")
        place = len(self.steps)
        self.steps.append(WriteStep(Write.NOTHING, 0))
        if isinstance(array.type, pa.DictionaryType):
            array = array.dictionary_decode()
        self.steps[place] = _COMPILE[type(node)](self, node, array, path)
        self._depth -= 1
        return place

    def _add(self, kind: Kind, array: Any, path: str, width: int = 0) -> int:
        buffers = array.buffers()
        validity, rest = buffers[0], buffers[1:]
        offsets = rest.pop(0) if kind in (Kind.BYTES, Kind.LIST) else None
        data = rest.pop(0) if kind in (Kind.BYTES, Kind.FIXED, Kind.BIT) else None
        self.sources.append(Source(kind, width, array.offset, len(array), *map(_view, (validity, offsets, data))))
        self.paths.append(path)
        return len(self.sources) - 1

    def _union(self, node: Union, array: Any, path: str) -> WriteStep:
        null = next((at for at, branch in enumerate(node.branches) if branch.kind == "null"), -1)
        single = without_null(node)
        if not isinstance(single, Union):
            branch = next((at for at, each in enumerate(node.branches) if each.kind == single.kind), -1)
            part = self._value(single, array, path)
            return WriteStep(Write.OPTION, self._source_of(part), null, branch, (part,))
        found = members(node)
        if not pa.types.is_struct(array.type) or [field.name for field in array.type] != _names(found):
            return self._one_branch(node, null, array, path)
        source = self._add(Kind.STRUCT, array, path)
        parts = []
        for at, member in enumerate(found):
            place = len(self.steps)
            self.steps.append(WriteStep(Write.NOTHING, 0))
            part = self._value(member, array.field(at), f"{path}.member{at}")
            self.steps[place] = WriteStep(Write.OPTION, self._source_of(part), -1, node.branches.index(member), (part,))
            parts.append(place)
        return WriteStep(Write.MEMBERS, source, null, parts=tuple(parts))

    def _one_branch(self, node: Union, null: int, array: Any, path: str) -> WriteStep:
        """A column of one type for a union of several: the branch of that type."""
        for at, branch in enumerate(node.branches):
            if isinstance(branch, (Record, Array, Map)) or branch.kind == "null" or leaf(branch)[1] != array.type:
                continue
            part = self._value(branch, array, path)
            return WriteStep(Write.OPTION, self._source_of(part), null, at, (part,))
        labels = ", ".join(branch.label for branch in node.branches)
        wanted = ", ".join(_names(members(node)))
        raise UnfitColumnError(f"{_at(path)}{array.type} is no branch of [{labels}], and no struct of {wanted}")

    def _source_of(self, step: int) -> int:
        return self.steps[step].source

    def _record(self, node: Record, array: Any, path: str) -> WriteStep:
        if not pa.types.is_struct(array.type):
            raise self._unfit(array, node, path)
        source = self._add(Kind.STRUCT, array, path)
        names = [field.name for field in array.type]
        unknown = [name for name in names if name not in node.field_by_name]
        if unknown:
            raise UnfitColumnError(
                f"{_at(path)}{node.label} has no field {unknown[0]}, whose values would be lost: "
                f"it has {', '.join(node.field_by_name)}"
            )
        parts = []
        for field in node.fields:
            inner = f"{path}.{field.name}"
            if field.name in names:
                parts.append(self._value(field.type, array.field(names.index(field.name)), inner))
            else:
                parts.append(self._constant(node, field, source))
        return WriteStep(Write.RECORD, source, parts=tuple(parts))

    def _constant(self, record: Record, field: Field, source: int) -> int:
        try:
            if not isinstance(field.default, Missing):
                data = encode_default(field.type, field.default)
            elif allows_null(field.type):
                data = encode_default(field.type, None)
            else:
                raise UnfitColumnError(f"there is no column for {record.label}.{field.name}, which has no default")
        except UnfitDefaultError:
            raise UnfitColumnError(f"the default of {record.label}.{field.name} is no value of its type") from None
        self.blob.extend(data)
        self.steps.append(WriteStep(Write.CONSTANT, source, len(self.blob) - len(data), len(data)))
        return len(self.steps) - 1

    def _array(self, node: Array, array: Any, path: str) -> WriteStep:
        kind = array.type
        if pa.types.is_null(kind):
            array = pa.nulls(len(array), pa.list_(pa.null()))
        elif pa.types.is_large_list(kind) or pa.types.is_list_view(kind) or pa.types.is_fixed_size_list(kind):
            array = array.cast(pa.list_(kind.value_type))
        elif not pa.types.is_list(kind):
            raise self._unfit(array, node, path)
        source = self._add(Kind.LIST, array, path)
        part = self._value(node.items, array.values, f"{path}[]")
        return WriteStep(Write.ARRAY, source, self._length_source(array.values), parts=(part,))

    def _map(self, node: Map, array: Any, path: str) -> WriteStep:
        if pa.types.is_null(array.type):
            array = pa.nulls(len(array), pa.map_(pa.string(), pa.null()))
        if not pa.types.is_map(array.type):
            raise self._unfit(array, node, path)
        source = self._add(Kind.LIST, array, path)
        keys = len(self.steps)
        self.steps.append(WriteStep(Write.NOTHING, 0))
        key_array = self._converted(array.keys, pa.string(), path)
        self.steps[keys] = WriteStep(Write.BYTES, self._add(Kind.BYTES, key_array, f"{path}.key"))
        values = self._value(node.values, array.items, f"{path}.value")
        return WriteStep(Write.ARRAY, source, self._length_source(array.keys), parts=(keys, values))

    def _length_source(self, array: Any) -> int:
        """A source that says how many items there are."""
        self.sources.append(Source(Kind.NOTHING, 0, 0, len(array), None, None, None))
        self.paths.append("")
        return len(self.sources) - 1

    def _leaf(self, node: Node, array: Any, path: str) -> WriteStep:
        slot, wanted = leaf(node)
        converted = self._converted(array, wanted, path)
        if isinstance(node, Enum):
            indexes = pc.index_in(converted, pa.array(node.symbols, pa.string()))
            unknown = pc.fill_null(indexes, pa.scalar(-1, pa.int32()))
            converted = pc.if_else(pc.is_valid(converted), unknown, pa.scalar(None, pa.int32()))
            return WriteStep(Write.SYMBOL, self._add(Kind.FIXED, converted, path, 4))
        source = self._add(slot.kind, converted, path, slot.width)
        if decimal_digits(node) is not None:
            return WriteStep(Write.DECIMAL, source, node.size if isinstance(node, Fixed) else -1)
        if node.kind in _LEAVES:
            return WriteStep(_LEAVES[node.kind], source)
        return WriteStep(Write.BYTES if slot.kind is Kind.BYTES else Write.FIXED, source)

    def _converted(self, array: Any, wanted: Any, path: str) -> Any:
        if array.type == wanted:
            return array
        if pa.types.is_null(array.type):
            return pa.nulls(len(array), wanted)
        try:
            return array.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            reason = str(error).splitlines()[0]
            raise UnfitColumnError(f"{_at(path)}{array.type} can't be written as {wanted}: {reason}") from None

    def _unfit(self, array: Any, node: Node, path: str) -> UnfitColumnError:
        return UnfitColumnError(f"{_at(path)}{array.type} can't be written as {node.label}")


_COMPILE: Final[dict[type[Node], Callable[[WritePlan, Any, Any, str], WriteStep]]] = {
    **dict.fromkeys((Node, *Node.__subclasses__(), Enum, Fixed), WritePlan._leaf),
    Union: WritePlan._union,
    Record: WritePlan._record,
    Array: WritePlan._array,
    Map: WritePlan._map,
}


def _names(found: list[Node]) -> list[str]:
    return [f"member{at}" for at in range(len(found))]


def _at(path: str) -> str:
    return f"column {path[1:]}: " if path else ""


def _view(buffer: Any) -> Any:
    return None if buffer is None else memoryview(buffer)
