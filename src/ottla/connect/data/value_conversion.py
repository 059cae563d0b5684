"""Values for a schema, as Kafka's `Values` converts them: for connectors whose target wants another type.

Texts are read as `ottla.connect.data.literal` reads them, numbers wrap when they are narrowed. What a list, a map or a
struct holds stays as it is.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from ottla.base.java.number import java_double, wrapped
from ottla.connect.data.builder import array, mapping
from ottla.connect.data.conversion import as_double, as_long, big_decimal, to_number
from ottla.connect.data.java_text import java_text
from ottla.connect.data.literal import literal, parse_literal
from ottla.connect.data.logical import (
    DATE,
    DECIMAL,
    MOMENTS,
    MS_PER_DAY,
    TIME,
    TIMESTAMP,
    Instant,
    decimal_from_bytes,
    decimal_to_bytes,
    from_number,
    instant_of,
)
from ottla.connect.data.logical import to_number as moment_number
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct, inferred_type, java_class
from ottla.connect.data.type import BITS, Type
from ottla.connect.errors import DataError

_COMPOSED: Final[dict[Type, type]] = {Type.ARRAY: list, Type.MAP: dict, Type.STRUCT: Struct}


def convert(target: Schema, value: object, source: Schema | None = None) -> object:
    """A value of `source`, or of none, as one of `target`; `DataError` if it can't be one.

    >>> from ottla.connect.data.schema import BOOLEAN, INT8, STRING
    >>> convert(INT8, "300"), convert(BOOLEAN, "true"), convert(STRING, [1, "a"])
    (44, True, '[1,"a"]')
    """
    if value is None:
        if target.optional:
            return None
        raise DataError("Unable to convert a null value to a schema that requires a value")
    if target.name in MOMENTS:
        return _moment(target, value, source)
    if target.type is Type.BYTES:
        return _decimal(target, value) if target.name == DECIMAL else _bytes(target, value)
    if target.type in _COMPOSED:
        return _composed(target, value)
    return _SCALARS.get(target.type, _number)(target, value, source)


def infer_schema(value: object) -> Schema | None:
    """The schema of a value without one; None where only its user can tell, as for an empty list."""
    if isinstance(value, Struct):
        return value.schema
    if isinstance(value, list):
        items = _common(value)
        return None if items is None else array(items)
    if isinstance(value, dict):
        keys, items = _common(list(value)), _common(list(value.values()))
        return None if keys is None or items is None else mapping(keys, items)
    kind = inferred_type(value)
    return None if kind is None else Schema(kind)


def _common(items: list[object]) -> Schema | None:
    found = [infer_schema(item) for item in items if item is not None]
    kinds = {None if schema is None else schema.type for schema in found}
    kind = kinds.pop() if len(kinds) == 1 else None
    # Kafka's looks at the type of lists and maps alone, and then has no schema for what they hold.
    return None if kind is None else Schema(kind, optional=len(found) < len(items))


def _text(target: Schema, value: object, source: Schema | None) -> str:
    return literal(value, source)


def _boolean(target: Schema, value: object, source: Schema | None) -> bool:
    if isinstance(value, bool):
        return value
    parsed = parse_literal(value).value if isinstance(value, str) else None
    return parsed if isinstance(parsed, bool) else _long(value, source) != 0


def _number(target: Schema, value: object, source: Schema | None) -> int | float:
    if target.type in BITS:
        return to_number(target.type, _long(value, source))
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return to_number(target.type, value)
    is_number = isinstance(value, str) and big_decimal(value) is not None
    return to_number(target.type, as_double(value) if is_number else _long(value, source))


_SCALARS: Final[dict[Type, Callable[[Schema, object, Schema | None], object]]] = {
    Type.STRING: _text,
    Type.BOOLEAN: _boolean,
}


def _long(value: object, source: Schema | None) -> int:
    """A whole number of 64 bits; a moment is the number that stands for it in its schema."""
    is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    if source is None or is_number or (isinstance(value, str) and big_decimal(value) is not None):
        return as_long(value)
    moment = instant_of(value)
    if moment is not None and source.name in MOMENTS:
        return moment_number(source, moment)
    raise _refused(value, source)


def _moment(target: Schema, value: object, source: Schema | None) -> Instant:
    if isinstance(value, str):
        value = parse_literal(value).value
    moment = instant_of(value)
    if moment is not None:
        if source is None or source.name == target.name:
            return moment
        found = _between(str(target.name), moment, source)
        if found is not None:
            return found
    return from_number(target, wrapped(_long(value, source), BITS[target.type]))


def _between(name: str, moment: Instant, source: Schema) -> Instant | None:
    """A moment of another logical type; None where its number is taken."""
    if source.name == TIMESTAMP and name == DATE:
        # Toward zero, as Java divides.
        days = abs(moment.ms) // MS_PER_DAY * (1 if moment.ms >= 0 else -1)
        return Instant(days * MS_PER_DAY)
    if source.name == TIMESTAMP and name == TIME:
        return Instant(moment.ms % MS_PER_DAY)
    if name == TIMESTAMP and source.name in (DATE, TIME):
        number = moment_number(source, moment)
        return Instant(number * MS_PER_DAY if source.name == DATE else number)
    return None


def _decimal(target: Schema, value: object) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return decimal_from_bytes(target, bytes(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Decimal(java_double(float(value)))
    found = big_decimal(value) if isinstance(value, str) else None
    if found is None:
        raise _refused(value, target)
    return found


def _bytes(target: Schema, value: object) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Decimal):
        return decimal_to_bytes(target, value)
    raise _refused(value, target)


def _composed(target: Schema, value: object) -> object:
    if isinstance(value, str) and target.type is not Type.STRUCT:
        value = parse_literal(value).value
    if not isinstance(value, _COMPOSED[target.type]):
        raise _refused(value, target)
    return value


def _refused(value: object, schema: Schema) -> DataError:
    return DataError(f"Unable to convert {java_text(value)} (class {java_class(value)}) to {schema}")
