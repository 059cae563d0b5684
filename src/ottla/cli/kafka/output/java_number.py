"""Floating-point numbers as Java writes them: `1.0E10`, `NaN`, and no more digits than tell two numbers apart."""

import math
import struct
from typing import Final

_FLOAT: Final = struct.Struct(">f")
_FLOAT_DIGITS_MAX: Final = 9
_PLAIN_MIN, _PLAIN_MAX = 1e-3, 1e7


def double_text(value: float) -> str:
    """A `double`.

    >>> [double_text(value) for value in (2.5, 1e7, -1.25e-5, 0.001, -0.0, math.nan, -math.inf)]
    ['2.5', '1.0E7', '-1.25E-5', '0.001', '-0.0', 'NaN', '-Infinity']
    """
    return _text(value, repr(value))


def float_text(value: float) -> str:
    """A `float`, which needs fewer digits.

    >>> [float_text(_FLOAT.unpack(_FLOAT.pack(value))[0]) for value in (0.1, 2.5e10, 16777216.0, 3.0)]
    ['0.1', '2.5E10', '1.6777216E7', '3.0']
    """
    shortest = (f"{value:.{digits}g}" for digits in range(1, _FLOAT_DIGITS_MAX))
    return _text(value, next((text for text in shortest if _is_same_float(text, value)), f"{value:.9g}"))


def _is_same_float(text: str, value: float) -> bool:
    try:
        return _FLOAT.pack(float(text)) == _FLOAT.pack(value)
    except OverflowError:
        return False


def _text(value: float, digits: str) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    number, _, exponent = digits.lower().partition("e")
    whole, _, fraction = number.lstrip("-").partition(".")
    sign = "-" if number.startswith("-") else ""
    significant = (whole + fraction).lstrip("0")
    # The value is 0.significant times ten to the power of `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(significant))
    significant = significant.rstrip("0")
    if not significant:
        return f"{sign}0.0"
    if not _PLAIN_MIN <= abs(value) < _PLAIN_MAX:
        return f"{sign}{significant[0]}.{significant[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{significant}"
    return f"{sign}{significant[:point].ljust(point, '0')}.{significant[point:] or '0'}"
