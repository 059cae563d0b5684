"""Short forms of `ConfigKey` for the subject modules beside this one, and the checks that only nodes need."""

from typing import Final

from ottla.base.config import ConfigKey, Dynamic
from ottla.base.config_check import Check, ListError
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


def fixed(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that is read once, when the node starts."""
    return ConfigKey(name, kind, default, check=check, doc=doc)


def per_broker(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that can be changed while the node runs, for this node alone."""
    return ConfigKey(name, kind, default, check=check, doc=doc, dynamic=Dynamic.PER_BROKER)


def cluster_wide(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that can be changed while the node runs, for one node or for all."""
    return ConfigKey(name, kind, default, check=check, doc=doc, dynamic=Dynamic.CLUSTER_WIDE)


def internal(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that is accepted but neither described nor documented by Kafka."""
    return ConfigKey(name, kind, default, check=check, doc=doc, internal=True)


def ours(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    """A setting that Apache Kafka does not have."""
    return ConfigKey(name, kind, default, check=check, doc=doc, extension=True)


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
