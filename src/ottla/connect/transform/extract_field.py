"""ExtractField: one field instead of the whole key or value."""

from collections.abc import Mapping
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.error import IllegalArgumentError
from ottla.connect.record import ConnectRecord
from ottla.connect.transform.field_path import FIELD_SYNTAX, FieldPath
from ottla.connect.transform.setting import REPLACE_NULL
from ottla.connect.transform.transform import Side, SidedTransform, require_map, require_struct

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
