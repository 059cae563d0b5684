"""Connect's schemas as immutable values.

A schema says what type a value has, whether it may be null, and for logical types, by `name`, what the value means.
`ottla.connect.data.builder` makes them with their defaults checked; this module trusts its caller.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError


@frozen
class Field:
    """One field of a struct."""

    name: str
    index: int
    schema: "Schema"


class Schema:
    """The description of a value; equal to every other that says the same.

    >>> Schema(Type.INT32, optional=True)
    Schema{INT32}
    >>> Schema(Type.INT32) == Schema(Type.INT32), hash(Schema(Type.INT32)) == hash(Schema(Type.INT32))
    (True, True)
    """

    __slots__ = (
        "_by_name", "_hash", "default", "doc", "fields", "key_schema", "name", "optional", "parameters", "type",
        "value_schema", "version",
    )  # fmt: skip

    def __init__(
        self,
        type: Type,  # noqa: A002 - the word that Connect has for it
        *,
        optional: bool = False,
        default: object = None,
        name: str | None = None,
        version: int | None = None,
        doc: str | None = None,
        parameters: Mapping[str, str] | None = None,
        fields: tuple[Field, ...] = (),
        key_schema: "Schema | None" = None,
        value_schema: "Schema | None" = None,
    ) -> None:
        self.type: Final = type
        self.optional: Final = optional
        self.default: Final = default
        self.name: Final = name
        self.version: Final = version
        self.doc: Final = doc
        self.parameters: Final = dict(parameters) if parameters is not None else None
        self.fields: Final = fields
        self.key_schema: Final = key_schema
        self.value_schema: Final = value_schema
        self._by_name: Final = {field.name: field for field in fields}
        self._hash: int | None = None

    def field(self, name: str) -> Field | None:
        """The field of a struct by its name, None if there is none."""
        if self.type is not Type.STRUCT:
            raise DataError("Cannot look up fields on non-struct type")
        return self._by_name.get(name)

    def replace(self, **changes: object) -> "Schema":
        """A copy with some attributes changed."""
        kept = {name: getattr(self, name) for name in _ATTRIBUTES}
        return Schema(**{**kept, **changes})

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Schema) or hash(self) != hash(other):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in _ATTRIBUTES)

    def __hash__(self) -> int:
        if self._hash is None:
            # Defaults and parameters may hold what has no hash: equality looks at them.
            parts = (self.type, self.optional, self.name, self.version, self.fields, self.key_schema, self.value_schema)
            self._hash = hash(parts)
        return self._hash

    def __repr__(self) -> str:
        return f"Schema{{{self.name}:{self.type}}}" if self.name is not None else f"Schema{{{self.type}}}"

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, tuple(getattr(self, name) for name in _ATTRIBUTES)


_ATTRIBUTES: Final = (
    "type", "optional", "default", "name", "version", "doc", "parameters", "fields", "key_schema", "value_schema",
)  # fmt: skip


def _restored(*values: object) -> Schema:
    return Schema(**dict(zip(_ATTRIBUTES, values, strict=True)))  # type: ignore[arg-type]


INT8: Final = Schema(Type.INT8)
INT16: Final = Schema(Type.INT16)
INT32: Final = Schema(Type.INT32)
INT64: Final = Schema(Type.INT64)
FLOAT32: Final = Schema(Type.FLOAT32)
FLOAT64: Final = Schema(Type.FLOAT64)
BOOLEAN: Final = Schema(Type.BOOLEAN)
STRING: Final = Schema(Type.STRING)
BYTES: Final = Schema(Type.BYTES)
OPTIONAL_INT32: Final = Schema(Type.INT32, optional=True)
OPTIONAL_INT64: Final = Schema(Type.INT64, optional=True)
OPTIONAL_STRING: Final = Schema(Type.STRING, optional=True)
OPTIONAL_BYTES: Final = Schema(Type.BYTES, optional=True)


@frozen
class SchemaAndValue:
    """A value and what it is; both None is nothing at all."""

    schema: Schema | None
    value: object


NULL: Final = SchemaAndValue(None, None)
