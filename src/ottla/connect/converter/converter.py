"""The interface of converters, which turn bytes of a topic into a value with its schema, and back."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import ClassVar, Final

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import AnyOf
from ottla.connect.data.column import Column, StructColumn
from ottla.connect.data.schema import Schema, SchemaAndValue

Values = tuple[Schema | None, Sequence[object]]
"""Some values of one schema."""
ReadValues = Values | StructColumn
"""The same as they were read: structs may be there by their fields alone."""
CONVERTER_TYPE: Final = ConfigKey(
    "converter.type",
    ConfigType.STRING,
    REQUIRED,
    "What the converter is used for.",
    importance=Importance.LOW,
    validator=AnyOf("key", "value", "header"),
)


class Converter:
    """Converts keys, values or headers; raises `DataError` for bad ones. Subclasses are named `module:Class`."""

    java_name: str = ""
    """The class that errors name; a converter in Python has `module.Class`."""
    version: ClassVar[str] = "4.3.1"
    config_def: ClassVar[ConfigDef] = ConfigDef(CONVERTER_TYPE)

    def configure(self, given: Mapping[str, str], *, is_key: bool) -> None:
        """Takes its settings, without the prefix `value.converter.`"""

    def from_connect(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        """The bytes of a value; None is a tombstone."""
        raise AssertionError(f"{type(self).__name__} has no from_connect")

    is_columnar: ClassVar[bool] = False
    """Whether `from_connect_all` and `to_connect_all` may be asked. A subclass does not inherit it: it may convert in
    its own way."""

    def from_connect_all(self, topic: str, column: Column) -> Sequence[bytes | None]:
        """The bytes of many values. Any error has them converted one by one."""
        convert, schema = self.from_connect, column.schema
        return [convert(topic, schema, value) for value in column.rows()]

    def to_connect_all(self, topic: str, data: Sequence[bytes | None]) -> Sequence[ReadValues]:
        """The values of many messages, in order, those behind one another with one schema together."""
        read = self.to_connect
        found = [read(topic, each) for each in data]
        runs = groupby(found, _schema_id)
        return [(run[0].schema, [each.value for each in run]) for run in (list(each) for _, each in runs)]

    def to_connect(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The value of the bytes."""
        raise AssertionError(f"{type(self).__name__} has no to_connect")

    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: object) -> bytes | None:
        """The bytes of a header's value."""
        return self.from_connect(topic, schema, value)

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """The value of a header's bytes."""
        return self.to_connect(topic, data)

    def close(self) -> None:
        """Gives back what it holds."""


def _schema_id(value: SchemaAndValue) -> int:
    return id(value.schema)
