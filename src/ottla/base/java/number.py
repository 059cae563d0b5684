"""Numbers as Java prints and narrows them, where users compare our text with Kafka's.

`Double.toString` and `Float.toString` print the shortest digits that read back to the same number: plain between 0.001
and ten million, otherwise with an `E`. Narrowing casts keep the low bits of whole numbers and saturate decimals.
"""

import math
import struct
from decimal import Decimal

_FLOAT = struct.Struct("<f")
_NORMAL_MIN = 2.0**-126
"""The smallest number of 32 bits that has all its digits."""
_TINY = 1e-320


def java_double(value: float) -> str:
    """`Double.toString`.

    >>> java_double(0.001), java_double(1e20), java_double(12345678.9), java_double(float("inf"))
    ('0.001', '1.0E20', '1.23456789E7', 'Infinity')
    """
    if 0 < abs(value) < _TINY:
        # Java prints two digits where one would do, if they are nearer: 4.9E-324 and not 5.0E-324.
        two = f"{value:.2g}"
        return _printed(value, two if float(two) == value else repr(value))
    return _printed(value, repr(value))


def java_float(value: float) -> str:
    """`Float.toString`: the shortest text that reads back to the same number of 32 bits.

    >>> java_float(1.1), java_float(3.4e38), java_float(1.4e-45), java_float(float("nan"))
    ('1.1', '3.4E38', '1.4E-45', 'NaN')
    """
    narrow = to_float32(value)
    if not math.isfinite(narrow):
        return _printed(narrow, "")
    # Six digits are shortest already where they read back, since `g` drops zeros; the smallest numbers have fewer.
    lengths = range(2, 10) if abs(narrow) < _NORMAL_MIN else range(6, 10)
    shortest = next(
        text for text in (f"{narrow:.{digits}g}" for digits in lengths) if to_float32(float(text)) == narrow
    )
    return _printed(narrow, repr(float(shortest)))


def to_float32(value: float) -> float:
    """The nearest number of 32 bits; what is too large becomes infinite."""
    try:
        narrow: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrow


def wrapped(value: int, bits: int) -> int:
    """The low bits of a whole number as a signed one.

    >>> wrapped(300, 8), wrapped(-129, 8)
    (44, 127)
    """
    half = 1 << bits - 1
    return (value + half & (1 << bits) - 1) - half


def truncated(value: float, bits: int) -> int:
    """A decimal number cast to `int` or `long`: toward zero, and the nearest limit for what does not fit."""
    if value != value:
        return 0
    limit = 1 << bits - 1
    return max(-limit, min(limit - 1, int(value))) if math.isfinite(value) else (limit - 1 if value > 0 else -limit)


def _printed(value: float, shortest: str) -> str:
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return shortest if "e" not in shortest else format(Decimal(shortest), "f")
    number = Decimal(shortest).normalize()
    digits = "".join(str(digit) for digit in number.as_tuple().digits)
    return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1:] or '0'}E{number.adjusted()}"
