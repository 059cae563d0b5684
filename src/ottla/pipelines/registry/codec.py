"""The driver's decisions about a column, sent to tasks: schema, id, and the handling of bad records.

The reader's schema is chosen once, when a query is built: all tasks and all micro-batches see the same columns,
whatever is registered meanwhile. Tasks keep their decoders from batch to batch.
"""

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.sql.types import DataType, StringType, StructField, StructType

from ottla.base.frozen import frozen
from ottla.client.errors import SerializationError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.column.decoder import ArrowDecoder
from ottla.client.serde.column.reader import columns_of, parsed, records_of
from ottla.client.serde.column.result import ColumnResult, OnError, error_column
from ottla.client.serde.schema import framing, rule
from ottla.pipelines.registry.spark_type import for_spark, spark_type
from ottla.schema.columns.array_plan import UnfitColumnError
from ottla.schema.error import InvalidSchemaError

Settings = tuple[tuple[str, str], ...]


@frozen
class ColumnReading:
    """The options for decoding a column of framed records."""

    settings: Settings = field(repr=False)
    """May hold secrets."""
    schema: SchemaText
    on_error: OnError
    message: str | None = None
    """Of Protobuf: which message, by default the schema's first."""

    @property
    def value_type(self) -> DataType:
        """Spark's type of the values."""
        return spark_type(_columns_type(self.settings, self.schema, self.message))

    @property
    def type(self) -> DataType:
        """Spark's type of what `read` returns."""
        if self.on_error != "column":
            return self.value_type
        return StructType([StructField("value", self.value_type), StructField("error", StringType())])

    def result(self, records: Any) -> ColumnResult:
        """Values and errors."""
        return _decoder(self.settings, self.schema, self.message).decode(records)

    def read(self, records: Any) -> Any:
        """The column for Spark."""
        return for_spark(self.result(records).settled(self.on_error))


@frozen
class ColumnWriting:
    """The options for encoding a column as framed records."""

    settings: Settings = field(repr=False)
    """May hold secrets."""
    schema_id: int
    schema: SchemaText
    on_error: OnError
    message: str | None = None

    def write(self, rows: Any) -> Any:
        """The records, as a column of bytes."""
        records = _records(self.settings, self.schema, self.message)
        try:
            values, flaws = records.encode(rows, framing.id_frame(self.schema_id))
        except UnfitColumnError as error:
            raise SerializationError(str(error)) from error
        return ColumnResult(values, error_column(len(values), flaws)).settled(self.on_error)

    def check(self, kind: Any) -> None:
        """Raises `SerializationError` where no column of that Arrow type can be written."""
        self.write(pa.array([], kind))


def settings_of(registry: str | Mapping[str, object]) -> Settings:
    """The registry's settings, from its address or a mapping, in a form that tasks compare."""
    given = {"url": registry} if isinstance(registry, str) else registry
    return tuple(sorted((name, str(value)) for name, value in given.items()))


def reading(
    registry: str | Mapping[str, object], schema: SchemaText | str, on_error: OnError, message: str | None = None
) -> ColumnReading:
    """By a schema, or by the latest version of the subject of that name."""
    settings = settings_of(registry)
    if isinstance(schema, str):
        schema = _client(settings).latest(schema).schema
        rule.refuse_migration_rules(schema)
    found = ColumnReading(settings, schema, on_error, message)
    _columns_type(settings, schema, message)
    return found


def writing(
    registry: str | Mapping[str, object],
    subject: str,
    schema: SchemaText | None,
    on_error: OnError,
    message: str | None = None,
) -> ColumnWriting:
    """By a schema, which is registered under the subject if it is not there, or by the subject's latest version."""
    settings = settings_of(registry)
    client = _client(settings)
    registered = client.latest(subject) if schema is None else client.register(subject, schema)
    rule.refuse_write_rules(registered.schema)
    found = registered.schema if schema is None else schema
    return ColumnWriting(settings, registered.id, found, on_error, message)


@lru_cache(maxsize=16)
def _client(settings: Settings) -> SchemaRegistry:
    # What is latest is asked anew by each query.
    return SchemaRegistry({"latest.cache.ttl.sec": "0", **dict(settings)})


@lru_cache(maxsize=64)
def _decoder(settings: Settings, schema: SchemaText, message: str | None) -> ArrowDecoder:
    kind, references = schema.schema_type, schema.references
    return ArrowDecoder(_client(settings), schema.text, schema_type=kind, references=references, message=message)


@lru_cache(maxsize=64)
def _records(settings: Settings, schema: SchemaText, message: str | None) -> Any:
    try:
        return records_of(parsed(_client(settings), schema), message)
    except InvalidSchemaError as error:
        raise SerializationError(error.message) from error


@lru_cache(maxsize=64)
def _columns_type(settings: Settings, schema: SchemaText, message: str | None) -> Any:
    try:
        return columns_of(parsed(_client(settings), schema), message).type
    except InvalidSchemaError as error:
        raise SerializationError(error.message) from error
