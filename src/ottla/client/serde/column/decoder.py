"""Framed records in a column, each with the id of its own schema, as one column of the reader's schema."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ottla.client.errors import SerializationError
from ottla.client.registry.errors import RegistryError
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.column.reader import columns_of, parsed
from ottla.client.serde.column.result import ColumnResult, OnError, error_column
from ottla.client.serde.schema import rule
from ottla.client.serde.schema.setting import deserializer_settings, schema_text
from ottla.client.serde.schema.subject import SubjectContext, needs_record_name, strategy_of
from ottla.schema.columns.arrow import binary_buffers, chunks
from ottla.schema.columns.decoder import frame_ids
from ottla.schema.error import InvalidSchemaError
from ottla.schema.parsed import ParsedSchema
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType

_FRAME_BYTES: Final = 5
_NOT_FOUND: Final = 404


class Columns(Protocol):
    """Reads the records of any schema that its own can read."""

    @property
    def schema(self) -> ParsedSchema:
        """The reader's schema."""

    @property
    def type(self) -> Any:
        """The Arrow type of the decoded column."""

    def add(self, writer: Any) -> int:
        """The number of the program for a writer's schema."""

    def decode(self, records: Any, programs: Any, skip: int = 0) -> tuple[Any, dict[int, str]]:
        """The array, and why rows could not be read."""


class ArrowDecoder:
    """Reads columns of records as Arrow arrays; what it learned of a schema serves the next column.

    The reader's schema is `schema`, or the subject's latest with `use_latest_version=True`, or else that of the newest
    id in the column. Of Protobuf it reads one message: `message` is its full name, the schema's first by default.
    `is_key` and the settings are those of the deserializers. Safe for threads, one at a time.
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
        given = deserializer_settings(config, settings)
        self._message: Final = message
        text = schema_text(schema)
        self._registry: Final = registry
        self._own: Final = None if text is None else SchemaText(text, schema_type, tuple(references))
        self._uses_latest: Final = given.boolean("use.latest.version")
        self._strategy: Final = strategy_of(given.get("subject.name.strategy"))
        self._is_key: Final = is_key
        self._readers: Final[dict[SchemaText, _Reader]] = {}
        self._parsed: Final[dict[SchemaText, ParsedSchema]] = {}
        self._lock: Final = threading.Lock()

    def reader_type(self, topic: str = "") -> Any:
        """The Arrow type of all columns, where the reader's schema is given or the subject's latest."""
        with self._lock:
            return self._reader(self._reader_schema(topic, [])).columns.type

    def decode(self, column: Any, topic: str = "") -> ColumnResult:
        """The values and errors of a column of bytes. `topic` tells the subject, where one is needed."""
        with self._lock:
            arrays = chunks(column)
            identified = [_ids(array) for array in arrays]
            distinct = sorted({one for _, found in identified for one in found if one >= 0})
            written = {one: self._written(one, topic) for one in distinct}
            known = [found for found in written.values() if isinstance(found, SchemaText)]
            reader = self._reader(self._reader_schema(topic, known))
            results = [
                self._decode(array, ids, written, reader) for array, (ids, _) in zip(arrays, identified, strict=True)
            ]
        if not isinstance(column, pa.ChunkedArray):
            return results[0]
        return ColumnResult(
            pa.chunked_array([result.values for result in results], reader.columns.type),
            pa.chunked_array([result.errors for result in results], pa.string()),
        )

    def _decode(self, array: Any, ids: Any, written: Mapping[int, SchemaText | str], reader: "_Reader") -> ColumnResult:
        errors: dict[int, str] = {-2: "the record has no schema id: no serializer with a registry wrote it"}
        numbers = {-1: -1, -2: -1}
        for schema_id, found in written.items():
            program = found if isinstance(found, str) else reader.program(self._parse_or_reason(found))
            numbers[schema_id] = program if isinstance(program, int) else -1
            if isinstance(program, str):
                errors[schema_id] = f"schema {schema_id}: {program}"
        places = pc.index_in(ids, pa.array(list(numbers), pa.int64()))
        programs = pa.array(list(numbers.values()), pa.int32()).take(places)
        values, flaws = reader.columns.decode(array, programs, _FRAME_BYTES)
        texts = pa.array([errors.get(one) for one in numbers], pa.string()).take(places)
        if flaws:
            texts = pc.coalesce(error_column(len(array), flaws), texts)
        return ColumnResult(values, texts)

    def _reader_schema(self, topic: str, written: Sequence[SchemaText]) -> SchemaText:
        if self._own is not None:
            return self._own
        if self._uses_latest:
            subject = self._strategy(SubjectContext(topic, self._is_key, None))
            latest = self._registry.latest(subject).schema
            rule.refuse_migration_rules(latest)
            return latest
        if not written:
            raise SerializationError("no record has a schema that is known: give the reader's schema")
        return written[-1]

    def _reader(self, schema: SchemaText) -> "_Reader":
        found = self._readers.get(schema)
        if found is None:
            try:
                found = _Reader(columns_of(self._parse(schema), self._message))
            except InvalidSchemaError as error:
                raise SerializationError(f"the schema has no columns: {error.message}") from error
            self._readers[schema] = found
        return found

    def _written(self, schema_id: int, topic: str) -> SchemaText | str:
        """The schema of an id, or why there is none."""
        subject = None
        if topic and not needs_record_name(self._strategy):
            subject = self._strategy(SubjectContext(topic, self._is_key, None))
        try:
            schema = self._registry.schema(schema_id, subject)
        except RegistryError as error:
            if error.status != _NOT_FOUND:
                raise
            return "the registry does not know it"
        rule.refuse_read_rules(schema)
        return schema

    def _parse_or_reason(self, schema: SchemaText) -> ParsedSchema | str:
        try:
            return self._parse(schema)
        except InvalidSchemaError as error:
            return error.message

    def _parse(self, schema: SchemaText) -> ParsedSchema:
        found = self._parsed.get(schema)
        if found is None:
            self._parsed[schema] = found = parsed(self._registry, schema)
        return found


class _Reader:
    """The columns of one reader's schema, and the programs that were added to it."""

    def __init__(self, columns: Columns) -> None:
        self.columns: Final = columns
        self._programs: Final[dict[int, tuple[ParsedSchema, int | str]]] = {}

    def program(self, writer: ParsedSchema | str) -> int | str:
        """The number of a writer's program, or why there can be none."""
        if isinstance(writer, str):
            return writer
        known = self._programs.get(id(writer))
        if known is None:
            try:
                if writer.schema_type is not self.columns.schema.schema_type:
                    raise InvalidSchemaError(f"{writer.schema_type} can't be read as {self.columns.schema.schema_type}")
                known = writer, self.columns.add(writer)
            except InvalidSchemaError as error:
                known = writer, error.message
            self._programs[id(writer)] = known
        return known[1]


def decode_arrow(
    column: Any,
    registry: SchemaRegistry,
    schema: str | Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    topic: str = "",
    on_error: OnError = "fail",
    **settings: Any,
) -> Any:
    """A column of framed records as an Arrow array of the reader's schema; see `ArrowDecoder`.

    A bad record raises `SerializationError`; with `on_error="null"` it is null, with `"column"` the array has structs
    of `value` and `error`.
    """
    return ArrowDecoder(registry, schema, **settings).decode(column, topic).settled(on_error)


def _ids(array: Any) -> tuple[Any, list[int]]:
    """The id of each row, and the distinct ones."""
    data, offsets, validity = binary_buffers(array)
    raw = pa.py_buffer(frame_ids(data, offsets, validity, array.offset, len(array)))
    ids = pa.Array.from_buffers(pa.int64(), len(array), [None, raw])
    return ids, ids.unique().to_pylist()
