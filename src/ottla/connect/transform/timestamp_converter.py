"""TimestampConverter: moments between texts, Unix time and Connect's logical types."""

from collections.abc import Mapping
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import AnyOf
from ottla.connect.data.builder import struct, with_default
from ottla.connect.data.column import PlainColumn, StructColumn, checked_all
from ottla.connect.data.date_format import DateFormat
from ottla.connect.data.logical import (
    DATE,
    DATE_SCHEMA,
    MS_PER_DAY,
    TIME,
    TIME_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    Instant,
    instant_of,
)  # fmt: skip
from ottla.connect.data.schema import INT64, STRING, Schema
from ottla.connect.data.struct import Struct, java_class
from ottla.connect.data.type import Int8, Int16, Int32, Type
from ottla.connect.errors import ConnectError, DataError, InvalidConfigError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.setting import REPLACE_NULL
from ottla.connect.transform.transform import (
    SchemaMemory,
    Side,
    SidedTransform,
    field_value,
    map_rows,
    require_map,
    require_struct,
    require_struct_column,
)  # fmt: skip

R = TypeVar("R", bound=ConnectRecord)
_PURPOSE: Final = "converting timestamp formats"
_SCHEMAS: Final = {
    "string": STRING, "unix": INT64, "Date": DATE_SCHEMA, "Time": TIME_SCHEMA, "Timestamp": TIMESTAMP_SCHEMA,
}  # fmt: skip
_LOGICAL: Final = {TIMESTAMP: "Timestamp", DATE: "Date", TIME: "Time"}
_PER_MS: Final = {"microseconds": 1_000, "nanoseconds": 1_000_000}


class TimestampConverter(SidedTransform):
    """`target.type=Timestamp`, `field=at`, `format=yyyy-MM-dd`, `unix.precision=seconds`."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("field", ConfigType.STRING, "", "The field with the moment; empty: the whole key or value.",
                  importance=Importance.HIGH),
        ConfigKey("target.type", ConfigType.STRING, REQUIRED, "string, unix, Date, Time or Timestamp.",
                  importance=Importance.HIGH, validator=AnyOf(*_SCHEMAS)),
        ConfigKey("format", ConfigType.STRING, "", "How texts look that are read or written, as by Java's "
                  "SimpleDateFormat."),
        ConfigKey("unix.precision", ConfigType.STRING, "milliseconds", "What Unix time counts.",
                  importance=Importance.LOW,
                  validator=AnyOf("nanoseconds", "microseconds", "milliseconds", "seconds")),
        REPLACE_NULL,
    )  # fmt: skip

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._field = ""
        self._target = "Timestamp"
        self._format: DateFormat | None = None
        self._precision = "milliseconds"
        self._replace_null = True
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the target and the format."""
        settings = self.config_def.parse(given)
        self._field, self._target = str(settings["field"]), str(settings["target.type"])
        self._precision = str(settings["unix.precision"])
        self._replace_null = settings["replace.null.with.default"] is True
        pattern = str(settings["format"])
        if self._target == "string" and not pattern.strip():
            raise InvalidConfigError(
                "TimestampConverter requires format option to be specified when using string timestamps"
            )
        try:
            self._format = DateFormat(pattern) if pattern.strip() else None
        except ValueError as error:
            raise InvalidConfigError(
                f"Invalid value java.lang.IllegalArgumentException: {error} for configuration TimestampConverter "
                f"requires a SimpleDateFormat-compatible pattern for string timestamps: {pattern}"
            ) from error

    def apply(self, record: R) -> R:
        """The record with the moment converted; null stays null."""
        schema, value = self.schema_of(record), self.value_of(record)
        if schema is None:
            if value is None or not self._field:
                return self.updated(record, None, self._converted(value, None))
            fields = require_map(value, _PURPOSE)
            return self.updated(record, None, {**fields, self._field: self._converted(fields.get(self._field), None)})
        if not self._field:
            target = _SCHEMAS[self._target].replace(optional=schema.optional)
            return self.updated(record, target, self._converted(value, _kind(schema)))
        source = None if value is None else require_struct(value, _PURPOSE, schema)
        target = self._schemas.get(schema) or self._schemas.keep(schema, self._schema(schema))
        return self.updated(record, target, None if source is None else self._struct(source, target))

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column, name, converted = self.column_of(columns), self._field, self._converted
        schema = column.schema
        if schema is None and not name:
            return self.updated_columns(columns, PlainColumn(None, [converted(value, None) for value in column.rows()]))
        if schema is None:
            made = [{**row, name: converted(row.get(name), None)} for row in map_rows(column)]
            return self.updated_columns(columns, PlainColumn(None, made))
        if not name:
            target = _SCHEMAS[self._target].replace(optional=schema.optional)
            values = [converted(value, _kind(schema)) for value in column.rows()]
            return self.updated_columns(columns, PlainColumn(target, values))
        source = require_struct_column(column)
        target = self._schemas.get(schema) or self._schemas.keep(schema, self._schema(schema))
        filled = source.filled(replace_null=self._replace_null)
        field, made_field = schema.field(name), target.field(name)
        if field is not None and made_field is not None:
            kind = _kind(field.schema)
            values = [converted(value, kind) for value in filled[field.index]]
            filled[field.index] = checked_all(made_field.schema, values)
        return self.updated_columns(columns, StructColumn(target, filled, len(source)))

    def _schema(self, source: Schema) -> Schema:
        if source.type is not Type.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        target = _SCHEMAS[self._target]
        fields = [
            (field.name, target.replace(optional=field.schema.optional) if field.name == self._field else field.schema)
            for field in source.fields
        ]
        made = struct(fields, like=source, optional=source.optional)
        default = source.default
        return made if not isinstance(default, Struct) else with_default(made, self._struct(default, made))

    def _struct(self, source: Struct, target: Schema) -> Struct:
        made = Struct(target)
        replaces = self._replace_null
        for field, to in zip(source.schema.fields, target.fields, strict=True):
            if field.name == self._field:
                item = field_value(source, field.name, replace_null=replaces)
                made.put(field.name, self._converted(item, _kind(field.schema)))
            else:
                made.values[to.index] = source.kept(field, to, replace_null=replaces)
        return made

    def _converted(self, value: object, kind: str | None) -> object:
        if value is None:
            return None
        return self._printed(self._moment(value, kind or _inferred(value)))

    def _moment(self, value: object, kind: str) -> int:
        if kind == "string":
            if not isinstance(value, str):
                raise DataError(f"Expected string timestamp to be a String, but found class {java_class(value)}")
            if self._format is None:
                raise DataError(f"Could not parse timestamp: value ({value}) has no format to be read by")
            moment = self._format.parse(value)
            if moment is None:
                pattern = self._format.pattern
                raise DataError(f"Could not parse timestamp: value ({value}) does not match pattern ({pattern})")
            return moment
        if kind == "unix":
            if not isinstance(value, int) or isinstance(value, bool):
                raise DataError(f"Expected Unix timestamp to be a Long, but found class {java_class(value)}")
            return self._from_unix(value)
        instant = instant_of(value)
        if instant is None:
            raise DataError(f"Expected {kind} to be a java.util.Date, but found class {java_class(value)}")
        return instant.ms

    def _from_unix(self, value: int) -> int:
        if self._precision == "seconds":
            return value * 1000
        per_ms = _PER_MS.get(self._precision, 1)
        # Toward zero, as Java divides.
        return value // per_ms if value >= 0 else -(-value // per_ms)

    def _printed(self, ms: int) -> object:
        if self._target == "string":
            return self._format.format(ms) if self._format is not None else ""
        if self._target == "unix":
            if self._precision == "seconds":
                return ms // 1000 if ms >= 0 else -(-ms // 1000)
            return ms * _PER_MS.get(self._precision, 1)
        if self._target == "Date":
            return Instant(ms - ms % MS_PER_DAY)
        return Instant(ms % MS_PER_DAY if self._target == "Time" else ms)


def _kind(schema: Schema) -> str:
    if schema.name in _LOGICAL:
        return _LOGICAL[str(schema.name)]
    if schema.type is Type.STRING:
        return "string"
    if schema.type is Type.INT64:
        return "unix"
    raise ConnectError(f"Schema {schema} does not correspond to a known timestamp type format")


def _inferred(value: object) -> str:
    if instant_of(value) is not None:
        return "Timestamp"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int) and not isinstance(value, (bool, Int8, Int16, Int32)):
        return "unix"
    raise DataError(f"TimestampConverter does not support class {java_class(value)} objects as timestamps")
