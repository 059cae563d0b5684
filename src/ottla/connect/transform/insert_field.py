"""InsertField: the topic, partition, offset, timestamp or a fixed text as a field.

A name ends in `!` where the field is to be required and in `?` where it is optional, which it is without either.
"""

from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import is_
from typing import ClassVar, Final, TypeVar

from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.data.builder import struct
from ottla.connect.data.column import MapColumn, PlainColumn, RowsNeededError, StructColumn, present
from ottla.connect.data.logical import TIMESTAMP_SCHEMA, Instant
from ottla.connect.data.schema import INT32, INT64, STRING, Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Int32
from ottla.connect.errors import DataError, InvalidConfigError
from ottla.connect.record import CLASS_NAMES, ConnectRecord, SinkRecord, SourceRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.setting import REPLACE_NULL, optional_text
from ottla.connect.transform.transform import (
    SchemaMemory,
    Side,
    SidedTransform,
    map_rows,
    require_map,
    require_struct,
    require_struct_column,
)  # fmt: skip

R = TypeVar("R", bound=ConnectRecord)
_PURPOSE: Final = "field insertion"
_FIELDS: Final = {
    "topic.field": STRING, "partition.field": INT32, "offset.field": INT64, "timestamp.field": TIMESTAMP_SCHEMA,
    "static.field": STRING,
}  # fmt: skip
_DOCS: Final = {
    "topic.field": "Field for the topic.", "partition.field": "Field for the partition.",
    "offset.field": "Field for the offset; sinks only.", "timestamp.field": "Field for the record's timestamp.",
    "static.field": "Field for a fixed text.", "static.value": "The fixed text.",
}  # fmt: skip


@frozen
class _Insertion:
    source: str
    name: str
    schema: Schema

    @classmethod
    def of(cls, source: str, spec: str) -> "_Insertion":
        optional = not spec.endswith("!")
        name = spec[:-1] if spec.endswith(("!", "?")) else spec
        return cls(source, name, _FIELDS[source].replace(optional=optional))


class InsertField(SidedTransform):
    """`timestamp.field=at`, `static.field=origin!`, `static.value=here` …"""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        *(ConfigKey(name, ConfigType.STRING, None, doc) for name, doc in _DOCS.items()), REPLACE_NULL
    )

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._insertions: list[_Insertion] = []
        self._static: str | None = None
        self._replace_null = True
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads what to insert."""
        settings = self.config_def.parse(given)
        specs = [(source, optional_text(settings[source])) for source in _FIELDS]
        self._insertions = [_Insertion.of(source, spec) for source, spec in specs if spec is not None]
        self._static = optional_text(settings["static.value"])
        self._replace_null = settings["replace.null.with.default"] is True
        if not self._insertions:
            raise InvalidConfigError("No field insertion configured")
        static = next((each for each in self._insertions if each.source == "static.field"), None)
        if static is not None and self._static is None:
            raise InvalidConfigError.of("static.value", "null", f"No value specified for static field: {static.name}")

    def apply(self, record: R) -> R:
        """The record with the fields; null stays."""
        value, schema = self.value_of(record), self.schema_of(record)
        if value is None:
            return record
        if schema is None:
            made = dict(require_map(value, _PURPOSE))
            for insertion in self._insertions:
                item = self._item(record, insertion.source)
                if item is not None:
                    made[insertion.name] = item.ms if isinstance(item, Instant) else item
            return self.updated(record, None, made)
        source = require_struct(value, _PURPOSE, schema)
        target = self._schemas.get(source.schema) or self._schemas.keep(source.schema, self._schema(source.schema))
        filled, replaces = Struct(target), self._replace_null
        for field in source.schema.fields:
            filled.values[field.index] = source.kept(field, target.fields[field.index], replace_null=replaces)
        for insertion in self._insertions:
            item = self._item(record, insertion.source)
            if item is not None:
                filled.put(insertion.name, item)
        return self.updated(record, target, filled)

    takes_maps = True

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column = self.column_of(columns)
        if isinstance(column, MapColumn):
            return self.updated_columns(columns, self._maps(column, columns))
        if column.schema is None:
            made = [dict(row) for row in map_rows(column)]
            for insertion in self._insertions:
                _insert(made, insertion.name, self._items(columns, insertion.source))
            return self.updated_columns(columns, PlainColumn(None, made))
        source = require_struct_column(column)
        target = self._schemas.get(source.schema) or self._schemas.keep(source.schema, self._schema(source.schema))
        filled = source.filled(replace_null=self._replace_null)
        for each in self._insertions:
            filled.append(present(each.schema, self._items(columns, each.source)))
        return self.updated_columns(columns, StructColumn(target, filled, len(source)))

    def _maps(self, column: MapColumn, columns: RecordColumns) -> MapColumn:
        fields = dict(zip(column.names, column.columns, strict=True))
        for insertion in self._insertions:
            items = self._items(columns, insertion.source)
            if any(map(is_, items, repeat(None))):
                raise RowsNeededError
            fields[insertion.name] = [item.ms if isinstance(item, Instant) else item for item in items]
        return MapColumn(tuple(fields), list(fields.values()), len(column))

    def _items(self, columns: RecordColumns, source: str) -> Sequence[object]:
        if source == "timestamp.field":
            return [None if each is None else Instant(each) for each in columns.timestamps]
        if source == "offset.field":
            if columns.offsets is None:
                raise RowsNeededError
            return columns.offsets
        return [self._item(columns.one(), source)] * len(columns)

    def _schema(self, source: Schema) -> Schema:
        inserted = [(insertion.name, insertion.schema) for insertion in self._insertions]
        return struct([*((field.name, field.schema) for field in source.fields), *inserted], like=source)

    def _item(self, record: ConnectRecord, source: str) -> object:
        if source == "topic.field":
            return record.topic
        if source == "partition.field":
            return None if record.partition is None else Int32(record.partition)
        if source == "timestamp.field":
            return None if record.timestamp is None else Instant(record.timestamp)
        if source == "static.field":
            return self._static
        if not isinstance(record, SinkRecord):
            found = CLASS_NAMES[SourceRecord]
            raise DataError(f"Only SinkRecord supported for [{_PURPOSE}], found: {found}")
        return record.offset


def _insert(rows: Sequence[dict[str, object]], name: str, items: Sequence[object]) -> None:
    for row, item in zip(rows, items, strict=True):
        if item is not None:
            row[name] = item.ms if isinstance(item, Instant) else item
