"""The columns that a data frame needs to be written: Spark's Kafka connector's names and types, checked on the driver.

`value` has to be there, `key`, `headers`, `partition` and `topic` may be, and so may `timestamp`, which is Ottla's own:
the time of the record. `offset` and `timestampType`, which reading gives, are left out without a word, so that what was
read can be written as it is. Any other column is refused: a mistyped `key` would otherwise be lost unnoticed.
"""

import difflib
from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from ottla.pipelines.sink.errors import SinkSchemaError

WRITTEN: Final = ("key", "value", "headers", "partition", "topic", "timestamp")
_READ_ONLY: Final = frozenset({"offset", "timestampType"})
_TEXT_OR_BYTES: Final = "string or binary"
_EXPECTED: Final = {
    "key": _TEXT_OR_BYTES,
    "value": _TEXT_OR_BYTES,
    "headers": "array<struct<key: string, value: binary>>",
    "partition": "int",
    "topic": "string",
    "timestamp": "timestamp or bigint (milliseconds)",
}


def check_schema(schema: StructType, topic: str | None) -> None:
    """Raises `SinkSchemaError` for the first column that can't be written, or is missing. `topic` is the option."""
    names = schema.fieldNames()
    for name in names:
        if name in _READ_ONLY:
            continue
        if name not in WRITTEN:
            raise SinkSchemaError(name, _unknown(name))
        if names.count(name) > 1:
            raise SinkSchemaError(name, "there are two columns of this name")
        found = schema[name].dataType
        if not _is_right(name, found):
            raise SinkSchemaError(name, f"has to be {_EXPECTED[name]}, not {found.simpleString()}: cast it")
    if "value" not in names:
        raise SinkSchemaError("value", f"there has to be one; the columns are {', '.join(names) or 'none'}")
    if topic is None and "topic" not in names:
        raise SinkSchemaError("topic", "there has to be one, or the option 'topic' for all rows")


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, WRITTEN, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return (
        f"is none of {', '.join(WRITTEN)}{meant}; put what belongs to the value into it, as with to_json(struct(...))"
    )


def _is_right(name: str, found: DataType) -> bool:
    if name == "topic":
        return isinstance(found, StringType)
    if name == "partition":
        return isinstance(found, IntegerType)
    if name == "timestamp":
        return isinstance(found, (TimestampType, TimestampNTZType, LongType))
    if name == "headers":
        return _is_headers(found)
    return isinstance(found, (StringType, BinaryType))


def _is_headers(found: DataType) -> bool:
    if not isinstance(found, ArrayType) or not isinstance(found.elementType, StructType):
        return False
    fields = [(field.name, type(field.dataType)) for field in found.elementType.fields]
    return fields == [("key", StringType), ("value", BinaryType)]
