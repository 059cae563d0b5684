"""The graph of a JSON Schema: one node for each kind of value that its keywords constrain.

Keywords of one kind make one node; a schema with keywords of several kinds is an `allOf` of their nodes. Confluent's
registry compares this model, whatever the draft: titles, examples and formats are not in it.
"""

import enum
from decimal import Decimal
from typing import Final

from ottla.schema.json_text import Json

Number = int | Decimal


class Criterion(enum.Enum):
    """The keyword of a combination, which says how many of its subschemas have to hold."""

    ALL = "allOf"
    ANY = "anyOf"
    ONE = "oneOf"


class Node:
    """Any schema; `source` is the JSON that it was read from, None when a keyword of another node implied it."""

    __slots__ = ("connect_type", "has_default", "source")

    def __init__(self) -> None:
        self.source: Json = None
        self.has_default = False
        self.connect_type: str | None = None


class Empty(Node):
    """`{}`: allows everything."""

    __slots__ = ()


class Anything(Empty):
    """`true`: allows everything."""

    __slots__ = ()


class Nothing(Node):
    """`false`: allows nothing."""

    __slots__ = ()


class Null(Node):
    """`null` alone."""

    __slots__ = ()


class Boolean(Node):
    """`true` and `false`."""

    __slots__ = ()


class Conditional(Node):
    """`if`, `then` and `else`, which are not compared."""

    __slots__ = ()


class Const(Node):
    """One value; `key` is equal for equal values."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


class Enumeration(Node):
    """Some values; `keys` are equal for equal values."""

    __slots__ = ("keys",)

    def __init__(self, keys: frozenset[str]) -> None:
        super().__init__()
        self.keys = keys


class Not(Node):
    """Everything that another schema does not allow."""

    __slots__ = ("inner",)

    def __init__(self, inner: Node) -> None:
        super().__init__()
        self.inner = inner


class Reference(Node):
    """A `$ref`; its target is found when everything is loaded."""

    __slots__ = ("target",)

    def __init__(self) -> None:
        super().__init__()
        self.target: Node | None = None


class Combined(Node):
    """Several schemas at once; `implied` marks one that no `allOf` or `anyOf` wrote down."""

    __slots__ = ("criterion", "implied", "parts")

    def __init__(self, criterion: Criterion, parts: list[Node], *, implied: bool = False) -> None:
        super().__init__()
        self.criterion = criterion
        self.parts = parts
        self.implied = implied


class String(Node):
    """Strings of some length and pattern."""

    __slots__ = ("length_max", "length_min", "pattern")

    def __init__(self) -> None:
        super().__init__()
        self.length_max: Number | None = None
        self.length_min: Number | None = None
        self.pattern: str | None = None


class Numeric(Node):
    """Numbers in some range."""

    __slots__ = ("exclusive_maximum", "exclusive_minimum", "is_integer", "maximum", "minimum", "multiple_of")

    def __init__(self) -> None:
        super().__init__()
        self.is_integer = False
        self.maximum: Number | None = None
        self.minimum: Number | None = None
        self.exclusive_maximum: Number | None = None
        self.exclusive_minimum: Number | None = None
        self.multiple_of: Number | None = None


class Array(Node):
    """Lists: of one kind of item, or a tuple and what follows it. `rest` is what may follow; None when anything may."""

    __slots__ = (
        "contains_max",
        "contains_min",
        "each",
        "items_max",
        "items_min",
        "rest",
        "tuple",
        "unevaluated",
        "unique",
    )

    def __init__(self) -> None:
        super().__init__()
        self.each: Node | None = None
        self.tuple: list[Node] = []
        self.rest: Node | None = None
        self.unevaluated: Node | None = None
        self.items_max: Number | None = None
        self.items_min: Number | None = None
        self.contains_max: Number | None = None
        self.contains_min: Number | None = None
        self.unique = False


class Object(Node):
    """Objects. `rest` is what undeclared properties may be; None when anything."""

    __slots__ = (
        "dependencies",
        "dependent_schemas",
        "patterns",
        "properties",
        "properties_max",
        "properties_min",
        "required",
        "rest",
        "unevaluated",
    )

    def __init__(self) -> None:
        super().__init__()
        self.properties: dict[str, Node] = {}
        self.required: set[str] = set()
        self.patterns: dict[str, Node] = {}
        self.rest: Node | None = None
        self.unevaluated: Node | None = None
        self.dependencies: dict[str, frozenset[str]] = {}
        self.dependent_schemas: dict[str, Node] = {}
        self.properties_max: Number | None = None
        self.properties_min: Number | None = None


MERGED: Final = (Array, Numeric, Object, String)
"""Kinds whose keywords go into one node when they stand in one schema."""
