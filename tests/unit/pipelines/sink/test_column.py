"""Which data frames can be written."""

import pickle

import pytest

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from ottla.pipelines.sink.column import check_schema
from ottla.pipelines.sink.errors import SinkSchemaError
from ottla.pipelines.source.column import topic_schema


def headers_of(value: DataType) -> ArrayType:
    return ArrayType(StructType([StructField("key", StringType()), StructField("value", value)]))


TYPES = {
    "string": StringType(),
    "binary": BinaryType(),
    "int": IntegerType(),
    "bigint": LongType(),
    "headers": headers_of(BinaryType()),
    "text_headers": headers_of(StringType()),
    "timestamp": TimestampType(),
    "local_timestamp": TimestampNTZType(),
    "map": MapType(StringType(), BinaryType()),
}


def schema_of(text: str) -> StructType:
    return StructType([StructField(name, TYPES[kind]) for name, kind in (part.split() for part in text.split(", "))])


@pytest.mark.parametrize(
    "schema",
    [
        "value string, topic string",
        "key string, value binary, topic string, partition int",
        "value binary, topic string, headers headers",
        "value binary, topic string, timestamp timestamp",
        "value binary, topic string, timestamp local_timestamp",
        "value binary, topic string, timestamp bigint",
    ],
)
def test_right_columns_pass(schema: str) -> None:
    check_schema(schema_of(schema), None)


def test_what_was_read_can_be_written_as_it_is() -> None:
    check_schema(topic_schema(has_headers=True), None)


@pytest.mark.parametrize(
    ("schema", "column", "words"),
    [
        ("key string, topic string", "value", "there has to be one; the columns are key, topic"),
        ("value string", "topic", "or the option 'topic'"),
        ("value int, topic string", "value", "has to be string or binary, not int"),
        ("key bigint, value string, topic string", "key", "has to be string or binary, not bigint"),
        ("value string, topic int", "topic", "has to be string, not int"),
        ("value string, topic string, partition bigint", "partition", "has to be int, not bigint"),
        ("value string, topic string, headers map", "headers", "has to be array"),
        ("value string, topic string, headers text_headers", "headers", "has to be array"),
        (
            "value string, topic string, timestamp string",
            "timestamp",
            "has to be timestamp or bigint (milliseconds), not",
        ),
        ("valeu string, topic string", "valeu", "did you mean 'value'"),
        ("value string, topic string, truck int", "truck", "is none of key, value, headers, partition, topic"),
        ("value string, value string, topic string", "value", "two columns"),
    ],
)
def test_wrong_columns_are_refused_by_name(schema: str, column: str, words: str) -> None:
    with pytest.raises(SinkSchemaError) as refused:
        check_schema(schema_of(schema), None)
    assert refused.value.column == column
    assert words in str(refused.value)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_the_option_replaces_the_topic_column() -> None:
    check_schema(schema_of("value string"), "orders")
