"""From JSON to a graph of Avro types, with the checks and the words of Java's parser.

A name may be used before its definition and by types inside of its own. Such uses are noted while the JSON is read and
replaced when all definitions are known. Defining a name twice is allowed when both definitions mean the same.
"""

from collections.abc import Callable
from typing import Final

from ottla.schema.avro.model import (
    MISSING,
    Array,
    Enum,
    Field,
    Fixed,
    Forward,
    Map,
    Missing,
    Named,
    Node,
    Primitive,
    Props,
    Record,
    Union,
)
from ottla.schema.avro.name import PRIMITIVES, Name, check_namespace, check_strict, resolve
from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_text import Json, same_json, write_json

_RESERVED: Final = frozenset(
    {"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"}
)
_ENUM_RESERVED: Final = _RESERVED | {"default"}
_FIELD_RESERVED: Final = frozenset({"default", "doc", "name", "order", "type", "aliases"})
_ORDERS: Final = frozenset({"ascending", "descending", "ignore"})
_SIZE_MAX: Final = (1 << 31) - 9
_QUOTED_LENGTH_MAX: Final = 10_000


class Parser:
    """Reads schemas that may use each other's names: those that are referenced first, then the one that counts."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._definitions: dict[str, Named] = {}
        self._forwards: list[tuple[Callable[[Node], None], Forward, str]] = []
        self._unions: list[tuple[Union, str]] = []

    def read(self, value: Json) -> Node:
        """The graph for one schema; names may stay open until `close`."""
        node = self._type(value, None, "")
        if isinstance(node, Forward):
            raise InvalidSchemaError(f"Undefined schema: {node.full}")
        return node

    def close(self) -> None:
        """Puts definitions where names were used before them; raises InvalidSchemaError for names without any."""
        for put, forward, path in self._forwards:
            definition = self._definitions.get(forward.full)
            if definition is None:
                raise InvalidSchemaError(f"Undefined schema: {forward.full}", path)
            put(definition)
        self._forwards.clear()
        for union, path in self._unions:
            _check_branches(union, path)
        self._unions.clear()

    def _type(self, value: Json, namespace: str | None, path: str) -> Node:
        if isinstance(value, str):
            return self._use(value, namespace)
        if isinstance(value, dict):
            kind = _required_text(value, "type", "No type", path)
            if kind in PRIMITIVES:
                return Primitive(kind, _props(value, _RESERVED))
            read = _KINDS.get(kind)
            return read(self, value, namespace, path) if read else self._use(kind, namespace)
        if isinstance(value, list):
            return self._union(value, namespace, path)
        raise InvalidSchemaError(f"Schema not yet supported: {write_json(value)}", path)

    def _use(self, name: str, namespace: str | None) -> Node:
        if name in PRIMITIVES:
            return Primitive(name, {})
        full = resolve(name, namespace)
        return self._definitions.get(full) or self._definitions.get(name) or Forward(full)

    def _later(self, node: Node, put: Callable[[Node], None], path: str) -> None:
        if isinstance(node, Forward):
            self._forwards.append((put, node, path))

    def _define(self, node: Named, value: dict[str, Json], path: str) -> Named:
        node.aliases = tuple(dict.fromkeys(Name.of(alias, node.name.namespace) for alias in _aliases(value, path)))
        if self._strict:
            for alias in node.aliases:
                check_strict(alias.simple, path)
            check_namespace(node.name.namespace, path)
        known = self._definitions.setdefault(node.name.full, node)
        if known is not node and not _same_definition(known, node):
            raise InvalidSchemaError(f"Can't redefine: {node.name.full}", path)
        return known

    def _name(self, value: dict[str, Json], namespace: str | None, path: str) -> Name:
        given = value.get("namespace")
        text = _required_text(value, "name", "No name in schema", path)
        name = Name.of(text, given if isinstance(given, str) else namespace)
        if self._strict:
            check_strict(name.simple, path)
        if name.full in PRIMITIVES:
            raise InvalidSchemaError(f"Schemas may not be named after primitives: {name.full}", path)
        return name

    def _record(self, value: dict[str, Json], namespace: str | None, path: str) -> Node:
        name = self._name(value, namespace, path)
        record = Record(name, _text(value, "doc"), path, is_error=value["type"] == "error")
        fields = value.get("fields")
        if not isinstance(fields, list):
            raise InvalidSchemaError(f"Record has no fields: {_quote(value)}", path)
        for index, item in enumerate(fields):
            self._field(record, item, f"{path}/fields/{index}")
        record.props = _props(value, _RESERVED)
        return self._define(record, value, path)

    def _field(self, record: Record, value: Json, path: str) -> None:
        if not isinstance(value, dict):
            raise InvalidSchemaError(f"No field name: {_quote(value)}", path)
        name = _required_text(value, "name", "No field name", path)
        if "type" not in value:
            raise InvalidSchemaError(f"No field type: {_quote(value)}", path)
        type_ = self._type(value["type"], record.name.namespace, f"{path}/type")
        if self._strict:
            check_strict(name, path)
        field = Field(name, type_, _text(value, "doc"), _default(value, type_, path), _order(value, path))
        field.props = _props(value, _FIELD_RESERVED)
        field.aliases = tuple(dict.fromkeys(_aliases(value, path)))
        known = record.field_by_name.get(name)
        if known is not None:
            raise InvalidSchemaError(
                f"Duplicate field {name} in record {record.name.full}: {name} type:{_upper(type_)} "
                f"pos:{len(record.fields)} and {name} type:{_upper(known.type)} pos:{known.position}.",
                path,
            )
        record.has_field_aliases |= bool(field.aliases)
        field.position = len(record.fields)
        record.fields.append(field)
        record.field_by_name[name] = field

        def put(node: Node) -> None:
            field.type = node

        self._later(type_, put, f"{path}/type")

    def _enum(self, value: dict[str, Json], namespace: str | None, path: str) -> Node:
        name = self._name(value, namespace, path)
        given = value.get("symbols")
        if not isinstance(given, list):
            raise InvalidSchemaError(f"Enum has no symbols: {_quote(value)}", path)
        symbols: dict[str, None] = {}
        for index, symbol in enumerate(given):
            if not isinstance(symbol, str):
                raise InvalidSchemaError("Null name", f"{path}/symbols/{index}")
            if self._strict:
                check_strict(symbol, f"{path}/symbols/{index}")
            if symbol in symbols:
                raise InvalidSchemaError(f"Duplicate enum symbol: {symbol}", f"{path}/symbols/{index}")
            symbols[symbol] = None
        default = _text(value, "default")
        if default is not None and default not in symbols:
            raise InvalidSchemaError(
                f"The Enum Default: {default} is not in the enum symbol set: [{', '.join(symbols)}]", path
            )
        node = Enum(name, _text(value, "doc"), list(symbols), default)
        node.props = _props(value, _ENUM_RESERVED)
        return self._define(node, value, path)

    def _fixed(self, value: dict[str, Json], namespace: str | None, path: str) -> Node:
        name = self._name(value, namespace, path)
        size = value.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not -(1 << 31) <= size < 1 << 31:
            raise InvalidSchemaError(f"Invalid or no size: {_quote(value)}", path)
        if size < 0:
            raise InvalidSchemaError(f"Malformed data. Length is negative: {size}", path)
        if size > _SIZE_MAX:
            raise InvalidSchemaError(f"Cannot read arrays longer than {_SIZE_MAX} bytes in Java VM: {size}", path)
        node = Fixed(name, _text(value, "doc"), size)
        node.props = _props(value, _RESERVED)
        return self._define(node, value, path)

    def _array(self, value: dict[str, Json], namespace: str | None, path: str) -> Node:
        if "items" not in value:
            raise InvalidSchemaError(f"Array has no items type: {_quote(value)}", path)
        items = self._type(value["items"], namespace, f"{path}/items")
        node = Array(items, _props(value, _RESERVED))
        self._later(items, lambda found: setattr(node, "items", found), f"{path}/items")
        return node

    def _map(self, value: dict[str, Json], namespace: str | None, path: str) -> Node:
        if "values" not in value:
            raise InvalidSchemaError(f"Map has no values type: {_quote(value)}", path)
        values = self._type(value["values"], namespace, f"{path}/values")
        node = Map(values, _props(value, _RESERVED))
        self._later(values, lambda found: setattr(node, "values", found), f"{path}/values")
        return node

    def _union(self, value: list[Json], namespace: str | None, path: str) -> Node:
        node = Union([])
        for index, item in enumerate(value):
            branch = self._type(item, namespace, f"{path}/{index}")
            if isinstance(branch, Union):
                raise InvalidSchemaError(f"Nested union: {_quote(value)}", f"{path}/{index}")
            node.branches.append(branch)
            self._later(branch, _branch_setter(node, index), f"{path}/{index}")
        _check_branches(node, path)
        if any(isinstance(branch, Forward) for branch in node.branches):
            self._unions.append((node, path))
        return node


_KINDS: Final[dict[str, Callable[[Parser, dict[str, Json], str | None, str], Node]]] = {
    "record": Parser._record,
    "error": Parser._record,
    "enum": Parser._enum,
    "fixed": Parser._fixed,
    "array": Parser._array,
    "map": Parser._map,
}


def _branch_setter(union: Union, index: int) -> Callable[[Node], None]:
    def put(node: Node) -> None:
        union.branches[index] = node

    return put


def _check_branches(union: Union, path: str) -> None:
    seen = set()
    for branch in union.branches:
        if branch.label in seen:
            raise InvalidSchemaError(f"Duplicate in union:{branch.label}", path)
        seen.add(branch.label)


def _same_definition(left: Node, right: Node) -> bool:
    """Whether two definitions of one name are equal but for docs and aliases, as in Java."""
    if isinstance(left, Forward) or isinstance(right, Forward):
        return left.label == right.label
    if left.kind != right.kind or not same_json(left.props, right.props):
        return False
    if isinstance(left, Named) and left.label != right.label:
        return False
    if isinstance(left, Record) and isinstance(right, Record):
        return len(left.fields) == len(right.fields) and all(map(_same_field, left.fields, right.fields))
    if isinstance(left, Enum) and isinstance(right, Enum):
        return left.symbols == right.symbols
    if isinstance(left, Fixed) and isinstance(right, Fixed):
        return left.size == right.size
    return _same_use(left, right)


def _same_use(left: Node, right: Node) -> bool:
    """Names stand for their definitions, which are known to be the same."""
    if isinstance(left, (Named, Forward)) or isinstance(right, (Named, Forward)):
        return left.label == right.label
    if left.kind != right.kind or not same_json(left.props, right.props):
        return False
    if isinstance(left, Array) and isinstance(right, Array):
        return _same_use(left.items, right.items)
    if isinstance(left, Map) and isinstance(right, Map):
        return _same_use(left.values, right.values)
    if isinstance(left, Union) and isinstance(right, Union):
        return len(left.branches) == len(right.branches) and all(map(_same_use, left.branches, right.branches))
    return True


def _same_field(left: Field, right: Field) -> bool:
    if isinstance(left.default, Missing) or isinstance(right.default, Missing):
        same_default = left.default is right.default
    else:
        same_default = same_json(left.default, right.default)
    return (
        same_default
        and left.name == right.name
        and left.order == right.order
        and same_json(left.props, right.props)
        and _same_use(left.type, right.type)
    )


def _default(value: dict[str, Json], type_: Node, path: str) -> Json | Missing:
    if "default" not in value:
        return MISSING
    default = value["default"]
    if type_.kind in ("float", "double") and isinstance(default, str):
        try:
            return float(default)
        except ValueError:
            raise InvalidSchemaError(f'For input string: "{default}"', path) from None
    return default


def _order(value: dict[str, Json], path: str) -> str:
    order = value.get("order", "ascending")
    if not isinstance(order, str) or order.lower() not in _ORDERS:
        raise InvalidSchemaError(f"No such order: {write_json(order)}", path)
    return order.lower()


def _props(value: dict[str, Json], reserved: frozenset[str]) -> Props:
    return {key: item for key, item in value.items() if key not in reserved}


def _aliases(value: dict[str, Json], path: str) -> list[str]:
    if "aliases" not in value:
        return []
    given = value["aliases"]
    if not isinstance(given, list):
        raise InvalidSchemaError(f"aliases not an array: {_quote(value)}", path)
    aliases = []
    for alias in given:
        if not isinstance(alias, str):
            raise InvalidSchemaError(f"alias not a string: {_quote(alias)}", path)
        aliases.append(alias)
    return aliases


def _text(value: dict[str, Json], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) else None


def _required_text(value: dict[str, Json], key: str, error: str, path: str) -> str:
    found = value.get(key)
    if not isinstance(found, str):
        raise InvalidSchemaError(f"{error}: {_quote(value)}", path)
    return found


def _upper(node: Node) -> str:
    return "RECORD" if isinstance(node, Forward) else node.kind.upper()


def _quote(value: Json) -> str:
    return write_json(value)[:_QUOTED_LENGTH_MAX]
