"""SetSchemaMetadata: another name or version for the schema of the key or value."""

from collections.abc import Mapping
from typing import ClassVar, Final, TypeVar

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.data.column import StructColumn
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError, InvalidConfigError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.setting import REPLACE_NULL, optional_text
from ottla.connect.transform.transform import SchemaMemory, Side, SidedTransform, field_value, require_struct_column

R = TypeVar("R", bound=ConnectRecord)


class SetSchemaMetadata(SidedTransform):
    """`schema.name=com.example.Order`, `schema.version=2`."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("schema.name", ConfigType.STRING, None, "The schema's name.", importance=Importance.HIGH),
        ConfigKey("schema.version", ConfigType.INT, None, "The schema's version.", importance=Importance.HIGH),
        REPLACE_NULL,
    )

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._name: str | None = None
        self._version: int | None = None
        self._replace_null = True
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads name and version."""
        settings = self.config_def.parse(given)
        self._name = optional_text(settings["schema.name"])
        version = settings["schema.version"]
        self._version = version if isinstance(version, int) else None
        self._replace_null = settings["replace.null.with.default"] is True
        if self._name is None and self._version is None:
            raise InvalidConfigError("Neither schema name nor version configured")

    def apply(self, record: R) -> R:
        """The record with the schema's new name or version; nothing at all stays."""
        schema, value = self.schema_of(record), self.value_of(record)
        if schema is None:
            if value is None:
                return record
            raise DataError("Schema required for [updating schema metadata]")
        if schema.type is not Type.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        target = self._schemas.get(schema) or self._schemas.keep(schema, self._schema(schema))
        if not isinstance(value, Struct):
            return self.updated(record, target, value)
        made = Struct(target)
        for field in target.fields:
            made.put(field.name, field_value(value, field.name, replace_null=self._replace_null))
        return self.updated(record, target, made)

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        source = require_struct_column(self.column_of(columns))
        target = self._schemas.get(source.schema) or self._schemas.keep(source.schema, self._schema(source.schema))
        filled = source.filled(replace_null=self._replace_null)
        return self.updated_columns(columns, StructColumn(target, filled, len(source)))

    def _schema(self, source: Schema) -> Schema:
        return source.replace(
            name=self._name if self._name is not None else source.name,
            version=self._version if self._version is not None else source.version,
        )
