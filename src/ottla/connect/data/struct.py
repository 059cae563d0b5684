"""Structs, and whether a value is what its schema says.

What a struct holds was checked field by field when it was put there. Texts of refusals are Kafka's, with the Java class
that a value would have.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from ottla.connect.data.logical import DECIMAL, MOMENTS, Instant, instant_of
from ottla.connect.data.schema import Field, Schema
from ottla.connect.data.type import BITS, Float32, Int8, Int16, Int32, Type, fits
from ottla.connect.errors import DataError


class Struct:
    """A value with named fields, in the order of its schema.

    >>> from ottla.connect.data.builder import struct
    >>> from ottla.connect.data.schema import INT32, OPTIONAL_STRING
    >>> order = Struct(struct({"id": INT32, "note": OPTIONAL_STRING}), {"id": 7})
    >>> order, order["id"], order.get("note")
    (Struct{id=7}, 7, None)
    >>> order.put("no", 1)
    Traceback (most recent call last):
    ottla.connect.errors.DataError: no is not a valid field name
    """

    __slots__ = ("schema", "values")

    def __init__(self, schema: Schema, values: Mapping[str, object] | None = None) -> None:
        if schema.type is not Type.STRUCT:
            raise DataError(f"Not a struct schema: {schema}")
        self.schema: Schema = schema
        self.values: list[object] = [None] * len(schema.fields)
        for name, value in (values or {}).items():
            self.put(name, value)

    def get(self, name: str) -> object:
        """A field's value, or its default where it is null."""
        field = self._field(name)
        value = self.values[field.index]
        return field.schema.default if value is None else value

    __getitem__ = get

    def kept(self, field: Field, target: Field, *, replace_null: bool) -> object:
        """A field's value for a struct in whose schema the field is `target`.

        What was put was checked then; only a null may be refused there.
        """
        value = self.values[field.index]
        if value is not None:
            return value
        default = field.schema.default if replace_null else None
        return checked(target.schema, None, f'field: "{target.name}"') if default is None else default

    def get_without_default(self, name: str) -> object:
        """A field's value as it was put."""
        return self.values[self._field(name).index]

    def put(self, name: str, value: object) -> "Struct":
        """Sets a field; `DataError` if the value is not what its schema says."""
        field = self._field(name)
        self.values[field.index] = checked(field.schema, value, f'field: "{field.name}"')
        return self

    def validate(self) -> None:
        """Refuses a struct in which something required is missing."""
        for field, value in zip(self.schema.fields, self.values, strict=True):
            if value is None and (field.schema.optional or field.schema.default is not None):
                continue
            checked(field.schema, value, f'field: "{field.name}"')

    def to_dict(self) -> dict[str, object]:
        """The fields by name, defaults in the place of nulls, structs inside as dicts too."""
        return {field.name: _plain(self.get(field.name)) for field in self.schema.fields}

    def _field(self, name: str) -> Field:
        field = self.schema.field(name)
        if field is None:
            raise DataError(f"{name} is not a valid field name")
        return field

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and self.schema == other.schema and self.values == other.values

    def __hash__(self) -> int:
        return hash((self.schema, repr(self.values)))

    def __repr__(self) -> str:
        pairs = zip(self.schema.fields, self.values, strict=True)
        return f"Struct{{{','.join(f'{field.name}={value}' for field, value in pairs if value is not None)}}}"


def struct_of(schema: Schema, values: list[object]) -> Struct:
    """A struct of values that were checked already, in the order of the schema's fields."""
    made = object.__new__(Struct)
    made.schema, made.values = schema, values
    return made


def _plain(value: object) -> object:
    if isinstance(value, Struct):
        return value.to_dict()
    return [_plain(item) for item in value] if isinstance(value, list) else value


def checked(schema: Schema, value: object, location: str = "value") -> object:
    """The value as a struct keeps it (moments as `Instant`, floats as floats); `DataError` if it is wrong."""
    if type(value) is str and schema.type is Type.STRING and schema.name is None:
        # Fast path: a text, which most fields are.
        return value
    if value is None:
        if not schema.optional:
            raise DataError(f"Invalid value: null used for required {location}, schema type: {schema.type}")
        return None
    if schema.name is not None and schema.name in MOMENTS:
        moment = instant_of(value)
        return moment if moment is not None else _refuse(schema, value, location)
    if schema.name == DECIMAL:
        return value if isinstance(value, Decimal) else _refuse(schema, value, location)
    return _checked_plain(schema, value, location)


def _checked_plain(schema: Schema, value: object, location: str) -> object:
    kind = schema.type
    if kind in BITS:
        if isinstance(value, int) and not isinstance(value, bool) and fits(kind, value):
            return value
    elif kind is Type.FLOAT64 or kind is Type.FLOAT32:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif kind is Type.BYTES:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
    elif isinstance(value, _CLASSES[kind]):
        return _checked_parts(schema, value, location)
    return _refuse(schema, value, location)


_CLASSES: Final[dict[Type, type]] = {
    Type.BOOLEAN: bool, Type.STRING: str, Type.ARRAY: list, Type.MAP: dict, Type.STRUCT: Struct,
}  # fmt: skip


def _checked_parts(schema: Schema, value: object, location: str) -> object:
    if isinstance(value, Struct):
        if value.schema != schema:
            raise DataError("Struct schemas do not match.")
        value.validate()
    elif isinstance(value, list):
        where = f"element of array {location}"
        item_schema = _required(schema.value_schema, where)
        return [checked(item_schema, item, where) for item in value]
    elif isinstance(value, dict):
        key_where, value_where = f"key of map {location}", f"value of map {location}"
        key_schema, item_schema = _required(schema.key_schema, key_where), _required(schema.value_schema, value_where)
        return {
            checked(key_schema, key, key_where): checked(item_schema, item, value_where) for key, item in value.items()
        }
    return value


def _required(schema: Schema | None, location: str) -> Schema:
    if schema is None:
        raise DataError(f"No schema defined for {location}")
    return schema


def _refuse(schema: Schema, value: object, location: str) -> object:
    named = f' "{schema.name}"' if schema.name is not None else ""
    raise DataError(
        f"Invalid Java object for schema{named} with type {schema.type}: class {java_class(value)} for {location}"
    )


_JAVA_CLASSES: Final[tuple[tuple[type, str, Type | None], ...]] = (
    (bool, "java.lang.Boolean", Type.BOOLEAN),
    (Int8, "java.lang.Byte", Type.INT8),
    (Int16, "java.lang.Short", Type.INT16),
    (Int32, "java.lang.Integer", Type.INT32),
    (int, "java.lang.Long", Type.INT64),
    (Float32, "java.lang.Float", Type.FLOAT32),
    (float, "java.lang.Double", Type.FLOAT64),
    (str, "java.lang.String", Type.STRING),
    (bytes, "[B", Type.BYTES),
    (bytearray, "[B", Type.BYTES),
    (memoryview, "[B", Type.BYTES),
    (list, "java.util.ArrayList", Type.ARRAY),
    (dict, "java.util.HashMap", Type.MAP),
    (Struct, "org.apache.kafka.connect.data.Struct", Type.STRUCT),
    (Decimal, "java.math.BigDecimal", None),
    (Instant, "java.util.Date", None),
)
_KINDS: Final = {cls: kind for cls, _, kind in _JAVA_CLASSES if kind is not None}
"""Fast path: values of the very classes."""
_BY_TYPE: Final = {kind: name for _, name, kind in reversed(_JAVA_CLASSES) if kind is not None}


def java_class(value: object, schema: Schema | None = None) -> str:
    """The Java class that a value has in Kafka Connect, for messages; a schema tells a number's width.

    >>> from ottla.connect.data.schema import INT32
    >>> java_class(5), java_class(5, INT32), java_class(None)
    ('java.lang.Long', 'java.lang.Integer', 'null')
    """
    if value is None:
        return "null"
    if schema is not None and type(value) is int and schema.type in BITS:
        return _BY_TYPE[schema.type]
    if schema is not None and type(value) is float and schema.type is Type.FLOAT32:
        return _BY_TYPE[schema.type]
    for cls, name, _ in _JAVA_CLASSES:
        if isinstance(value, cls):
            return name
    return "java.util.Date" if instant_of(value) is not None else f"{type(value).__module__}.{type(value).__qualname__}"


def inferred_type(value: object) -> Type | None:
    """The type of a value without schema; None for what only a schema can explain (decimals, moments)."""
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    return next((kind for cls, _, kind in _JAVA_CLASSES if isinstance(value, cls)), None)
