"""ReplaceField: fields left out, kept and renamed."""

import re
from collections.abc import Mapping
from typing import ClassVar, Final, TypeVar

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.config.validator import Distinct
from ottla.connect.data.builder import struct
from ottla.connect.data.column import MapColumn, PlainColumn, RowsNeededError, StructColumn
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import struct_of
from ottla.connect.errors import InvalidConfigError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.setting import REPLACE_NULL, text_list
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
_PURPOSE: Final = "field replacement"


def _renames(value: object) -> dict[str, str]:
    made: dict[str, str] = {}
    pairs = text_list(value)
    for pair in pairs:
        parts = re.sub(":+$", "", pair).split(":")
        if len(parts) != 2:
            raise InvalidConfigError.of("renames", f"[{', '.join(pairs)}]", f"Invalid rename mapping: {pair}")
        made[parts[0]] = parts[1]
    return made


def _check_renames(name: str, value: object) -> None:
    _renames(value)


class ReplaceField(SidedTransform):
    """`exclude=a`, `include=b,c`, `renames=b:x`: exclusion wins, and both use the old names."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("exclude", ConfigType.LIST, (), "Fields that are left out.", validator=Distinct(empty_allowed=True)),
        ConfigKey("include", ConfigType.LIST, (), "If given, only these fields stay.",
                  validator=Distinct(empty_allowed=True)),
        ConfigKey("renames", ConfigType.LIST, (), "`old:new` pairs.", validator=_check_renames),
        REPLACE_NULL,
    )  # fmt: skip

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._exclude: frozenset[str] = frozenset()
        self._include: frozenset[str] = frozenset()
        self._renames: dict[str, str] = {}
        self._replace_null = True
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the lists."""
        settings = self.config_def.parse(given)
        self._exclude = frozenset(text_list(settings["exclude"]))
        self._include = frozenset(text_list(settings["include"]))
        self._renames = _renames(settings["renames"])
        self._replace_null = settings["replace.null.with.default"] is True

    def apply(self, record: R) -> R:
        """The record with the fields that stay, in their order; null stays."""
        value, schema = self.value_of(record), self.schema_of(record)
        if value is None:
            return record
        if schema is None:
            fields = require_map(value, _PURPOSE)
            return self.updated(record, None, {self._name(key): fields[key] for key in fields if self._stays(key)})
        source = require_struct(value, _PURPOSE, schema)
        target = self._schemas.get(source.schema) or self._schemas.keep(source.schema, self._schema(source.schema))
        stays, replaces = self._stays, self._replace_null
        kept = [field for field in source.schema.fields if stays(field.name)]
        values = [source.kept(*pair, replace_null=replaces) for pair in zip(kept, target.fields, strict=True)]
        return self.updated(record, target, struct_of(target, values))

    takes_maps = True

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column = self.column_of(columns)
        if isinstance(column, MapColumn):
            return self.updated_columns(columns, self._maps(column))
        if column.schema is None:
            rows = map_rows(column)
            keys = set().union(*rows)
            names = {key: self._name(key) if self._stays(key) else None for key in keys}
            made = [{new: row[key] for key in row if (new := names[key]) is not None} for row in rows]
            return self.updated_columns(columns, PlainColumn(None, made))
        source = require_struct_column(column)
        target = self._schemas.get(source.schema) or self._schemas.keep(source.schema, self._schema(source.schema))
        filled = zip(source.schema.fields, source.filled(replace_null=self._replace_null), strict=True)
        kept = [values for field, values in filled if self._stays(field.name)]
        return self.updated_columns(columns, StructColumn(target, kept, len(source)))

    def _maps(self, column: MapColumn) -> MapColumn:
        places = [place for place, name in enumerate(column.names) if self._stays(name)]
        names = tuple([self._name(column.names[place]) for place in places])
        if not names or len(set(names)) < len(names):
            raise RowsNeededError
        return MapColumn(names, [column.columns[place] for place in places], len(column))

    def _schema(self, source: Schema) -> Schema:
        kept = [(self._name(field.name), field.schema) for field in source.fields if self._stays(field.name)]
        return struct(kept, like=source)

    def _stays(self, name: str) -> bool:
        return name not in self._exclude and (not self._include or name in self._include)

    def _name(self, name: str) -> str:
        return self._renames.get(name, name)
