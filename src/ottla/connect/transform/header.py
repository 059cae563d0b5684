"""The transforms of headers: DropHeaders, InsertHeader, and HeaderFrom, which copies or moves fields there."""

from collections.abc import Mapping
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import NON_EMPTY_LIST, NON_NULL, AnyOf, Distinct
from ottla.connect.data.builder import struct
from ottla.connect.data.literal import parse_literal
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.errors import DataError, InvalidConfigError
from ottla.connect.record import ConnectRecord, Header
from ottla.connect.transform.setting import REPLACE_NULL, text_list
from ottla.connect.transform.transform import (
    SchemaMemory,
    Side,
    SidedTransform,
    Transform,
    field_value,
    require_map,
    require_struct,
)  # fmt: skip

R = TypeVar("R", bound=ConnectRecord)
_HIGH: Final = Importance.HIGH


class DropHeaders(Transform):
    """`headers=a,b`: every header of these names goes."""

    java_name = "org.apache.kafka.connect.transforms.DropHeaders"
    is_uniform = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("headers", ConfigType.LIST, REQUIRED, "The names of the headers that are removed.", importance=_HIGH,
                  validator=Distinct(empty_allowed=False))
    )  # fmt: skip

    def __init__(self) -> None:
        self._names: frozenset[str] = frozenset()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the names."""
        self._names = frozenset(text_list(self.config_def.parse(given)["headers"]))

    def apply(self, record: R) -> R:
        """The record without them."""
        return record.replace(headers=tuple(header for header in record.headers if header.key not in self._names))


class InsertHeader(Transform):
    """`header=a`, `value.literal=42`: one more header, its value read as SimpleHeaderConverter reads."""

    java_name = "org.apache.kafka.connect.transforms.InsertHeader"
    is_uniform = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("header", ConfigType.STRING, REQUIRED, "The name of the header.", importance=_HIGH,
                  validator=NON_NULL),
        ConfigKey("value.literal", ConfigType.STRING, REQUIRED, "The value, as text whose type is guessed.",
                  importance=_HIGH, validator=NON_NULL),
    )  # fmt: skip

    def __init__(self) -> None:
        self._header = Header("", None, None)

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the literal."""
        settings = self.config_def.parse(given)
        literal = parse_literal(str(settings["value.literal"]))
        self._header = Header(str(settings["header"]), literal.schema, literal.value)

    def apply(self, record: R) -> R:
        """The record with the header behind those it has."""
        return record.replace(headers=(*record.headers, self._header))


class HeaderFrom(SidedTransform):
    """`fields=a,b`, `headers=x,y`, `operation=move|copy`."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("fields", ConfigType.LIST, REQUIRED, "The fields that become headers.", importance=_HIGH,
                  validator=NON_EMPTY_LIST),
        ConfigKey("headers", ConfigType.LIST, REQUIRED, "The names of the headers, in the order of the fields.",
                  importance=_HIGH, validator=NON_EMPTY_LIST),
        ConfigKey("operation", ConfigType.STRING, REQUIRED, "`move` takes the fields out, `copy` leaves them.",
                  importance=_HIGH, validator=AnyOf("move", "copy")),
        REPLACE_NULL,
    )  # fmt: skip

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._pairs: list[tuple[str, str]] = []
        self._operation = "copy"
        self._replace_null = True
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the pairs of fields and headers."""
        settings = self.config_def.parse(given)
        fields, headers = text_list(settings["fields"]), text_list(settings["headers"])
        if len(fields) != len(headers):
            raise InvalidConfigError("'fields' config must have the same number of elements as 'headers' config.")
        self._pairs = list(zip(fields, headers, strict=True))
        self._operation = str(settings["operation"])
        self._replace_null = settings["replace.null.with.default"] is True

    def apply(self, record: R) -> R:
        """The record with the new headers behind those it has."""
        schema, value = self.schema_of(record), self.value_of(record)
        purpose = f"header {self._operation}"
        if schema is None:
            fields = dict(require_map(value, purpose))
            made = tuple(Header(header, None, fields.get(field)) for field, header in self._pairs)
            if self._operation == "move":
                for field, _ in self._pairs:
                    fields.pop(field, None)
            return self.updated(record, None, fields).replace(headers=(*record.headers, *made))
        struct_value = require_struct(value, purpose, schema)
        made = tuple(self._header(struct_value, field, header) for field, header in self._pairs)
        if self._operation == "move":
            moved = self._moved(struct_value, schema)
            record = self.updated(record, moved.schema, moved)
        return record.replace(headers=(*record.headers, *made))

    def _header(self, value: Struct, name: str, header: str) -> Header:
        field = value.schema.field(name)
        if field is None:
            raise DataError(f"Field does not exist: {name}")
        return Header(header, field.schema, field_value(value, name, replace_null=self._replace_null))

    def _moved(self, value: Struct, schema: Schema) -> Struct:
        gone = {field for field, _ in self._pairs}
        target = self._schemas.get(schema) or self._schemas.keep(
            schema,
            struct([(field.name, field.schema) for field in schema.fields if field.name not in gone], like=schema),
        )
        made = Struct(target)
        for field in target.fields:
            made.put(field.name, field_value(value, field.name, replace_null=self._replace_null))
        return made
