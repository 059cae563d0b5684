"""MaskField: fields become 0, false, empty or a replacement, by their type.

A decimal is masked with the scale of its schema; Kafka's mask has scale 0 and cannot be written then.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import NON_EMPTY, Distinct
from ottla.connect.data.column import PlainColumn, StructColumn, checked_all
from ottla.connect.data.conversion import big_decimal, to_number
from ottla.connect.data.logical import Instant, decimal_scale
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct, inferred_type, java_class
from ottla.connect.errors import DataError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.setting import REPLACE_NULL, optional_text, text_list
from ottla.connect.transform.transform import (
    Side,
    SidedTransform,
    field_value,
    map_rows,
    require_map,
    require_struct,
    require_struct_column,
)  # fmt: skip

R = TypeVar("R", bound=ConnectRecord)
_PURPOSE: Final = "mask fields"


class MaskField(SidedTransform):
    """`fields=a,b`, `replacement=***`."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("fields", ConfigType.LIST, REQUIRED, "The fields that are masked.", importance=Importance.HIGH,
                  validator=Distinct(empty_allowed=False)),
        ConfigKey("replacement", ConfigType.STRING, None, "What numbers and texts become instead of 0 and nothing.",
                  importance=Importance.LOW, validator=NON_EMPTY),
        REPLACE_NULL,
    )  # fmt: skip

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._fields: list[str] = []
        self._replacement: str | None = None
        self._replace_null = True

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the fields and the replacement."""
        settings = self.config_def.parse(given)
        self._fields = text_list(settings["fields"])
        self._replacement = optional_text(settings["replacement"])
        self._replace_null = settings["replace.null.with.default"] is True

    def apply(self, record: R) -> R:
        """The masked record. A field that is missing is ignored with a schema and null without."""
        schema, value = self.schema_of(record), self.value_of(record)
        if schema is None:
            fields = require_map(value, _PURPOSE)
            masked = {name: self._masked(fields.get(name), None) for name in self._fields}
            return self.updated(record, None, {**fields, **masked})
        source = require_struct(value, _PURPOSE, schema)
        made, replaces = Struct(source.schema), self._replace_null
        for field in source.schema.fields:
            if field.name in self._fields:
                item = field_value(source, field.name, replace_null=replaces)
                made.put(field.name, self._masked(item, field.schema))
            else:
                made.values[field.index] = source.kept(field, field, replace_null=replaces)
        return self.updated(record, schema, made)

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column, masked = self.column_of(columns), self._masked
        if column.schema is None:
            rows = map_rows(column)
            made = [{**row, **{name: masked(row.get(name), None) for name in self._fields}} for row in rows]
            return self.updated_columns(columns, PlainColumn(None, made))
        source = require_struct_column(column)
        filled = source.filled(replace_null=self._replace_null)
        for field in source.schema.fields:
            if field.name in self._fields:
                values = [masked(value, field.schema) for value in filled[field.index]]
                filled[field.index] = checked_all(field.schema, values)
        return self.updated_columns(columns, StructColumn(source.schema, filled, len(source)))

    def _masked(self, value: object, schema: Schema | None) -> object:
        if value is None:
            return None
        if self._replacement is not None:
            return _replaced(value, self._replacement, schema)
        if isinstance(value, bool):
            return False
        if isinstance(value, Decimal):
            return Decimal((0, (0,), -decimal_scale(value)))
        if isinstance(value, (int, float, str)):
            return type(value)()
        if isinstance(value, Instant):
            return Instant(0)
        if isinstance(value, (list, dict)):
            return type(value)()
        raise DataError(f"Cannot mask value of type: class {java_class(value)}")


def _replaced(value: object, replacement: str, schema: Schema | None) -> object:
    if isinstance(value, str):
        return replacement
    if isinstance(value, Decimal):
        number = big_decimal(replacement)
        if number is None:
            raise DataError(f"Unable to convert {replacement} (class java.lang.String) to number")
        return number
    kind = schema.type if schema is not None else inferred_type(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or kind is None:
        raise DataError(f"Cannot mask value of type class {java_class(value)} with custom replacement.")
    return to_number(kind, replacement)
