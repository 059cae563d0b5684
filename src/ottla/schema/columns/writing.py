"""From an Avro schema and an Arrow array to the steps that write the array's rows as records.

Columns are found by name. One that the array lacks takes its default, or null; one that the schema lacks is an error,
since its values would be lost. Types that Arrow converts without loss are converted, as whole columns.
"""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ottla.schema.avro.model import Array, Enum, Field, Fixed, Map, Missing, Node, Record, Union
from ottla.schema.columns.array_plan import ArrayPlan, UnfitColumnError, as_list, as_map, converted, in_column, unfit
from ottla.schema.columns.default import UnfitDefaultError, encode_default
from ottla.schema.columns.layout import Kind
from ottla.schema.columns.shape import allows_null, decimal_digits, leaf, members, without_null
from ottla.schema.columns.source import Write, WriteStep

_LEAVES: Final = {"boolean": Write.BOOLEAN, "int": Write.INT, "long": Write.LONG, "null": Write.NOTHING}


class WritePlan(ArrayPlan):
    """By an Avro schema."""

    def __init__(self, root: Node, array: Any) -> None:
        super().__init__()
        self._value(root, array, "")

    def _value(self, node: Node, array: Any, path: str) -> int:
        self.enter()
        place = self.reserve()
        if isinstance(array.type, pa.DictionaryType):
            array = array.dictionary_decode()
        self.steps[place] = _COMPILE[type(node)](self, node, array, path)
        self.depth -= 1
        return place

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
        source = self.add(Kind.STRUCT, array, path)
        parts = []
        for at, member in enumerate(found):
            place = self.reserve()
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
        raise UnfitColumnError(f"{in_column(path)}{array.type} is no branch of [{labels}], and no struct of {wanted}")

    def _source_of(self, step: int) -> int:
        return self.steps[step].source

    def _record(self, node: Record, array: Any, path: str) -> WriteStep:
        if not pa.types.is_struct(array.type):
            raise unfit(array, node.label, path)
        source = self.add(Kind.STRUCT, array, path)
        names = [field.name for field in array.type]
        unknown = [name for name in names if name not in node.field_by_name]
        if unknown:
            raise UnfitColumnError(
                f"{in_column(path)}{node.label} has no field {unknown[0]}, whose values would be lost: "
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
        return self.constant(source, data)

    def _array(self, node: Array, array: Any, path: str) -> WriteStep:
        lists = as_list(array)
        if lists is None:
            raise unfit(array, node.label, path)
        source = self.add(Kind.LIST, lists, path)
        part = self._value(node.items, lists.values, f"{path}[]")
        return WriteStep(Write.ARRAY, source, self.add_length(lists.values), parts=(part,))

    def _map(self, node: Map, array: Any, path: str) -> WriteStep:
        maps = as_map(array)
        if maps is None:
            raise unfit(array, node.label, path)
        source = self.add(Kind.LIST, maps, path)
        keys = self.reserve()
        key_array = converted(maps.keys, pa.string(), path)
        self.steps[keys] = WriteStep(Write.BYTES, self.add(Kind.BYTES, key_array, f"{path}.key"))
        values = self._value(node.values, maps.items, f"{path}.value")
        return WriteStep(Write.ARRAY, source, self.add_length(maps.keys), parts=(keys, values))

    def _leaf(self, node: Node, array: Any, path: str) -> WriteStep:
        slot, wanted = leaf(node)
        values = converted(array, wanted, path)
        if isinstance(node, Enum):
            indexes = pc.index_in(values, pa.array(node.symbols, pa.string()))
            unknown = pc.fill_null(indexes, pa.scalar(-1, pa.int32()))
            values = pc.if_else(pc.is_valid(values), unknown, pa.scalar(None, pa.int32()))
            return WriteStep(Write.SYMBOL, self.add(Kind.FIXED, values, path, 4))
        source = self.add(slot.kind, values, path, slot.width)
        if decimal_digits(node) is not None:
            return WriteStep(Write.DECIMAL, source, node.size if isinstance(node, Fixed) else -1)
        if node.kind in _LEAVES:
            return WriteStep(_LEAVES[node.kind], source)
        return WriteStep(Write.BYTES if slot.kind is Kind.BYTES else Write.FIXED, source)


_COMPILE: Final[dict[type[Node], Callable[[WritePlan, Any, Any, str], WriteStep]]] = {
    **dict.fromkeys((Node, *Node.__subclasses__(), Enum, Fixed), WritePlan._leaf),
    Union: WritePlan._union,
    Record: WritePlan._record,
    Array: WritePlan._array,
    Map: WritePlan._map,
}


def _names(found: list[Node]) -> list[str]:
    return [f"member{at}" for at in range(len(found))]
