"""Arrow columns as framed records, by the settings of the serializers."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from ottla.client.errors import SerializationError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.column.reader import parsed, records_of
from ottla.client.serde.column.result import ColumnResult, OnError, error_column
from ottla.client.serde.schema.setting import serializer_settings, written_text
from ottla.client.serde.schema.writer import NamedSchema, SchemaWriter
from ottla.schema.columns.array_plan import UnfitColumnError
from ottla.schema.error import InvalidSchemaError
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType


class ArrowEncoder:
    """Writes Arrow columns as records; a struct's fields are found by name.

    Without a schema, `use_latest_version=True` takes the subject's. `message` is the full name of Protobuf's message,
    the schema's first by default. Settings are those of the serializers; the schema's id stands before each record.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        schema: str | Mapping[str, Any] | Sequence[Any] | None = None,
        config: Mapping[str, object] | None = None,
        /,
        *,
        schema_type: SchemaType = SchemaType.AVRO,
        references: Sequence[Reference] = (),
        message: str | None = None,
        is_key: bool = False,
        **settings: object,
    ) -> None:
        given = serializer_settings(config, settings)
        text = written_text(schema, given)
        self._registry: Final = registry
        self._writer: Final = SchemaWriter(registry, given, is_key=is_key)
        self._schema: Final = SchemaText(text, schema_type, tuple(references))
        self._message: Final = message
        self._name: Final = message or (parsed(registry, self._schema).name if text else None)
        self._records: Final[dict[SchemaText, Any]] = {}

    def encode(self, rows: Any, topic: str) -> ColumnResult:
        """A record for each row of an array, a batch or a table; null for a row that is null."""
        frame = self._writer.frame(topic, self._name, lambda: NamedSchema(self._schema, self._name))
        if frame.header is not None:
            raise SerializationError("columns have no headers: schema.id.serializer=prefix is needed")
        try:
            records = self._records.get(frame.schema)
            if records is None:
                self._records[frame.schema] = records = records_of(parsed(self._registry, frame.schema), self._message)
            if isinstance(rows, pa.ChunkedArray):
                # Chunks of 2 GiB and more can't be combined, their records can.
                results = [self._encode(records, chunk, frame.prefix) for chunk in rows.chunks]
                values = pa.chunked_array([result.values for result in results], pa.binary())
                return ColumnResult(values, pa.chunked_array([result.errors for result in results], pa.string()))
            return self._encode(records, rows, frame.prefix)
        except (UnfitColumnError, InvalidSchemaError) as error:
            raise SerializationError(str(error)) from error

    def _encode(self, records: Any, rows: Any, prefix: bytes) -> ColumnResult:
        values, flaws = records.encode(rows, prefix)
        return ColumnResult(values, error_column(len(values), flaws))


def encode_arrow(
    rows: Any,
    registry: SchemaRegistry,
    schema: str | Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    topic: str,
    on_error: OnError = "fail",
    **settings: Any,
) -> Any:
    """An Arrow array, batch or table as a column of framed records; see `ArrowEncoder`.

    A row that does not fit raises `SerializationError`; with `on_error="null"` it is null, with `"column"` the array
    has structs of `value` and `error`.
    """
    return ArrowEncoder(registry, schema, **settings).encode(rows, topic).settled(on_error)
