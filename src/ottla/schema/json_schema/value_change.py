"""Changes of the limits on strings and numbers."""

from typing import Final

from ottla.schema.json_schema.change import Change
from ottla.schema.json_schema.comparing import Comparing, Found
from ottla.schema.json_schema.node import Number, Numeric, String

_EXPONENTS_APART_MAX: Final = 1000


def compare_strings(comparing: Comparing, old: String, new: String) -> Found:
    """The breaking changes between two string nodes."""
    found = upper(comparing, "maxLength", old.length_max, new.length_max, "MAX_LENGTH")
    found += lower(comparing, "minLength", old.length_min, new.length_min, "MIN_LENGTH")
    if new.pattern is not None and old.pattern != new.pattern:
        found += comparing.found(Change.PATTERN_ADDED if old.pattern is None else Change.PATTERN_CHANGED, "pattern")
    return found


def compare_numbers(comparing: Comparing, old: Numeric, new: Numeric) -> Found:
    """The breaking changes between two number nodes."""
    found = upper(comparing, "maximum", old.maximum, new.maximum, "MAXIMUM")
    found += lower(comparing, "minimum", old.minimum, new.minimum, "MINIMUM")
    found += upper(comparing, "exclusiveMaximum", old.exclusive_maximum, new.exclusive_maximum, "EXCLUSIVE_MAXIMUM")
    found += lower(comparing, "exclusiveMinimum", old.exclusive_minimum, new.exclusive_minimum, "EXCLUSIVE_MINIMUM")
    change = _multiple(old.multiple_of, new.multiple_of)
    if change is not None:
        found += comparing.found(change, "multipleOf")
    if new.is_integer and not old.is_integer:
        found += comparing.found(Change.TYPE_NARROWED)
    return found


def upper(comparing: Comparing, name: str, old: Number | None, new: Number | None, prefix: str) -> Found:
    """A limit from above may be raised or removed."""
    if new is None or (old is not None and new >= old):
        return []
    return comparing.found(Change[f"{prefix}_ADDED" if old is None else f"{prefix}_DECREASED"], name)


def lower(comparing: Comparing, name: str, old: Number | None, new: Number | None, prefix: str) -> Found:
    """A limit from below may be lowered or removed."""
    if new is None or (old is not None and new <= old):
        return []
    return comparing.found(Change[f"{prefix}_ADDED" if old is None else f"{prefix}_INCREASED"], name)


def _multiple(old: Number | None, new: Number | None) -> Change | None:
    if new is None or old == new:
        return None
    if old is None:
        return Change.MULTIPLE_OF_ADDED
    if _divides(old, new):
        return Change.MULTIPLE_OF_EXPANDED
    return None if _divides(new, old) else Change.MULTIPLE_OF_CHANGED


def _divides(part: Number, whole: Number) -> bool:
    """Exactly, whatever the number of digits; numbers of very different size count as not divisible."""
    (digits, exponent), (whole_digits, whole_exponent) = _parts(part), _parts(whole)
    if not digits or abs(exponent - whole_exponent) > _EXPONENTS_APART_MAX:
        return False
    lowest = min(exponent, whole_exponent)
    scaled: int = whole_digits * 10 ** (whole_exponent - lowest)
    step: int = digits * 10 ** (exponent - lowest)
    return scaled % step == 0


def _parts(number: Number) -> tuple[int, int]:
    """Digits and exponent of ten."""
    if isinstance(number, int):
        return abs(number), 0
    _, digits, exponent = number.as_tuple()
    return int("".join(map(str, digits))), exponent if isinstance(exponent, int) else 0
