"""Fields of JSON bodies, read as Confluent's proxy does: unknown ones are refused, scalars are converted.

A field that is absent and one that is null are the same.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from ottla.web.http.errors import HttpError

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}")
T = TypeVar("T")
INT32: Final = 31
INT64: Final = 63


class Fields:
    """One JSON object.

    >>> fields = Fields({"name": "a", "size": "3"}, ("name", "size"))
    >>> fields.text("name"), fields.integer("size")
    ('a', 3)
    >>> Fields({"nmae": 1}, ("name",))
    Traceback (most recent call last):
    ottla.web.http.errors.HttpError: Unrecognized field: nmae
    """

    def __init__(self, value: Any, known: tuple[str, ...]) -> None:
        if value is None:
            raise HttpError(422, "The request body may not be null")
        if not isinstance(value, dict):
            raise HttpError(400, f"Expected a JSON object, got {_kind(value)}")
        for name in value:
            if name not in known:
                raise HttpError(422, f"Unrecognized field: {name}")
        self._value: Final[dict[str, Any]] = value

    def raw(self, name: str) -> Any:
        """The value as JSON."""
        return self._value.get(name)

    def has(self, name: str) -> bool:
        """Whether there is a value that is not null."""
        return self._value.get(name) is not None

    def optional_text(self, name: str) -> str | None:
        """A string; numbers and booleans are taken as their text."""
        value = self._value.get(name)
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return str(value)
        if not isinstance(value, str):
            raise _unfit(name, "a string", value)
        if not is_text(value):
            raise HttpError(400, f"{name} has half of a surrogate pair, which UTF-8 can't hold")
        return value

    def text(self, name: str) -> str:
        """A string that must be there."""
        return self._required(name, self.optional_text(name))

    def optional_integer(self, name: str, bits: int = INT32) -> int | None:
        """A number of 32 or 64 bits; its text will do."""
        value = self._value.get(name)
        if value is None:
            return None
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not -(1 << bits) <= value < 1 << bits:
            raise _unfit(name, "an integer", value)
        return value

    def integer(self, name: str, bits: int = INT32) -> int:
        """A number that must be there."""
        return self._required(name, self.optional_integer(name, bits))

    def natural(self, name: str, bits: int = INT32) -> int:
        """A number from 0 on that must be there."""
        value = self.integer(name, bits)
        if value < 0:
            raise HttpError(422, f"{name} must be greater than or equal to 0")
        return value

    def boolean(self, name: str) -> bool:
        """A boolean, false if it is absent."""
        value = self._value.get(name)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if value is not None and not isinstance(value, bool):
            raise _unfit(name, "a boolean", value)
        return bool(value)

    def optional_list(self, name: str) -> list[Any]:
        """A list, empty if it is absent."""
        value = self._value.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise _unfit(name, "a list", value)
        return value

    def objects(self, name: str, known: tuple[str, ...]) -> "Iterator[Fields]":
        """The objects of a list, which may be absent."""
        for value in self.optional_list(name):
            yield Fields(value, known)

    def moment(self, name: str) -> int | None:
        """A time as RFC 3339 writes it, in milliseconds since 1970; a number is taken as it is."""
        value = self._value.get(name)
        if isinstance(value, str) and not _INTEGER.fullmatch(value):
            found = parse_moment(value)
            if found is None:
                raise _unfit(name, "a time like 2026-01-31T12:00:00Z", value)
            return found
        return self.optional_integer(name, INT64)

    def _required(self, name: str, value: T | None) -> T:
        if value is None:
            raise HttpError(422, f"{name} may not be null")
        return value


def is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8: JSON can escape halves of surrogate pairs."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_moment(text: str) -> int | None:
    """Milliseconds since 1970.

    >>> parse_moment("1970-01-01T00:00:01.5Z"), parse_moment("soon")
    (1500, None)
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def show_moment(milliseconds: int) -> str | None:
    """A time as RFC 3339 writes it; None for what is no time.

    >>> show_moment(1500), show_moment(1000)
    ('1970-01-01T00:00:01.500Z', '1970-01-01T00:00:01Z')
    """
    if milliseconds < 0:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    try:
        text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return None
    return f"{text}.{rest:03d}Z" if rest else f"{text}Z"


def _unfit(name: str, expected: str, value: Any) -> HttpError:
    return HttpError(400, f"{name} must be {expected}, got {_kind(value)}")


def _kind(value: Any) -> str:
    if isinstance(value, (str, int, float)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:60]}…"
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(value), "something else")
