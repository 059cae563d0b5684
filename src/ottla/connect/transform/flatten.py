"""Flatten: nested fields become fields of the top, their names joined by a delimiter.

Lists stay whole. A struct that is null makes the fields below it null, so what is below an optional one is optional.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final, TypeVar

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.data.builder import basics, struct, with_default
from ottla.connect.data.column import PlainColumn, StructColumn, present
from ottla.connect.data.schema import Field, Schema
from ottla.connect.data.struct import Struct, inferred_type, java_class
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
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
_PURPOSE: Final = "flattening"


class Flatten(SidedTransform):
    """`delimiter=.`"""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("delimiter", ConfigType.STRING, ".", "What stands between the names of nested fields.")
    )

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._delimiter = "."
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the delimiter."""
        self._delimiter = str(self.config_def.parse(given)["delimiter"])

    def apply(self, record: R) -> R:
        """The flat record; null stays."""
        value, schema = self.value_of(record), self.schema_of(record)
        if value is None:
            return record
        if schema is None:
            return self.updated(record, None, dict(self._flat_map(require_map(value, _PURPOSE), "")))
        nested = require_struct(value, _PURPOSE, schema)
        target = self._schemas.get(schema) or self._schemas.keep(schema, self._schema(schema))
        made = Struct(target)
        for name, item in self._flat_struct(nested, ""):
            made.put(name, item)
        return self.updated(record, target, made)

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column = self.column_of(columns)
        if column.schema is None:
            made = [dict(self._flat_map(row, "")) for row in map_rows(column)]
            return self.updated_columns(columns, PlainColumn(None, made))
        source = require_struct_column(column)
        target = self._schemas.get(source.schema) or self._schemas.keep(source.schema, self._schema(source.schema))
        # As for a row, a struct that is null stays null whatever its default is.
        filled = source.filled(replace_null=True)
        for field in source.schema.fields:
            if field.schema.type is Type.STRUCT:
                filled[field.index] = source.columns[field.index]
        flat = list(_flat_columns(source.schema, filled))
        kept = [present(field.schema, values) for field, values in zip(target.fields, flat, strict=True)]
        return self.updated_columns(columns, StructColumn(target, kept, len(source)))

    def _flat_map(self, value: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
        for key, item in value.items():
            name = self._name(prefix, key)
            kind = inferred_type(item)
            if item is not None and kind is None:
                raise DataError(
                    f"Flatten transformation was passed a value of type class {java_class(item)} "
                    "which is not supported by Connect's data API"
                )
            if kind is Type.STRUCT:
                raise DataError(
                    f"Flatten transformation does not support class {java_class(item)} "
                    f"for record without schemas (for field {name})."
                )
            if isinstance(item, dict):
                yield from self._flat_map(item, name)
            else:
                yield name, item

    def _flat_struct(self, value: Struct, prefix: str) -> Iterator[tuple[str, object]]:
        for field in value.schema.fields:
            name = self._name(prefix, field.name)
            if field.schema.type is Type.STRUCT:
                nested = value.get_without_default(field.name)
                if isinstance(nested, Struct):
                    yield from self._flat_struct(nested, name)
            else:
                yield name, value.get(field.name)

    def _schema(self, source: Schema) -> Schema:
        default = source.default if isinstance(source.default, Struct) else None
        return struct(self._fields(source, "", optional=source.optional, default=default), like=source)

    def _fields(
        self, source: Schema, prefix: str, *, optional: bool, default: Struct | None
    ) -> Iterator[tuple[str, Schema]]:
        for field in source.fields:
            schema = field.schema
            name = self._name(prefix, field.name)
            field_optional = optional or schema.optional
            own = schema.default
            if own is None and default is not None:
                own = default.get(field.name)
            if schema.type is Type.STRUCT:
                nested = own if isinstance(own, Struct) else None
                yield from self._fields(schema, name, optional=field_optional, default=nested)
            elif schema.type is Type.MAP:
                raise DataError(
                    f"Flatten transformation does not support {schema.type} for record with schemas (for field {name})."
                )
            else:
                plain = basics(schema, Schema(schema.type, optional=field_optional, value_schema=schema.value_schema))
                yield name, plain if own is None else with_default(plain, own)

    def _name(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name


def _flat_columns(schema: Schema, columns: Sequence[Sequence[object]]) -> Iterator[Sequence[object]]:
    for field, values in zip(schema.fields, columns, strict=True):
        if field.schema.type is not Type.STRUCT:
            yield values
            continue
        for inner in field.schema.fields:
            below = [_below(value, inner) for value in values]
            yield from _flat_columns(Schema(Type.STRUCT, fields=(inner,)), [below])


def _below(value: object, field: Field) -> object:
    """A field's value, or its default; None below a struct that is null."""
    if not isinstance(value, Struct):
        return None
    found = value.values[field.index]
    return field.schema.default if found is None and field.schema.type is not Type.STRUCT else found
