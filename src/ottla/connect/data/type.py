"""The twelve types of Connect's schemas, and numbers that know their width without a schema.

A Python `int` is an int64 and a `float` a float64. `Int8`, `Int16`, `Int32` and `Float32` are for values without a
schema whose width matters: what `Cast` and `SimpleHeaderConverter` make.
"""

import enum


class Type(enum.Enum):
    """A type; `name` is the word in Kafka's messages, `value` the one in JSON schemas."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float"
    FLOAT64 = "double"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    def __str__(self) -> str:
        return self.name


BITS = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
"""The width of each type of whole numbers."""

_LIMITS = {kind: 1 << bits - 1 for kind, bits in BITS.items()}


def fits(kind: Type, value: int) -> bool:
    """Whether a whole number is in a type's range."""
    limit = _LIMITS[kind]
    return -limit <= value < limit


class Int8(int):
    """A whole number of 8 bits."""


class Int16(int):
    """A whole number of 16 bits."""


class Int32(int):
    """A whole number of 32 bits."""


class Float32(float):
    """A decimal number of 32 bits."""


NARROW: dict[Type, type] = {Type.INT8: Int8, Type.INT16: Int16, Type.INT32: Int32, Type.FLOAT32: Float32}
"""The class that marks a value without schema as one of this type."""
