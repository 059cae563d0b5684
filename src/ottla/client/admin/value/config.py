"""Configs of topics, brokers, groups and the rest, with where their values come from."""

from enum import IntEnum
from typing import NamedTuple

from ottla.protocol.config_source import ConfigSource

__all__ = [
    "AlterConfigOp",
    "AlterConfigOpType",
    "ConfigEntry",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigType",
]


class ConfigResourceType(IntEnum):
    """The kinds of resource that have configs."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigType(IntEnum):
    """The type of a config's value."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9

    @classmethod
    def _missing_(cls, value: object) -> "ConfigType":
        return cls.UNKNOWN


class AlterConfigOpType(IntEnum):
    """The ways to change a config; the last two are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigResource(NamedTuple):
    """One thing with configs. The empty name of a broker stands for the default of all brokers."""

    type: ConfigResourceType
    name: str


class ConfigSynonym(NamedTuple):
    """One of the places where a value could come from, the strongest first."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """A config and its value, which is None for secrets."""

    name: str
    value: str | None
    source: ConfigSource
    is_sensitive: bool
    is_read_only: bool
    synonyms: tuple[ConfigSynonym, ...] = ()
    type: ConfigType = ConfigType.UNKNOWN
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        """Whether the value is the default."""
        return self.source is ConfigSource.DEFAULT_CONFIG


class AlterConfigOp(NamedTuple):
    """One change of one config."""

    name: str
    value: str | None = None
    op_type: AlterConfigOpType = AlterConfigOpType.SET
