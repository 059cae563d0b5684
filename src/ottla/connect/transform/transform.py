"""The interface of transforms, which are functions of a record with settings. Subclasses are named `module:Class`.

Most of Kafka's come in two forms, for the key and for the value; a `Side` says which one a transform works on.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, TypeVar

from ottla.connect.config.definition import ConfigDef
from ottla.connect.data.column import Column, RowsNeededError, StructColumn
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct, java_class
from ottla.connect.errors import DataError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns

R = TypeVar("R", bound=ConnectRecord)


class Transform:
    """One step of a chain."""

    java_name: str = ""
    """The class that errors name; a transform in Python has `module.Class`."""
    version: ClassVar[str] = "4.3.1"
    config_def: ClassVar[ConfigDef] = ConfigDef()
    takes_maps: ClassVar[bool] = False
    """Whether `apply_columns` works on a `MapColumn` as it is."""
    is_uniform: ClassVar[bool] = False
    """Whether records that differ in key, value, timestamp and place alone are changed alike. Such a transform is
    applied once to a batch of columns. A subclass does not inherit it: it may look at anything."""

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads its settings, without the prefix `transforms.ALIAS.`; raises `InvalidConfigError` for bad ones."""
        self.config_def.parse(given)

    def apply(self, record: R) -> R | None:
        """The changed record; None drops it."""
        raise AssertionError(f"{type(self).__name__} has no apply")

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """Transforms many records at once, as `apply` would. After any error they go through `apply` singly.

        A class offers it by defining it itself: an inherited one may not fit the `apply` of a subclass.
        """
        raise RowsNeededError

    def close(self) -> None:
        """Releases its resources."""


class Side(enum.Enum):
    """The half of a record that a transform changes."""

    KEY = "Key"
    VALUE = "Value"


class SidedTransform(Transform):
    """A transform of the key or the value."""

    def __init__(self, side: Side) -> None:
        self._side: Final = side
        self.java_name = f"org.apache.kafka.connect.transforms.{type(self).__name__}${side.value}"

    def schema_of(self, record: ConnectRecord) -> Schema | None:
        """The schema on its side."""
        return record.key_schema if self._side is Side.KEY else record.value_schema

    def value_of(self, record: ConnectRecord) -> object:
        """The value on its side."""
        return record.key if self._side is Side.KEY else record.value

    def updated(self, record: R, schema: Schema | None, value: object) -> R:
        """The record with another schema and value on its side."""
        if self._side is Side.KEY:
            return record.replace(key_schema=schema, key=value)
        return record.replace(value_schema=schema, value=value)

    def column_of(self, columns: RecordColumns) -> Column:
        """The column on its side."""
        return columns.key if self._side is Side.KEY else columns.value

    def updated_columns(self, columns: RecordColumns, column: Column) -> RecordColumns:
        """The records with another column on its side."""
        return replace(columns, key=column) if self._side is Side.KEY else replace(columns, value=column)


def require_map(value: object, purpose: str) -> dict[str, object]:
    """The value as a map; `DataError` if it is none."""
    if not isinstance(value, dict):
        found = java_class(value)
        raise DataError(f"Only Map objects supported in absence of schema for [{purpose}], found: {found}")
    return value


def require_struct(value: object, purpose: str, schema: Schema | None = None) -> Struct:
    """The value as a struct; `DataError` if it is none. The schema tells the width of a number in the message."""
    if not isinstance(value, Struct):
        raise DataError(f"Only Struct objects supported for [{purpose}], found: {java_class(value, schema)}")
    return value


def map_rows(column: Column) -> Sequence[dict[str, object]]:
    """The values of a column without schema as maps; `RowsNeededError` if one is none."""
    rows = column.rows()
    if column.schema is not None or set(map(type, rows)) != {dict}:
        raise RowsNeededError
    return [row for row in rows if type(row) is dict]


def require_struct_column(column: Column) -> StructColumn:
    """The column as one of structs; `RowsNeededError` if it is none."""
    if not isinstance(column, StructColumn):
        raise RowsNeededError
    return column


def field_value(struct: Struct, name: str, *, replace_null: bool) -> object:
    """A field's value; a null gives way to the default if asked for."""
    return struct.get(name) if replace_null else struct.get_without_default(name)


class SchemaMemory(dict[Schema, Schema]):
    """Schemas that a transform made, by what it made them from; the oldest leave when there are too many."""

    LIMIT = 256

    def keep(self, source: Schema, made: Schema) -> Schema:
        """Remembers and returns it."""
        if len(self) >= self.LIMIT:
            del self[next(iter(self))]
        self[source] = made
        return made
