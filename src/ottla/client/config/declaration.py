"""Short forms of `ConfigKey` for the subject modules beside this one, and the checks that only clients need."""

from typing import Final

from ottla.base.config import ConfigKey, Scope
from ottla.base.config_check import Check
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
MINUTE_MS: Final = 60_000


def key(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that Kafka's clients have, too."""
    return ConfigKey(name, kind, default, check=check, doc=doc, scope=Scope.CLIENT)


def ours(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that Apache Kafka does not have."""
    return ConfigKey(name, kind, default, check=check, doc=doc, scope=Scope.CLIENT, extension=True)


@frozen
class AnyCase:
    """One of a few words, whatever the case of their letters."""

    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The allowed words, as an error lists them."""
        return f"(case insensitive) [{', '.join(self.words)}]"

    def __call__(self, value: object) -> None:
        """Refuses any other word."""
        if not isinstance(value, str) or value.upper() not in self.words:
            raise ValueError(f"String must be one of (case insensitive): {', '.join(self.words)}")


@frozen
class Nothing:
    """No value at all: a setting of Java's that would be dangerous to accept without acting on it."""

    reason: str
    text: str = "[]"

    def __call__(self, value: object) -> None:
        """Refuses any value."""
        if value:
            raise ValueError(f"not supported: {self.reason}")


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
            raise ValueError("must not be empty")
        if not all(value):
            raise ValueError("values must not be empty")
