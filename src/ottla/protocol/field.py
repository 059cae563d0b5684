"""The vocabulary in which messages are declared: one function per type of Kafka's protocol.

Each returns a `Field` that says in which versions the field travels, in which it may be null, its default, its tag
(a tagged field may be left out, KIP-482), and whether a version that lacks it may drop it silently (`ignorable`).
They claim to return `Any`, so that the annotation beside them is what a type checker sees.
"""

from collections.abc import Callable
from typing import Any, Protocol

from ottla.base.ids import ZERO_UUID
from ottla.protocol.struct_type import EMPTY_ARRAY, NEW_STRUCT, Field, Kind, Struct


class FileRegion(Protocol):
    """A stretch of an open file that stands for its bytes, so that a socket can `sendfile` it."""

    position: int

    def fileno(self) -> int: ...

    def __len__(self) -> int: ...


Records = bytes | bytearray | memoryview | FileRegion
"""The value of a `records` field: a memoryview of the input after decoding, any buffer or file region for encoding."""


def _scalar(kind: Kind, zero: object) -> Callable[..., Any]:
    """The declaring function of a type that has no null."""

    def declare(versions: str, *, default: object = zero, tag: int | None = None, ignorable: bool = False) -> Any:
        return Field(kind, versions, default=default, tag=tag, ignorable=ignorable)

    return declare


def _nullable(kind: Kind, zero: object) -> Callable[..., Any]:
    """The declaring function of a type that may be null."""

    def declare(
        versions: str,
        *,
        nullable: str = "none",
        default: object = zero,
        tag: int | None = None,
        ignorable: bool = False,
    ) -> Any:
        return Field(kind, versions, default=default, nullable=nullable, tag=tag, ignorable=ignorable)

    return declare


boolean = _scalar(Kind.BOOL, False)
int8 = _scalar(Kind.INT8, 0)
int16 = _scalar(Kind.INT16, 0)
int32 = _scalar(Kind.INT32, 0)
int64 = _scalar(Kind.INT64, 0)
uint16 = _scalar(Kind.UINT16, 0)
uint32 = _scalar(Kind.UINT32, 0)
float64 = _scalar(Kind.FLOAT64, 0.0)
uuid = _scalar(Kind.UUID, ZERO_UUID)
string = _nullable(Kind.STRING, "")
bytestring = _nullable(Kind.BYTES, b"")
records = _nullable(Kind.RECORDS, None)

_ELEMENTS: dict[Callable[..., Any], Kind] = {
    int8: Kind.INT8,
    int16: Kind.INT16,
    int32: Kind.INT32,
    int64: Kind.INT64,
    uuid: Kind.UUID,
    string: Kind.STRING,
}


def array(
    element: Callable[..., Any] | type[Struct],
    versions: str,
    *,
    nullable: str = "none",
    default: object = EMPTY_ARRAY,
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    """A list of structs (`element` is their class) or of simple values (`element` is a function above, as `int32`)."""
    field = Field(Kind.ARRAY, versions, default=default, nullable=nullable, tag=tag, ignorable=ignorable)
    field.element = _ELEMENTS.get(element, Kind.STRUCT)
    field.struct = element if isinstance(element, type) else None
    return field


def struct(
    of: type[Struct],
    versions: str,
    *,
    nullable: str = "none",
    default: object = NEW_STRUCT,
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    """A single nested struct; without a `default` of None it is a fresh one."""
    field = Field(Kind.STRUCT, versions, default=default, nullable=nullable, tag=tag, ignorable=ignorable)
    field.struct = of
    return field


def legacy_string(versions: str, *, nullable: str = "none", default: object = "", ignorable: bool = False) -> Any:
    """A string that keeps its two-byte length in flexible versions too: the client id of request headers."""
    field = Field(Kind.STRING, versions, default=default, nullable=nullable, ignorable=ignorable)
    field.never_compact = True
    return field


def secret(versions: str, *, nullable: str = "none", default: object = b"", ignorable: bool = False) -> Any:
    """Secret bytes: encoded like others, and never shown."""
    field = Field(Kind.BYTES, versions, default=default, nullable=nullable, ignorable=ignorable)
    field.secret = True
    return field
