"""Values from one type to another, as Kafka's `Values` does it: for header literals and for masks.

Numbers wrap when they are narrowed; text becomes a number by the rules of `BigDecimal`.
"""

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from ottla.base.java.number import to_float32, wrapped
from ottla.connect.data.java_text import java_text
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import java_class
from ottla.connect.data.type import BITS, NARROW, Type, fits
from ottla.connect.errors import DataError

_DECIMAL: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def big_decimal(text: str) -> Decimal | None:
    """`new BigDecimal(text)`; None if the text is no number, or its scale none of 32 bits.

    >>> big_decimal("1.50"), big_decimal("1e9999999999"), big_decimal("x")
    (Decimal('1.50'), None, None)
    """
    if not _DECIMAL.fullmatch(text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    return number if isinstance(exponent, int) and fits(Type.INT32, -exponent) else None


def as_long(value: object) -> int:
    """A value as a whole number of 64 bits."""
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return wrapped(int(value), 64)
    number = big_decimal(value) if isinstance(value, str) else None
    if number is None:
        raise DataError(f"Unable to convert {java_text(value)} (class {java_class(value)}) to a number")
    # 2 to the 64th divides 10 to the 64th: whatever is before such an exponent, none of it is kept.
    return 0 if number.adjusted() > 1_000 else wrapped(int(number), 64)


def as_double(value: object) -> float:
    """A value as a decimal number."""
    number = big_decimal(value) if isinstance(value, str) else None
    if number is not None:
        return float(number)
    return float(value) if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) else as_long(value)


def to_number(kind: Type, value: object) -> int | float:
    """A number of a type, marked with its width."""
    if kind in BITS:
        whole = wrapped(as_long(value), BITS[kind])
        marked: int | float = NARROW.get(kind, int)(whole)
        return marked
    number = as_double(value)
    return float(number) if kind is Type.FLOAT64 else _float32(number)


def _float32(number: float) -> float:
    narrow: float = NARROW[Type.FLOAT32](to_float32(number))
    return narrow


def is_number(schema: Schema) -> bool:
    """Whether a schema is of one of the six types of numbers, and no logical type."""
    return schema.name is None and (schema.type in BITS or schema.type in (Type.FLOAT32, Type.FLOAT64))
