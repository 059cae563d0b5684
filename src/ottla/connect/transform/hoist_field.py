"""HoistField: the key or value becomes the only field of a struct or map."""

from collections.abc import Mapping
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.data.builder import struct
from ottla.connect.data.column import PlainColumn, StructColumn, checked_all
from ottla.connect.data.struct import Struct
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.transform import SchemaMemory, Side, SidedTransform

R = TypeVar("R", bound=ConnectRecord)


class HoistField(SidedTransform):
    """`field=id`; null becomes a field with null."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("field", ConfigType.STRING, REQUIRED, "The name of the only field of the result.")
    )

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._name = ""
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the name."""
        self._name = str(self.config_def.parse(given)["field"])

    def apply(self, record: R) -> R:
        """The record with its key or value one level down."""
        schema, value = self.schema_of(record), self.value_of(record)
        if schema is None:
            return self.updated(record, None, {self._name: value})
        target = self._schemas.get(schema) or self._schemas.keep(schema, struct([(self._name, schema)]))
        return self.updated(record, target, Struct(target).put(self._name, value))

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column = self.column_of(columns)
        schema, rows, name = column.schema, column.rows(), self._name
        if schema is None:
            return self.updated_columns(columns, PlainColumn(None, [{name: value} for value in rows]))
        target = self._schemas.get(schema) or self._schemas.keep(schema, struct([(name, schema)]))
        return self.updated_columns(columns, StructColumn(target, [checked_all(schema, rows)], len(rows)))
