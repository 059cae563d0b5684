"""Cast: fields, or the whole key or value, to another primitive type.

Whole numbers keep their low bits, decimals are cut toward zero; only text that is no number is refused. Moments become
the number that stands for them. Bytes can only become text (base64).
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.base.java.number import to_float32, truncated, wrapped
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.data.builder import basics, struct, with_default
from ottla.connect.data.column import PlainColumn, RowsNeededError, StructColumn
from ottla.connect.data.java_text import java_text
from ottla.connect.data.literal import date_text
from ottla.connect.data.logical import MOMENTS, instant_of, to_number
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct, inferred_type, java_class
from ottla.connect.data.type import BITS, NARROW, Type
from ottla.connect.errors import DataError, InvalidConfigError
from ottla.connect.record import ConnectRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.setting import REPLACE_NULL, text_list
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
_PURPOSE: Final = "cast types"
_OUTPUT: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64, Type.BOOLEAN, Type.STRING)
_INPUT: Final = (*_OUTPUT, Type.BYTES)
_TYPE: Final = "org.apache.kafka.connect.data.Schema.Type"
_WHOLE: Final = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII)


def _types(name: str, value: object) -> None:
    specs = text_list(value)
    if not specs:
        raise InvalidConfigError("Must specify at least one field to cast.")
    parse_spec(specs)


def parse_spec(specs: list[str]) -> dict[str | None, Type]:
    """The type of each field; None stands for the value as a whole."""
    casts: dict[str | None, Type] = {}
    for spec in specs:
        parts = re.sub(":+$", "", spec).split(":")
        if len(parts) > 2:
            raise InvalidConfigError.of("renames", f"[{', '.join(specs)}]", f"Invalid rename mapping: {spec}")
        name = parts[-1].strip()
        kind = Type.__members__.get(name.upper())
        if kind is None:
            cause = f"java.lang.IllegalArgumentException: No enum constant {_TYPE}.{name.upper()}"
            raise InvalidConfigError(
                f"Invalid value {cause} for configuration Invalid type found in casting spec: {name}"
            )
        if kind not in _OUTPUT:
            supported = ", ".join(map(str, _OUTPUT))
            raise InvalidConfigError(
                f"Cast transformation does not support casting to {kind}; supported types are [{supported}]"
            )
        casts[parts[0].strip() if len(parts) == 2 else None] = kind
    if None in casts and len(specs) > 1:
        raise InvalidConfigError(
            "Cast transformations that specify a type to cast the entire value to "
            "may only specify a single cast in their spec"
        )
    return casts


class Cast(SidedTransform):
    """`spec=a:int32,b:string`, or `spec=int64` for the whole."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("spec", ConfigType.LIST, REQUIRED, "`field:type` pairs, or one type for the whole: int8, "
                  "int16, int32, int64, float32, float64, boolean, string.", importance=Importance.HIGH,
                  validator=_types),
        REPLACE_NULL,
    )  # fmt: skip

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._casts: dict[str | None, Type] = {}
        self._replace_null = True
        self._schemas: Final = SchemaMemory()

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the spec."""
        settings = self.config_def.parse(given)
        self._casts = parse_spec(text_list(settings["spec"]))
        self._replace_null = settings["replace.null.with.default"] is True

    def apply(self, record: R) -> R:
        """The record with the fields cast; null stays."""
        value, schema, whole = self.value_of(record), self.schema_of(record), self._casts.get(None)
        if value is None:
            return record
        if schema is None:
            if whole is not None:
                return self.updated(record, None, cast(None, value, whole))
            fields = require_map(value, _PURPOSE)
            made = {name: cast(None, fields.get(name), kind) for name, kind in self._casts.items() if name is not None}
            return self.updated(record, None, {**fields, **made})
        target = self._schemas.get(schema) or self._schemas.keep(schema, self._schema(schema))
        if whole is not None:
            return self.updated(record, target, cast(schema, value, whole))
        return self.updated(record, target, self._struct(require_struct(value, _PURPOSE, schema), target))

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`."""
        column, whole = self.column_of(columns), self._casts.get(None)
        schema = column.schema
        if schema is None and whole is not None:
            return self.updated_columns(columns, PlainColumn(None, cast_all(None, _present(column.rows()), whole)))
        if schema is None:
            casts = [(name, kind) for name, kind in self._casts.items() if name is not None]
            rows = map_rows(column)
            made = [{**row, **{name: cast(None, row.get(name), kind) for name, kind in casts}} for row in rows]
            return self.updated_columns(columns, PlainColumn(None, made))
        target = self._schemas.get(schema) or self._schemas.keep(schema, self._schema(schema))
        if whole is not None:
            values = cast_all(schema, _present(column.rows()), whole)
            return self.updated_columns(columns, PlainColumn(target, values))
        source = require_struct_column(column)
        filled = source.filled(replace_null=self._replace_null)
        for field in schema.fields:
            kind = self._casts.get(field.name)
            if kind is not None:
                filled[field.index] = cast_all(field.schema, filled[field.index], kind)
        return self.updated_columns(columns, StructColumn(target, filled, len(source)))

    def _struct(self, value: Struct, target: Schema) -> Struct:
        made = Struct(target)
        casts, replaces = self._casts, self._replace_null
        for field, to in zip(value.schema.fields, target.fields, strict=True):
            kind = casts.get(field.name)
            if kind is None:
                made.values[to.index] = value.kept(field, to, replace_null=replaces)
            else:
                item = field_value(value, field.name, replace_null=replaces)
                made.put(field.name, cast(field.schema, item, kind))
        return made

    def _schema(self, source: Schema) -> Schema:
        whole = self._casts.get(None)
        if whole is not None:
            made = basics(source, Schema(whole))
        else:
            if source.type is not Type.STRUCT:
                raise DataError("Cannot list fields on non-struct type")
            made = struct([(field.name, self._field(field.name, field.schema)) for field in source.fields], like=source)
        made = made.replace(optional=source.optional)
        if source.default is None:
            return made
        return with_default(made, cast(source, source.default, made.type))

    def _field(self, name: str, source: Schema) -> Schema:
        kind = self._casts.get(name)
        if kind is None:
            return source
        made = Schema(kind, optional=source.optional)
        return made if source.default is None else with_default(made, cast(source, source.default, kind))


def cast(schema: Schema | None, value: object, target: Type) -> object:
    """A value in another type; without schema its width is marked."""
    if value is None:
        return None
    kind = schema.type if schema is not None else inferred_type(value)
    if kind is None:
        raise DataError(
            f"Cast transformation was passed a value of type class {java_class(value)} "
            "which is not supported by Connect's data API"
        )
    if kind not in _INPUT:
        supported = ", ".join(map(str, _INPUT))
        raise DataError(f"Cast transformation does not support casting from {kind}; supported types are [{supported}]")
    moment = instant_of(value)
    if moment is not None:
        if target is Type.STRING:
            return date_text(moment.ms)
        value = to_number(schema, moment) if schema is not None and schema.name in MOMENTS else value
    try:
        made = _CASTS[target](value, schema) if target in _CASTS else _whole(value, BITS[target])
    except ValueError as error:
        raise DataError(f"Value ({java_text(value)}) was out of range for requested data type") from error
    return NARROW[target](made) if schema is None and target in NARROW else made


def _present(values: Sequence[object]) -> Sequence[object]:
    """The values; a null among them is passed by, with its schema, which a column can't do."""
    if any(value is None for value in values):
        raise RowsNeededError
    return values


def cast_all(schema: Schema | None, values: Sequence[object], target: Type) -> Sequence[object]:
    """The values in another type, as `cast` makes each."""
    if schema is not None and schema.name is None:
        fast = _FAST.get((schema.type, target))
        if fast is not None and set(map(type, values)) <= {_FAST_CLASSES[schema.type]}:
            return list(map(fast, values))
    return [cast(schema, value, target) for value in values]


def _same(value: object) -> object:
    return value


_WHOLES: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64)
_FAST: Final[dict[tuple[Type, Type], Callable[[Any], object]]] = {
    **{(kind, wide): _same for place, kind in enumerate(_WHOLES) for wide in _WHOLES[place:]},
    **{(kind, Type.STRING): str for kind in _WHOLES},
    **{(kind, Type.FLOAT64): float for kind in _WHOLES},
    (Type.STRING, Type.STRING): _same,
}
"""Where nothing can go wrong."""
_FAST_CLASSES: Final[dict[Type, type]] = {**dict.fromkeys(_WHOLES, int), Type.STRING: str}


def _whole(value: object, bits: int) -> int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return wrapped(truncated(value, 64 if bits == 64 else 32), bits)
    if isinstance(value, (int, Decimal)):
        return wrapped(int(value), bits)
    if not isinstance(value, str):
        raise _unexpected(value)
    if not _WHOLE.fullmatch(value) or wrapped(int(value), bits) != int(value):
        raise ValueError(value)
    return int(value)


def _float64(value: object, schema: Schema | None) -> float:
    if isinstance(value, (bool, int, float, Decimal)):
        return float(value)
    if not isinstance(value, str):
        raise _unexpected(value)
    text = value.strip()
    if not _DECIMAL.fullmatch(text):
        raise ValueError(value)
    return float(text.rstrip("fFdD") if text[-1] in "fFdD" and text[-2:] != "ty" else text)


def _boolean(value: object, schema: Schema | None) -> bool:
    if isinstance(value, str):
        return value.lower() == "true"
    if isinstance(value, float):
        return truncated(value, 64) != 0
    if isinstance(value, (int, Decimal)):
        return wrapped(int(value), 64) != 0
    raise _unexpected(value)


def _string(value: object, schema: Schema | None) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    return java_text(value, schema)


def _unexpected(value: object) -> DataError:
    return DataError(f"Unexpected type in Cast transformation: class {java_class(value)}")


_CASTS: Final[dict[Type, Callable[[object, Schema | None], object]]] = {
    Type.FLOAT32: lambda value, schema: to_float32(_float64(value, schema)),
    Type.FLOAT64: _float64,
    Type.BOOLEAN: _boolean,
    Type.STRING: _string,
}
