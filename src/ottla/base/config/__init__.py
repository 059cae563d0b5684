"""Settings: each declared once by the package that owns it, under Kafka's dotted name; see `key`."""

from ottla.base.config.key import (
    REQUIRED,
    ConfigError,
    ConfigKey,
    ConfigKeys,
    Dynamic,
    ListConfigError,
    ParsedConfig,
    Scope,
    Synonym,
    UnknownKey,
    scaled,
)

__all__ = [
    "REQUIRED",
    "ConfigError",
    "ConfigKey",
    "ConfigKeys",
    "Dynamic",
    "ListConfigError",
    "ParsedConfig",
    "Scope",
    "Synonym",
    "UnknownKey",
    "scaled",
]
