"""Single values of options: numbers, yes or no, spans of time. Each error names the option."""

import re
from collections.abc import Mapping
from typing import Final

from ottla.pipelines.option.errors import OptionError

_UNITS_MS: Final = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_SPAN: Final = re.compile(r"(\d+)\s*([a-z]*)")


def number(options: Mapping[str, str], name: str, *, minimum: int = 1) -> int | None:
    """A whole number that is at least `minimum`; None if it was not given."""
    text = options.get(name.lower())
    if text is None:
        return None
    try:
        value = int(text)
    except ValueError:
        raise OptionError(name, f"expected a whole number, not {text!r}") from None
    if value < minimum:
        raise OptionError(name, f"must be at least {minimum}, not {value}")
    return value


def number_or(options: Mapping[str, str], name: str, default: int, *, minimum: int = 0) -> int:
    """The option as a number, or the default if it is absent."""
    found = number(options, name, minimum=minimum)
    return default if found is None else found


def boolean(options: Mapping[str, str], name: str, *, default: bool) -> bool:
    """`true` or `false`, in any case."""
    text = options.get(name.lower())
    if text is None:
        return default
    if text.strip().lower() not in {"true", "false"}:
        raise OptionError(name, f"expected true or false, not {text!r}")
    return text.strip().lower() == "true"


def choice(options: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """One of some words, in any case; the first of them is the default."""
    text = options.get(name.lower(), choices[0]).strip().lower()
    if text not in choices:
        raise OptionError(name, f"expected {' or '.join(choices)}, not {text!r}")
    return text


def span_ms(options: Mapping[str, str], name: str, default: str) -> int:
    """A span of time as Spark writes it: `15m`, `500ms`; without a unit it is milliseconds."""
    text = options.get(name.lower(), default).strip().lower()
    found = _SPAN.fullmatch(text)
    if found is None or (found[2] or "ms") not in _UNITS_MS:
        raise OptionError(name, f"expected a span of time such as 500ms, 10s, 15m or 1h, not {text!r}")
    return round(int(found[1]) * _UNITS_MS[found[2] or "ms"])
