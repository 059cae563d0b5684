"""The types a setting can have: how each reads text and how it prints itself again.

Owns the grammar of single values (Kafka's: `true`, `10`, `0.5`, `a,b`), not their names or limits. What `render` prints
is what DescribeConfigs shows, and `parse` reads it back to an equal value; a password never prints.
"""

import enum
from collections.abc import Sequence
from typing import Final

from ottla.base.java.number import java_double

_INT_RANGES: Final = {"SHORT": 1 << 15, "INT": 1 << 31, "LONG": 1 << 63}


class Password(str):
    """A secret: a `str` to those who use it, `***` to those who print it.

    >>> Password("hunter2"), f"{Password('hunter2')}", Password("hunter2") == "hunter2"
    (***, '***', True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "***"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return format("***", spec)

    @property
    def secret(self) -> str:
        """The text itself, for the one place that needs it."""
        return "".join(self)


class ConfigType(enum.IntEnum):
    """The type of a setting, numbered as DescribeConfigs numbers it.

    >>> ConfigType.LONG.parse(" 604800000 ")
    604800000
    >>> ConfigType.LIST.parse("compact, delete")
    ('compact', 'delete')
    >>> ConfigType.DOUBLE.render(1e10), ConfigType.BOOLEAN.render(True)
    ('1.0E10', 'true')
    """

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9

    def parse(self, raw: object) -> object:
        """The value that `raw` (text, or a value of the type) stands for; `ValueError` says what was expected."""
        if self in (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG):
            return self._integer(raw)
        if self is ConfigType.BOOLEAN:
            return _boolean(raw)
        if self is ConfigType.DOUBLE:
            return self._double(raw)
        if self is ConfigType.LIST:
            return _list(raw)
        if not isinstance(raw, str):
            raise ValueError(f"Expected value to be a string, but it was a {type(raw).__name__}")
        return Password(raw) if self is ConfigType.PASSWORD else raw.strip()

    def render(self, value: object) -> str | None:
        """`value` as text; None stays None, a password becomes `***`."""
        if value is None:
            return None
        if self is ConfigType.BOOLEAN:
            return "true" if value else "false"
        if self is ConfigType.DOUBLE and isinstance(value, float):
            return java_double(value)
        if self is ConfigType.LIST and isinstance(value, Sequence) and not isinstance(value, str):
            return ",".join(str(item) for item in value)
        return str(value)

    def _integer(self, raw: object) -> int:
        try:
            value = int(raw) if isinstance(raw, str) and "_" not in raw else raw
        except ValueError:
            value = None
        limit = _INT_RANGES[self.name]
        if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
            raise ValueError(f"Not a number of type {self.name}")
        return value

    def _double(self, raw: object) -> float:
        if isinstance(raw, (str, int, float)) and not isinstance(raw, bool):
            try:
                return float(raw)
            except ValueError:
                pass
        raise ValueError(f"Not a number of type {self.name}")


def _boolean(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    text = raw.strip().lower() if isinstance(raw, str) else ""
    if text not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text == "true"


def _list(raw: object) -> tuple[str, ...]:
    if isinstance(raw, str):
        return tuple(item.strip() for item in raw.split(",")) if raw.strip() else ()
    if isinstance(raw, Sequence) and all(isinstance(item, str) for item in raw):
        return tuple(raw)
    raise ValueError("Expected a comma separated list.")
