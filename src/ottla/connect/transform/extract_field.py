"""ExtractField: one field instead of the whole key or value."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.data.column import PlainColumn, RowsNeededError, StructColumn, column_of
from ottla.connect.data.schema import Field
from ottla.connect.data.struct import Struct
from ottla.connect.errors import IllegalArgumentError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.field_path import FIELD_SYNTAX, FieldPath
from ottla.connect.transform.setting import REPLACE_NULL
from ottla.connect.transform.transform import (
    Side,
    SidedTransform,
    map_rows,
    require_map,
    require_struct,
    require_struct_column,
)  # fmt: skip

R = TypeVar("R", bound=ConnectRecord)
_PURPOSE: Final = "field extraction"


class ExtractField(SidedTransform):
    """`field=id`; a missing field is an error with a schema and null without."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("field", ConfigType.STRING, REQUIRED, "The field that becomes the key or value."),
        REPLACE_NULL,
        FIELD_SYNTAX,
    )

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._path = FieldPath("", "V1")
        self._replace_null = True

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the path."""
        settings = self.config_def.parse(given)
        self._path = FieldPath(str(settings["field"]), str(settings["field.syntax.version"]))
        self._replace_null = settings["replace.null.with.default"] is True

    def apply(self, record: R) -> R:
        """The record with the field's schema and value; null stays null."""
        schema, value = self.schema_of(record), self.value_of(record)
        if schema is None:
            return self.updated(
                record, None, None if value is None else self._path.in_map(require_map(value, _PURPOSE))
            )
        struct = None if value is None else require_struct(value, _PURPOSE, schema)
        field = self._path.field_of(schema)
        if field is None:
            raise IllegalArgumentError(f"Unknown field: {self._path.path}")
        found = None if struct is None else self._path.in_struct(struct, replace_null=self._replace_null)
        return self.updated(record, field.schema, found)

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column = self.column_of(columns)
        if column.schema is None:
            found = [self._path.in_map(row) for row in map_rows(column)]
            return self.updated_columns(columns, PlainColumn(None, found))
        field = self._path.field_of(column.schema)
        if field is None:
            raise RowsNeededError
        return self.updated_columns(
            columns, column_of(field.schema, self._values(require_struct_column(column), field))
        )

    def _values(self, column: StructColumn, field: Field) -> Sequence[object]:
        if len(self._path.steps) == 1:
            return column.filled(replace_null=self._replace_null)[field.index]
        path, replace_null = self._path, self._replace_null
        return [path.in_struct(row, replace_null=replace_null) for row in column.rows() if isinstance(row, Struct)]
