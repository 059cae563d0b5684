"""Parsed JSON as columns of a schema: what `json_reader` reads from each value, with one look at the whole where that
is enough. Structs are not made: their fields are columns.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from json import JSONDecoder
from operator import itemgetter
from typing import Any, Final

from ottla.connect.converter.json_reader import reader
from ottla.connect.data.column import PlainColumn, RowsNeededError, StructColumn
from ottla.connect.data.schema import Schema
from ottla.connect.data.type import BITS, Type, fits

ColumnRead = Callable[[Sequence[Any]], PlainColumn | StructColumn]
_ListRead = Callable[[Sequence[Any]], Sequence[object]]
BLANKS: Final = " \t\r\n"
_CLASSES: Final[dict[Type, type]] = {Type.STRING: str, Type.BOOLEAN: bool, Type.FLOAT64: float}


def payloads_of(data: Sequence[bytes | None], at: int, head: bytes, decoder: JSONDecoder) -> list[object]:
    """The payloads of the messages from there on that begin with these bytes; any error if one of them is no JSON."""
    scan, start = decoder.scan_once, len(head)  # type: ignore[attr-defined]
    found: list[object] = []
    for each in islice(data, at, None):
        if each is None or not each.startswith(head):
            break
        text = str(each[start:], "utf-8")
        payload, end = scan(text, 0)
        if text[end:] != "}" and text[end:].strip(BLANKS) != "}":
            raise RowsNeededError
        found.append(payload)
    return found


def column_reader(schema: Schema | None, *, replace_null: bool) -> ColumnRead:
    """The function that reads values of a schema; it raises where one of them is unusual."""
    if schema is None or schema.type is not Type.STRUCT:
        read = _list_reader(schema, replace_null=replace_null)
        return lambda nodes: PlainColumn(schema, read(nodes))
    found = schema
    fields = [
        (itemgetter(field.name), field.name, _list_reader(field.schema, replace_null=replace_null))
        for field in schema.fields
    ]

    def read_structs(nodes: Sequence[Any]) -> StructColumn:
        if set(map(type, nodes)) != {dict}:
            raise RowsNeededError
        columns = [read(_items(nodes, get, name)) for get, name, read in fields]
        return StructColumn(found, columns, len(nodes))

    return read_structs


def _items(nodes: Sequence[Any], get: Callable[[Any], object], name: str) -> Sequence[object]:
    try:
        return list(map(get, nodes))
    except KeyError:
        return [node.get(name) for node in nodes]


def _list_reader(schema: Schema | None, *, replace_null: bool) -> _ListRead:
    """The function that reads the values of one field."""
    each = reader(schema, replace_null=replace_null)
    if schema is None or schema.name is not None:
        return lambda nodes: list(map(each, nodes))
    is_right = _check(schema)
    kinds = {int} if schema.type in BITS else {_CLASSES.get(schema.type)}
    # Where a null stays what it is.
    allowed = kinds | {type(None)} if schema.optional and schema.default is None else kinds

    def read(nodes: Sequence[Any]) -> Sequence[object]:
        return nodes if set(map(type, nodes)) <= allowed and is_right(nodes) else list(map(each, nodes))

    return read


def _check(schema: Schema) -> Callable[[Sequence[Any]], bool]:
    """What is to be looked at besides the classes of values."""
    kind = schema.type
    if kind not in BITS:
        return lambda nodes: True

    def fit(nodes: Sequence[Any]) -> bool:
        numbers = nodes if None not in nodes else [node for node in nodes if node is not None]
        return not numbers or (fits(kind, min(numbers)) and fits(kind, max(numbers)))

    return fit
