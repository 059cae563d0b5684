"""Checks on a setting's value, with Kafka's words when they refuse.

A check is a callable of one value that raises `ValueError` with the reason; its `text` says what it allows, for the
reference page. It knows neither the setting's name nor where the value came from: `ConfigKey` adds those.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from ottla.base.frozen import frozen


class ItemError(ValueError):
    """One item of a list is not allowed: `item` says which."""

    def __init__(self, item: object, reason: str) -> None:
        super().__init__(reason)
        self.item = item


class ListError(ValueError):
    """A list is not allowed as a whole: a sentence that begins with the name of the setting."""


class Check(Protocol):
    """A check of a setting's value."""

    @property
    def text(self) -> str:
        """The allowed values, as the reference page prints them."""
        ...

    def __call__(self, value: object) -> None:
        """Raises `ValueError` with the reason when `value` is not allowed."""
        ...


@frozen
class Range:
    """Numbers from `low` to `high`, both included; None is no limit.

    >>> Range(0, 1).text, Range(1).text
    ('[0,...,1]', '[1,...]')
    """

    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """`[low,...,high]`."""
        limits = [str(self.low)] if self.low is not None else []
        return "[" + ",".join([*limits, "...", *([str(self.high)] if self.high is not None else [])]) + "]"

    def __call__(self, value: object) -> None:
        """Refuses what lies outside, NaN included."""
        if not isinstance(value, (int, float)) or value != value:
            raise ValueError("Value must be a number")
        if self.low is not None and value < self.low:
            raise ValueError(f"Value must be at least {self.low}")
        if self.high is not None and value > self.high:
            raise ValueError(f"Value must be no more than {self.high}")


@frozen
class RangeOr:
    """Numbers from `low` to `high`, or one number outside that means something else (gzip's level -1)."""

    low: int
    high: int
    special: int

    @property
    def text(self) -> str:
        """`[low,...,high] or special`."""
        return f"[{self.low},...,{self.high}] or {self.special}"

    def __call__(self, value: object) -> None:
        """Refuses what is neither."""
        if value != self.special and not (isinstance(value, int) and self.low <= value <= self.high):
            raise ValueError(f"Value must be between {self.low} and {self.high} or equal to {self.special}")


class OneOf:
    """One of a few words; for a list, each of its items is.

    >>> OneOf("compact", "delete")(("compact",))
    """

    __slots__ = ("words",)

    def __init__(self, *words: str) -> None:
        self.words: Final = words

    @property
    def text(self) -> str:
        """The words."""
        return f"[{', '.join(self.words)}]"

    def __call__(self, value: object) -> None:
        """Refuses any other word."""
        items: Iterable[object] = value if isinstance(value, tuple) else (value,)
        for item in items:
            if item == "" and isinstance(value, tuple):
                raise ListError("values must not be empty.")
            if item not in self.words:
                raise ItemError(item, f"String must be one of: {', '.join(self.words)}")


@frozen
class Matching:
    """Text, or each item of a list, that matches a pattern as a whole."""

    pattern: re.Pattern[str]
    text: str
    reason: str

    def __call__(self, value: object) -> None:
        """Refuses text that does not match."""
        items: Iterable[object] = value if isinstance(value, tuple) else (value,)
        for item in items:
            if not isinstance(item, str) or not self.pattern.fullmatch(item):
                raise ItemError(item, self.reason)


@frozen
class NonEmpty:
    """Text or a list with something in it."""

    text: str = "non-empty"

    def __call__(self, value: object) -> None:
        """Refuses emptiness."""
        if not value:
            raise ValueError("String must be non-empty")


@frozen
class Satisfying:
    """Whatever a function of the owner accepts: the way out when no other check fits."""

    accepts: Callable[[object], bool]
    text: str
    reason: str

    def __call__(self, value: object) -> None:
        """Refuses what the function does not accept."""
        if not self.accepts(value):
            raise ValueError(self.reason)
