"""The types of Avro as a graph: a named type is one object wherever it is used, so that types may contain themselves.

Nodes are built by the parser and not changed afterwards. `props` holds the attributes that the specification does not
define, logical types among them, in the order written.
"""

from typing import Final

from ottla.schema.avro.name import Name
from ottla.schema.json_text import Json

Props = dict[str, Json]


class Missing:
    """Stands for a default that is not there: `null` is a default."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


class Node:
    """Any type; `kind` is its name in the specification."""

    __slots__ = ("kind", "props")

    def __init__(self, kind: str, props: Props) -> None:
        self.kind = kind
        self.props = props

    @property
    def label(self) -> str:
        """The key of a union's branch, which no two branches share: the full name of a named type, else the kind."""
        return self.kind


class Primitive(Node):
    """One of the eight types without parts."""

    __slots__ = ()


class Array(Node):
    """A list of items of one type."""

    __slots__ = ("items",)

    def __init__(self, items: Node, props: Props) -> None:
        super().__init__("array", props)
        self.items = items


class Map(Node):
    """Values of one type by string."""

    __slots__ = ("values",)

    def __init__(self, values: Node, props: Props) -> None:
        super().__init__("map", props)
        self.values = values


class Union(Node):
    """One of several types."""

    __slots__ = ("branches",)

    def __init__(self, branches: list[Node]) -> None:
        super().__init__("union", {})
        self.branches = branches


class Named(Node):
    """A type that is defined once and then used by name."""

    __slots__ = ("aliases", "doc", "name")

    def __init__(self, kind: str, name: Name, doc: str | None) -> None:
        super().__init__(kind, {})
        self.name = name
        self.doc = doc
        self.aliases: tuple[Name, ...] = ()

    @property
    def label(self) -> str:
        return self.name.full


class Enum(Named):
    """One of several symbols; `default` is what a reader takes for a symbol it does not know."""

    __slots__ = ("default", "symbols")

    def __init__(self, name: Name, doc: str | None, symbols: list[str], default: str | None) -> None:
        super().__init__("enum", name, doc)
        self.symbols = symbols
        self.default = default


class Fixed(Named):
    """A number of bytes that the schema fixes."""

    __slots__ = ("size",)

    def __init__(self, name: Name, doc: str | None, size: int) -> None:
        super().__init__("fixed", name, doc)
        self.size = size


class Field:
    """A field of a record, at a position in it."""

    __slots__ = ("aliases", "default", "doc", "name", "order", "position", "props", "type")

    def __init__(self, name: str, type_: Node, doc: str | None, default: Json | Missing, order: str) -> None:
        self.name = name
        self.type = type_
        self.doc = doc
        self.default = default
        self.order = order
        self.position = 0
        self.aliases: tuple[str, ...] = ()
        self.props: Props = {}


class Record(Named):
    """Fields in their order; `is_error` marks the error types of Avro's protocols, `path` leads to the definition."""

    __slots__ = ("field_by_name", "fields", "has_field_aliases", "is_error", "path")

    def __init__(self, name: Name, doc: str | None, path: str, *, is_error: bool) -> None:
        super().__init__("record", name, doc)
        self.is_error = is_error
        self.path = path
        self.fields: list[Field] = []
        self.field_by_name: dict[str, Field] = {}
        self.has_field_aliases = False


class Forward(Node):
    """A name that is used before its definition; the parser replaces every one."""

    __slots__ = ("full",)

    def __init__(self, full: str) -> None:
        super().__init__("forward", {})
        self.full = full

    @property
    def label(self) -> str:
        return self.full


def children(node: Node) -> list[Node]:
    """The types that a type is made of."""
    if isinstance(node, Record):
        return [field.type for field in node.fields]
    if isinstance(node, Array):
        return [node.items]
    if isinstance(node, Map):
        return [node.values]
    return node.branches if isinstance(node, Union) else []
