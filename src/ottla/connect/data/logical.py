"""Logical types: decimals, days, times of day and moments, told by the schema's name.

In Kafka three of them are `java.util.Date`; here they are an `Instant`. A connector may give Python's `datetime` types
instead: `instant_of` reads them. Decimals are Python's, whose exponent is the scale.
"""

import datetime as dt
from decimal import Decimal
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.data.schema import Schema
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
DATE: Final = "org.apache.kafka.connect.data.Date"
TIME: Final = "org.apache.kafka.connect.data.Time"
TIMESTAMP: Final = "org.apache.kafka.connect.data.Timestamp"
MOMENTS: Final = frozenset((DATE, TIME, TIMESTAMP))
MS_PER_DAY: Final = 86_400_000
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

DATE_SCHEMA: Final = Schema(Type.INT32, name=DATE, version=1)
TIME_SCHEMA: Final = Schema(Type.INT32, name=TIME, version=1)
TIMESTAMP_SCHEMA: Final = Schema(Type.INT64, name=TIMESTAMP, version=1)


def decimal_schema(scale: int, *, optional: bool = False) -> Schema:
    """Decimals with that many digits behind the point."""
    return Schema(Type.BYTES, optional=optional, name=DECIMAL, version=1, parameters={"scale": str(scale)})


@frozen
class Instant:
    """A moment: milliseconds since 1970, which may be further away than Python's calendar reaches.

    >>> Instant(0).datetime()
    datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """

    ms: int

    def datetime(self) -> dt.datetime:
        """The moment in UTC; `OverflowError` behind the year 9999."""
        return _EPOCH + dt.timedelta(milliseconds=self.ms)


def instant_of(value: object) -> Instant | None:
    """The instant that an `Instant`, `datetime`, `date` or `time` stands for; None for anything else."""
    if isinstance(value, Instant):
        return value
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)
        return Instant((moment - _EPOCH) // dt.timedelta(milliseconds=1))
    if isinstance(value, dt.date):
        return Instant((value - _EPOCH.date()).days * MS_PER_DAY)
    if isinstance(value, dt.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return Instant(seconds * 1000 + value.microsecond // 1000)
    return None


def to_number(schema: Schema, moment: Instant) -> int:
    """The number that stands for a moment in its schema's type: days, milliseconds of a day, or milliseconds."""
    if schema.name == DATE:
        if moment.ms % MS_PER_DAY:
            raise DataError("Kafka Connect Date type should not have any time fields set to non-zero values.")
        return moment.ms // MS_PER_DAY
    if schema.name == TIME and not 0 <= moment.ms <= MS_PER_DAY:
        raise DataError("Kafka Connect Time type should not have any date fields set to non-zero values.")
    return moment.ms


def from_number(schema: Schema, number: int) -> Instant:
    """The moment that a number stands for."""
    if schema.name == DATE:
        return Instant(number * MS_PER_DAY)
    if schema.name == TIME and not 0 <= number <= MS_PER_DAY:
        raise DataError("Time values must use number of milliseconds greater than 0 and less than 86400000")
    return Instant(number)


def scale_of(schema: Schema) -> int:
    """The scale that a decimal's schema asks for."""
    text = (schema.parameters or {}).get("scale")
    if text is None:
        raise DataError("Invalid Decimal schema: scale parameter not found.")
    try:
        return int(text)
    except ValueError as error:
        raise DataError("Invalid scale parameter found in Decimal schema: ") from error


def decimal_scale(value: Decimal) -> int:
    """The number of digits that a decimal has behind the point."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise DataError(f"{value} is no number that a Decimal can hold")
    return -exponent


def decimal_to_bytes(schema: Schema, value: Decimal) -> bytes:
    """The unscaled number in two's complement, as short as can be."""
    scale = scale_of(schema)
    if decimal_scale(value) != scale:
        raise DataError(
            "Decimal value has mismatching scale for given Decimal schema. "
            f"Schema has scale {scale}, value has scale {decimal_scale(value)}."
        )
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
    return integer_to_bytes(number)


def integer_to_bytes(number: int) -> bytes:
    """`BigInteger.toByteArray`."""
    return number.to_bytes(((number if number >= 0 else ~number).bit_length() >> 3) + 1, "big", signed=True)


def decimal_from_bytes(schema: Schema, data: bytes) -> Decimal:
    """The decimal whose unscaled number these bytes are."""
    number = int.from_bytes(data, "big", signed=True)
    return Decimal((int(number < 0), tuple(int(digit) for digit in str(abs(number))), -scale_of(schema)))
