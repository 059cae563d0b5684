"""ValueToKey: fields of the value become the key."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import Distinct
from ottla.connect.data.builder import struct
from ottla.connect.data.column import PlainColumn, StructColumn
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.errors import DataError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.setting import REPLACE_NULL, text_list
from ottla.connect.transform.transform import (
    SchemaMemory,
    Transform,
    field_value,
    map_rows,
    require_map,
    require_struct,
    require_struct_column,
)  # fmt: skip

R = TypeVar("R", bound=ConnectRecord)
_PURPOSE: Final = "copying fields from value to key"


class ValueToKey(Transform):
    """`fields=id,region`: a struct or map of them, in this order."""

    java_name = "org.apache.kafka.connect.transforms.ValueToKey"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("fields", ConfigType.LIST, REQUIRED, "The fields of the value that make the key.",
                  importance=Importance.HIGH, validator=Distinct(empty_allowed=False)),
        REPLACE_NULL,
    )  # fmt: skip

    def __init__(self) -> None:
        self._fields: list[str] = []
        self._replace_null = True
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the fields."""
        settings = self.config_def.parse(given)
        self._fields = text_list(settings["fields"])
        self._replace_null = settings["replace.null.with.default"] is True

    def apply(self, record: R) -> R:
        """The record with its new key."""
        if record.value_schema is None:
            fields = require_map(record.value, _PURPOSE)
            return record.replace(key_schema=None, key={name: fields.get(name) for name in self._fields})
        value = require_struct(record.value, _PURPOSE, record.value_schema)
        schema = self._schemas.get(value.schema) or self._schemas.keep(value.schema, self._schema(value.schema))
        key = Struct(schema)
        for name in self._fields:
            key.put(name, field_value(value, name, replace_null=self._replace_null))
        return record.replace(key_schema=schema, key=key)

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column = columns.value
        if column.schema is None:
            keys = [{name: row.get(name) for name in self._fields} for row in map_rows(column)]
            return replace(columns, key=PlainColumn(None, keys))
        value = require_struct_column(column)
        schema = self._schemas.get(value.schema) or self._schemas.keep(value.schema, self._schema(value.schema))
        filled = value.filled(replace_null=self._replace_null)
        found = [value.schema.field(name) for name in self._fields]
        kept = [filled[field.index] for field in found if field is not None]
        return replace(columns, key=StructColumn(schema, kept, len(value)))

    def _schema(self, source: Schema) -> Schema:
        fields = []
        for name in self._fields:
            field = source.field(name)
            if field is None:
                raise DataError(f"Field does not exist: {name}")
            fields.append((name, field.schema))
        return struct(fields)
