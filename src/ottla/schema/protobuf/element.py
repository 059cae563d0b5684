"""The syntax tree of a .proto file, which the parser makes and the writer prints.

Names of types stay as the author wrote them; `scope` resolves them. Kinds are kept apart (fields, oneofs, nested
types …) because the canonical text prints them apart: their order within a kind is the author's.
"""

from enum import Enum
from typing import Final

from ottla.base.frozen import frozen

NUMBER_MAX: Final = 536_870_911
"""The highest number of a field."""

ENUM_NUMBER_MAX: Final = 2_147_483_647


class LiteralKind(Enum):
    """The syntax of an option's value."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NAME = "name"


@frozen
class Literal:
    """A value of an option: text (unescaped), or a number, boolean or enum value as it was written."""

    kind: LiteralKind
    text: str


@frozen
class OptionMap:
    """A message as an option's value, in the text format: `{ key: value }`."""

    entries: "tuple[tuple[str, OptionValue], ...]"


@frozen
class OptionList:
    """A list as an option's value: `[a, b]`."""

    items: "tuple[OptionValue, ...]"


OptionValue = Literal | OptionMap | OptionList


@frozen
class Option:
    """`name = value`, or `(name).path = value` where the name is an extension's."""

    name: str
    value: OptionValue
    is_extension: bool = False
    path: tuple[str, ...] = ()


@frozen
class Span:
    """`first to last` of reserved and extension numbers, both inclusive."""

    first: int
    last: int


Reserved = tuple[int | Span | str, ...]
"""One `reserved` statement: numbers, spans and names."""


@frozen
class Extensions:
    """One `extensions` statement."""

    numbers: tuple[int | Span, ...]
    options: tuple[Option, ...] = ()


@frozen
class MapType:
    """`map<key, value>`."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


@frozen
class Field:
    """A field; `label` is `optional`, `required`, `repeated` or None where none was written."""

    name: str
    number: int
    type: str | MapType
    label: str | None = None
    options: tuple[Option, ...] = ()
    default: Literal | None = None
    json_name: str | None = None


@frozen
class Group:
    """proto2's `optional group Name = 1 { … }`: a field and its message in one."""

    name: str
    number: int
    label: str | None
    fields: tuple[Field, ...] = ()


@frozen
class OneOf:
    """Fields of which one at most is set."""

    name: str
    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()
    options: tuple[Option, ...] = ()


@frozen
class EnumConstant:
    """`NAME = number`."""

    name: str
    number: int
    options: tuple[Option, ...] = ()


@frozen
class EnumType:
    """An enum."""

    name: str
    constants: tuple[EnumConstant, ...] = ()
    options: tuple[Option, ...] = ()
    reserved: tuple[Reserved, ...] = ()


@frozen
class Extend:
    """`extend Message { … }`."""

    name: str
    fields: tuple[Field, ...] = ()


@frozen
class Message:
    """A message with its nested types. Compared by identity where recursion is tracked, hence `eq=True` stays."""

    name: str
    fields: tuple[Field, ...] = ()
    oneofs: tuple[OneOf, ...] = ()
    groups: tuple[Group, ...] = ()
    messages: "tuple[Message, ...]" = ()
    enums: tuple[EnumType, ...] = ()
    extends: tuple[Extend, ...] = ()
    extensions: tuple[Extensions, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    options: tuple[Option, ...] = ()

    @property
    def is_map_entry(self) -> bool:
        """Whether a compiler made this message for a map field. Only descriptors contain such messages."""
        return any(
            option.name == "map_entry" and isinstance(option.value, Literal) and option.value.text == "true"
            for option in self.options
        )

    def entry_type(self) -> MapType | None:
        """The map that an entry message stands for."""
        types = {field.name: str(field.type) for field in self.fields}
        return MapType(types["key"], types["value"]) if self.is_map_entry and {"key", "value"} <= types.keys() else None


@frozen
class Rpc:
    """A method of a service."""

    name: str
    request: str
    response: str
    is_request_streamed: bool = False
    is_response_streamed: bool = False
    options: tuple[Option, ...] = ()


@frozen
class Service:
    """A service."""

    name: str
    rpcs: tuple[Rpc, ...] = ()
    options: tuple[Option, ...] = ()


@frozen
class File:
    """A .proto file. `edition` or `syntax` is set, or neither, which means proto2."""

    syntax: str | None = None
    edition: str | None = None
    package: str | None = None
    imports: tuple[str, ...] = ()
    public_imports: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    messages: tuple[Message, ...] = ()
    enums: tuple[EnumType, ...] = ()
    extends: tuple[Extend, ...] = ()
    services: tuple[Service, ...] = ()

    @property
    def is_proto3(self) -> bool:
        return self.syntax == "proto3"


SCALARS: Final = frozenset(
    (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
    )
)
