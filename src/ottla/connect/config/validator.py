"""Validators of settings, with Kafka's error messages.

A validator is called with the setting's name and its value, None included, and raises `InvalidConfigError`. Some accept
null and some do not: a value that could not be parsed is null, which is why a bad number often has two errors.
"""

from collections.abc import Callable
from typing import Final, Protocol

from ottla.base.config_type import Password
from ottla.base.frozen import frozen
from ottla.connect.errors import InvalidConfigError


class Validator(Protocol):
    """The check of a value."""

    def __call__(self, name: str, value: object) -> None:
        """Raises `InvalidConfigError` when the value is not allowed."""
        ...


def shown(value: object) -> str:
    """A value as Kafka's messages show it.

    >>> shown(["a", "b"]), shown(None), shown(True)
    ('[a, b]', 'null', 'true')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(str, value))}]"
    return "[hidden]" if isinstance(value, Password) else str(value)


@frozen
class InRange:
    """Numbers from `low` to `high`; None is no limit, null is refused."""

    low: int | None = None
    high: int | None = None

    def __call__(self, name: str, value: object) -> None:
        """Refuses what lies outside."""
        if not isinstance(value, (int, float)):
            raise InvalidConfigError.of(name, shown(value), "Value must be non-null")
        if self.low is not None and value < self.low:
            raise InvalidConfigError.of(name, value, f"Value must be at least {self.low}")
        if self.high is not None and value > self.high:
            raise InvalidConfigError.of(name, value, f"Value must be no more than {self.high}")

    def __str__(self) -> str:
        low, high = ([str(limit)] if limit is not None else [] for limit in (self.low, self.high))
        return f"[{','.join([*low, '...', *high])}]"


class AnyOf:
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self.words: Final = words

    def __call__(self, name: str, value: object) -> None:
        """Refuses any other word."""
        if value not in self.words:
            raise InvalidConfigError.of(name, shown(value), f"String must be one of: {', '.join(self.words)}")

    def __str__(self) -> str:
        return f"[{', '.join(self.words)}]"


class AnyOfIgnoringCase:
    """One of a few words, in any case."""

    def __init__(self, *words: str) -> None:
        self.words: Final = words

    def __call__(self, name: str, value: object) -> None:
        """Refuses any other word."""
        if not isinstance(value, str) or value.upper() not in self.words:
            words = ", ".join(self.words)
            raise InvalidConfigError.of(name, shown(value), f"String must be one of (case insensitive): {words}")

    def __str__(self) -> str:
        return f"(case insensitive) [{', '.join(self.words)}]"


@frozen
class Distinct:
    """A list without doubled or empty items."""

    empty_allowed: bool

    def __call__(self, name: str, value: object) -> None:
        """Refuses null, emptiness unless allowed, doubles and empty items."""
        if not isinstance(value, (list, tuple)):
            raise InvalidConfigError(f"Configuration '{name}' values must not be null.")
        if not value and not self.empty_allowed:
            raise InvalidConfigError(
                f"Configuration '{name}' must not be empty. Valid values include: any non-empty value"
            )
        if len(set(value)) != len(value):
            raise InvalidConfigError(f"Configuration '{name}' values must not be duplicated.")
        if "" in value:
            raise InvalidConfigError(f"Configuration '{name}' values must not be empty.")

    def __str__(self) -> str:
        return ""


@frozen
class Sentence:
    """A check by a function that returns what is wrong, or None."""

    problem: Callable[[object], str | None]
    text: str

    def __call__(self, name: str, value: object) -> None:
        """Refuses with the function's reason."""
        reason = self.problem(value)
        if reason is not None:
            raise InvalidConfigError.of(name, shown(value), reason)

    def __str__(self) -> str:
        return self.text


@frozen
class AllOf:
    """Every one of several checks, in their order."""

    validators: tuple[Validator, ...]

    def __call__(self, name: str, value: object) -> None:
        """Refuses by the first that does."""
        for validator in self.validators:
            validator(name, value)

    def __str__(self) -> str:
        return ", ".join(map(str, self.validators))


def _control_characters(value: object) -> str | None:
    if value is None:
        return None
    if not value:
        return "String may not be empty"
    found = [str(ord(letter)) for letter in str(value) if ord(letter) < 32 or 127 <= ord(letter) < 160]
    if not found:
        return None
    return f"String may not contain control sequences but had the following ASCII chars: {', '.join(found)}"


NON_NULL: Final = Sentence(lambda value: "entry must be non null" if value is None else None, "non-null string")
NON_EMPTY: Final = Sentence(lambda value: "String must be non-empty" if value == "" else None, "non-empty string")
NON_EMPTY_LIST: Final = Sentence(lambda value: None if value else "Empty list", "non-empty list")
PRINTABLE: Final = Sentence(_control_characters, "non-empty string without ISO control characters")
