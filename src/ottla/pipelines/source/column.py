"""The columns of a topic, as Spark's Kafka connector has them, and the choice of some of them.

The whole schema is the default; a user who gives a schema of his own gets those columns alone, and nothing else is
decoded or shipped.
"""

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ottla.pipelines.option.errors import OptionError

HEADERS_TYPE: Final = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))

_TYPES: Final[dict[str, DataType]] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": HEADERS_TYPE,
}


def topic_schema(*, has_headers: bool) -> StructType:
    """The schema that a read has unless its user gives one."""
    names = [name for name in _TYPES if has_headers or name != "headers"]
    return StructType([StructField(name, _TYPES[name]) for name in names])


def chosen_columns(schema: StructType) -> tuple[str, ...]:
    """The columns of a schema that the user gave, or that we did. Raises `OptionError` for what topics don't have."""
    if not schema.fields:
        raise OptionError("schema", f"has no columns: there are {', '.join(_TYPES)}")
    for field in schema.fields:
        kind = _TYPES.get(field.name)
        if kind is None:
            raise OptionError("schema", f"a topic has no column {field.name!r}: there are {', '.join(_TYPES)}")
        if kind.simpleString() != field.dataType.simpleString():
            raise OptionError(
                "schema", f"column {field.name!r} is {kind.simpleString()}, not {field.dataType.simpleString()}"
            )
    return tuple(schema.fieldNames())
