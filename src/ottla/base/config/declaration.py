"""What settings are declared with: kinds and units by their short names, and the checks of lists and of words.

The short forms of `ConfigKey` itself belong to those who declare: a node's settings say whether they are dynamic, a
client's that they are a client's.
"""

from typing import Final

from ottla.base.config.check import ListError
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen

BOOLEAN: Final = ConfigType.BOOLEAN
STRING: Final = ConfigType.STRING
INT: Final = ConfigType.INT
SHORT: Final = ConfigType.SHORT
LONG: Final = ConfigType.LONG
DOUBLE: Final = ConfigType.DOUBLE
LIST: Final = ConfigType.LIST
CLASS: Final = ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD

INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1
SECOND_MS: Final = 1000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
MIB: Final = 1 << 20


@frozen
class Items:
    """A list without blank items, and with at least `at_least` of them."""

    at_least: int = 0

    @property
    def text(self) -> str:
        """Nothing worth printing if the list may be empty."""
        return "non-empty list" if self.at_least else ""

    def __call__(self, value: object) -> None:
        """Refuses `a,,b`, and an empty list where one is needed."""
        assert isinstance(value, tuple)
        if len(value) < self.at_least:
            raise ListError("must not be empty. Valid values include: any non-empty value")
        if not all(value):
            raise ListError("values must not be empty.")


@frozen
class AnyCase:
    """One of a few words, whatever the case of their letters."""

    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words."""
        return f"(case insensitive) [{', '.join(self.words)}]"

    def __call__(self, value: object) -> None:
        """Refuses any other word."""
        if not isinstance(value, str) or value.upper() not in self.words:
            raise ValueError(f"String must be one of (case insensitive): {', '.join(self.words)}")
