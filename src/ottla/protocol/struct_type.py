"""A struct as it is declared: fields for all versions, and the class that makes slots and a constructor of them.

Fields name the structs that they hold, structs hold fields: neither can be told without the other. How fields are
written down is `field`'s, what travels by itself is `definition`'s.
"""

import operator
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from ottla.protocol.versions import VersionRange


class Kind(IntEnum):
    """The types of the protocol. The compiled engine knows them by number."""

    BOOL = 0
    INT8 = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    UINT16 = 5
    UINT32 = 6
    FLOAT64 = 7
    UUID = 8
    STRING = 9
    BYTES = 10
    RECORDS = 11
    STRUCT = 12
    ARRAY = 13


class Field:
    """One field of a struct, for all versions. `name` is filled in by the struct that holds it."""

    # A plain class: dataclasses would bring `inspect` into every process that speaks the protocol.
    __slots__ = (
        "default",
        "element",
        "ignorable",
        "kind",
        "name",
        "never_compact",
        "nullable",
        "secret",
        "struct",
        "tag",
        "versions",
    )

    def __init__(
        self,
        kind: Kind,
        versions: str,
        *,
        default: object,
        nullable: str = "none",
        tag: int | None = None,
        ignorable: bool = False,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.versions = VersionRange.parse(versions)
        self.nullable = VersionRange.parse(nullable)
        self.default = default
        self.tag = tag
        self.ignorable = ignorable
        self.struct: type[Struct] | None = None
        """The class of a nested struct, or of an array's elements."""
        self.element: Kind | None = None
        """The type of an array's elements."""
        self.never_compact = False
        self.secret = False
        """Never shown: passwords, keys, and what stands for them."""

    def default_value(self) -> object:
        """A default that the caller may keep: lists and structs are new each time."""
        if self.default is EMPTY_ARRAY:
            return []
        if self.default is NEW_STRUCT:
            assert self.struct is not None
            return self.struct()
        return self.default

    def is_default(self, value: object) -> bool:
        """Whether `value` is what a reader would assume if the field were left out."""
        if self.default is EMPTY_ARRAY:
            return value is not None and not value
        return bool(value == self.default_value())


EMPTY_ARRAY = object()


NEW_STRUCT = object()


class StructType(type):
    """Turns the declared fields into slots and keeps their definitions in `definition`."""

    definition: dict[str, Field]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> "StructType":
        fields = {key: value for key, value in namespace.items() if isinstance(value, Field)}
        for key, field in fields.items():
            field.name = key
            del namespace[key]
        namespace["__slots__"] = (*namespace.pop("__extra_slots__", ()), *fields)
        namespace["definition"] = {key: field for base in bases for key, field in _definition(base).items()} | fields
        namespace["__init__"] = _first_init
        return super().__new__(mcs, name, bases, namespace, **options)


def _definition(struct: type) -> dict[str, Field]:
    found: dict[str, Field] = getattr(struct, "definition", {})
    return found


def _first_init(self: "Struct", **values: Any) -> None:
    """The first instance of a class compiles the class's real constructor: most classes never need one."""
    type(self)._compile_constructor()
    type(self).__init__(self, **values)


@dataclass_transform(kw_only_default=True)
class StructBase(metaclass=StructType):
    """Carries the transform, so that type checkers give every struct below a typed constructor."""


class Struct(StructBase):
    """A group of fields, nested in a message or a message itself."""

    definition: ClassVar[dict[str, Field]]

    if TYPE_CHECKING:
        unknown_tags: dict[int, bytes] | None = None
        """Tagged fields that this version of us doesn't know: kept, and written back."""
    else:
        __extra_slots__ = ("unknown_tags",)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def _compile_constructor(cls) -> None:
        scope: dict[str, Any] = {"UNSET": EMPTY_ARRAY}
        parameters, body = [], []
        for name, field in cls.definition.items():
            if field.default is EMPTY_ARRAY or field.default is NEW_STRUCT:
                scope[f"new_{name}"] = list if field.default is EMPTY_ARRAY else field.struct
                parameters.append(f"{name}=UNSET")
                body.append(f"    self.{name} = new_{name}() if {name} is UNSET else {name}")
            else:
                scope[f"default_{name}"] = field.default
                parameters.append(f"{name}=default_{name}")
                body.append(f"    self.{name} = {name}")
        star = "*, " if parameters else ""
        source = f"def __init__(self, {star}{', '.join([*parameters, 'unknown_tags=None'])}):\n"
        source += "\n".join([*body, "    self.unknown_tags = unknown_tags"])
        exec(compile(source, f"<constructor of {cls.__name__}>", "exec"), scope)
        constructor = scope["__init__"]
        constructor.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = constructor  # type: ignore[method-assign]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        values = operator.attrgetter("unknown_tags", *self.definition)
        return bool(values(self) == values(other))

    def __repr__(self) -> str:
        shown = [
            f"{name}={'***' if field.secret else _shown(getattr(self, name))}"
            for name, field in self.definition.items()
            if not field.is_default(getattr(self, name))
        ]
        if self.unknown_tags:
            shown.append(f"unknown_tags={self.unknown_tags!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _shown(value: object) -> str:
    """Like `repr`, but a view of records shows its length and not its address."""
    return f"<{value.nbytes} bytes>" if isinstance(value, memoryview) else repr(value)
