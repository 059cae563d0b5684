"""Settings: each declared once by the package that owns it, under Kafka's dotted name.

A `ConfigKey` is the declaration (name, type, default, prose, scope, limits, synonyms); `ConfigKeys` is an owner's set.
From the one declaration come parsing, validation, the text of DescribeConfigs, live changes and the reference
page. Nothing here is global: sets are plain values, joined with `|` where the keys of several owners are needed.

Invariant: a value that `parse` returns has the key's type and passed its check, or is the declared default.
"""

import difflib
import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final

from ottla.base.config.check import Check, ItemError, ListError
from ottla.base.config_type import ConfigType
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen


class ConfigError(OttlaError):
    """A setting that cannot be used: `key`, `value` (`***` for secrets) and `reason` say which and why."""

    def __init__(self, key: str, value: object, reason: str) -> None:
        super().__init__(f"Invalid value {value} for configuration {key}: {reason}")
        self.key = key
        self.value = value
        self.reason = reason


class ListConfigError(ConfigError):
    """A list that is not allowed as a whole; its items are not repeated."""

    def __init__(self, key: str, value: object, reason: str) -> None:
        super().__init__(key, value, reason)
        self.args = (f"Configuration '{key}' {reason}",)


class Scope(enum.Enum):
    """The scope of a setting."""

    BROKER = "broker"
    TOPIC = "topic"
    GROUP = "group"
    CLIENT = "client"


class Dynamic(enum.Enum):
    """Whether and how a setting may change while the process runs."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Required(enum.Enum):
    """The type of `REQUIRED`, the default of a setting that has none and must be given."""

    REQUIRED = enum.auto()


REQUIRED: Final = Required.REQUIRED


@frozen
class Synonym:
    """Another name that provides a setting's value, `scale` times smaller (hours for a setting in milliseconds)."""

    name: str
    scale: int = 1


@frozen
class ConfigKey:
    """One setting.

    >>> from ottla.base.config.check import Range
    >>> segment = ConfigKey("segment.bytes", ConfigType.INT, 1 << 30, doc="Size at which a segment is rolled.",
    ...                     scope=Scope.TOPIC, dynamic=Dynamic.CLUSTER_WIDE, check=Range(1 << 20))
    >>> segment.parse("2097152")
    2097152
    >>> segment.parse("10")
    Traceback (most recent call last):
    ottla.base.config.key.ConfigError: Invalid value 10 for configuration segment.bytes: Value must be at least 1048576
    """

    name: str
    type: ConfigType
    default: object = REQUIRED
    doc: str = field(default="", kw_only=True)
    scope: Scope = field(default=Scope.BROKER, kw_only=True)
    dynamic: Dynamic = field(default=Dynamic.READ_ONLY, kw_only=True)
    check: Check | None = field(default=None, kw_only=True)
    synonyms: tuple[Synonym, ...] = field(default=(), kw_only=True)
    """Names that stand in when this one is absent, the first present wins."""
    internal: bool = field(default=False, kw_only=True)
    """Accepted but not described: a handle for tests."""
    extension: bool = field(default=False, kw_only=True)
    """Ours: Apache Kafka does not know the name."""

    def parse(self, raw: object) -> object:
        """The checked value that `raw` stands for; `ConfigError` if it stands for none."""
        if raw is None:
            if self.default is not None:
                raise ConfigError(self.name, None, "entry must be non null")
            return None
        shown = raw
        try:
            value = self.type.parse(raw)
            # What was understood is shown as such: without spaces around it, a list in brackets.
            shown = f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else value
            if self.check is not None:
                self.check(value)
        except ListError as error:
            raise ListConfigError(self.name, shown, str(error)) from None
        except ValueError as error:
            shown = error.item if isinstance(error, ItemError) else shown
            raise ConfigError(self.name, "***" if self.type is ConfigType.PASSWORD else shown, str(error)) from None
        return value

    def render(self, value: object) -> str | None:
        """`value` as DescribeConfigs shows it."""
        return self.type.render(value)


@frozen
class UnknownKey:
    """A name that no key has, with the declared one that looks most like it."""

    name: str
    nearest: str | None

    def __str__(self) -> str:
        hint = f" (did you mean {self.nearest}?)" if self.nearest else ""
        return f"unknown configuration {self.name}{hint}"


@frozen
class ParsedConfig:
    """The outcome of parsing: a value for every key, which of them were given, and what was not understood."""

    values: Mapping[str, object]
    given: frozenset[str]
    unknown: tuple[UnknownKey, ...]


class ConfigKeys(Mapping[str, ConfigKey]):
    """An owner's keys by name, in the order they were declared."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[ConfigKey]) -> None:
        declared: dict[str, ConfigKey] = {}
        for key in keys:
            if key.name in declared:
                raise ValueError(f"{key.name} is declared twice")
            declared[key.name] = key
        self._keys: Final = MappingProxyType(declared)

    def __getitem__(self, name: str) -> ConfigKey:
        return self._keys[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __or__(self, other: "ConfigKeys") -> "ConfigKeys":
        return ConfigKeys([*self.values(), *other.values()])

    def nearest(self, name: str) -> str | None:
        """The declared name most like `name`, None when nothing is close."""
        found = difflib.get_close_matches(name, [key.name for key in self.values() if not key.internal], n=1)
        return found[0] if found else None

    def parse(self, raw: Mapping[str, object]) -> ParsedConfig:
        """Values for all keys: given ones checked, absent ones from their synonyms, else their defaults."""
        values: dict[str, object] = {}
        for key in self.values():
            if key.name in raw:
                values[key.name] = key.parse(raw[key.name])
            elif key.default is REQUIRED:
                raise ConfigError(key.name, None, "Missing required configuration which has no default value.")
            else:
                values[key.name] = key.default
        for key in self.values():
            if key.name not in raw:
                values[key.name] = self._from_synonyms(key, raw, values)
        unknown = tuple(UnknownKey(name, self.nearest(name)) for name in raw if name not in self._keys)
        return ParsedConfig(MappingProxyType(values), frozenset(raw) & self._keys.keys(), unknown)

    def _from_synonyms(self, key: ConfigKey, raw: Mapping[str, object], values: dict[str, object]) -> object:
        """The value of the first synonym present; declared synonyms count with their own type and check."""
        for synonym in key.synonyms:
            if synonym.name in raw and synonym.name != key.name:
                value = values[synonym.name] if synonym.name in values else key.parse(raw[synonym.name])
                if value is not None:
                    return scaled(value, synonym)
        return values[key.name]


def scaled(value: object, synonym: Synonym) -> object:
    """A synonym's value in the unit of the key it stands for; -1 means the same in every unit.

    >>> scaled(168, Synonym("log.retention.hours", 3_600_000))
    604800000
    >>> scaled(-1, Synonym("log.retention.minutes", 60_000))
    -1
    """
    if synonym.scale == 1 or not isinstance(value, int) or value < 0:
        return value
    return value * synonym.scale
