"""The broker settings that storage owns: where logs live, how they are loaded and looked after, and topic defaults.

A topic's setting that is not given comes from here (`log.retention.hours` for `retention.ms`); `default_log_config`
works that out from the synonyms that `log_config_keys` names.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ottla.base.config import ConfigKey, ConfigKeys, Dynamic, scaled
from ottla.base.config.check import Check, OneOf, Range
from ottla.base.config_type import ConfigType
from ottla.storage.log_config import DEFAULT_LOG_CONFIG, LogConfig, field_name
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS, LONG_MAX

_BOOLEAN, _LIST = ConfigType.BOOLEAN, ConfigType.LIST
_INT, _LONG = ConfigType.INT, ConfigType.LONG


def _key(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    return ConfigKey(name, kind, default, doc=doc, check=check)


def _dynamic(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    return ConfigKey(name, kind, default, doc=doc, check=check, dynamic=Dynamic.CLUSTER_WIDE)


_DIRECTORY_KEYS: Final = (
    _key("log.dir", _LIST, ("/tmp/kafka-logs",), None, "Where logs live, when `log.dirs` is not given."),
    _key("log.dirs", _LIST, None, None, "Directories that hold the logs, best one per disk; absent: `log.dir`."),
    ConfigKey("log.append.thread", ConfigType.STRING, "auto", check=OneOf("auto", "always"), extension=True,
              doc="Which thread appends to logs. `auto`: the loop, and a thread of each directory while its disk is "
                  "slow. `always`: that thread, so that a disk which hangs never holds the loop in a write that it has "
                  "begun; each request takes longer then."),
    _dynamic("cordoned.log.dirs", _LIST, (), None, "Directories that take no new partitions; `*` means all."),
    _dynamic("num.recovery.threads.per.data.dir", _INT, 2, Range(1),
             "Threads per directory that load logs at the start and flush them at the end."),
    _key("log.dir.failure.timeout.ms", _LONG, 30_000, Range(1),
         "How long a broker that cannot report a failed directory to the controller goes on."),
)  # fmt: skip

_PERIOD_KEYS: Final = (
    _key("log.retention.check.interval.ms", _LONG, 300_000, Range(1), "Time between two looks for deletable segments."),
    _key("log.flush.scheduler.interval.ms", _LONG, LONG_MAX, None, "Time between two looks for logs due for a flush."),
    _key("log.flush.offset.checkpoint.interval.ms", _INT, 60_000, Range(0),
         "Time between two writes of the recovery points."),
    _key("log.flush.start.offset.checkpoint.interval.ms", _INT, 60_000, Range(0),
         "Time between two writes of the log start offsets."),
    ConfigKey("log.initial.task.delay.ms", _LONG, 30_000, check=Range(0), internal=True,
              doc="Time from the start to the first of these tasks."),
)  # fmt: skip

_TIME_KEYS: Final = (
    _dynamic("log.roll.ms", _LONG, None, None, "Default of `segment.ms`."),
    _key("log.roll.hours", _INT, 168, Range(1), "Default of `segment.ms` in hours, when `log.roll.ms` is absent."),
    _dynamic("log.roll.jitter.ms", _LONG, None, None, "Default of `segment.jitter.ms`."),
    _key("log.roll.jitter.hours", _INT, 0, Range(0), "Default of `segment.jitter.ms` in hours, when in ms is absent."),
    _dynamic("log.retention.ms", _LONG, None, None, "Default of `retention.ms`."),
    _key("log.retention.minutes", _INT, None, None, "Default of `retention.ms` in minutes, when in ms is absent."),
    _key("log.retention.hours", _INT, 168, None, "Default of `retention.ms` in hours, when the finer ones are absent."),
    _dynamic("log.flush.interval.ms", _LONG, None, None,
             "Default of `flush.ms`; absent: `log.flush.scheduler.interval.ms`."),
)  # fmt: skip


def _defaults_of_topics(declared: frozenset[str]) -> list[ConfigKey]:
    """A broker key for each topic key whose first synonym is not declared above: same type, limits and default."""
    return [
        ConfigKey(
            key.synonyms[0].name,
            key.type,
            key.default,
            doc=f"Default of `{key.name}`.",
            check=key.check,
            dynamic=Dynamic.CLUSTER_WIDE,
            extension=key.extension,
        )
        for key in LOG_CONFIG_KEYS.values()
        if key.synonyms and key.synonyms[0].name not in declared
    ]


_OWN_KEYS: Final = (*_DIRECTORY_KEYS, *_PERIOD_KEYS, *_TIME_KEYS)

BROKER_LOG_CONFIG_KEYS: Final = ConfigKeys((*_OWN_KEYS, *_defaults_of_topics(frozenset(key.name for key in _OWN_KEYS))))
"""Every broker setting of storage but the cleaner's."""


def default_log_config(values: Mapping[str, object]) -> LogConfig:
    """The topic settings that the broker's parsed `values` make the default.

    >>> default_log_config(BROKER_LOG_CONFIG_KEYS.parse({"log.retention.minutes": "10"}).values).retention_ms
    600000
    """
    found: dict[str, object] = {}
    for key in LOG_CONFIG_KEYS.values():
        for synonym in key.synonyms:
            value = values.get(synonym.name)
            if value is not None:
                converted = scaled(value, synonym)
                found[field_name(key.name)] = frozenset(converted) if isinstance(converted, tuple) else converted
                break
    config = replace(DEFAULT_LOG_CONFIG, **found)  # type: ignore[arg-type]
    # Of a broker any negative time means that nothing is too old; of a topic only -1 does.
    return config if config.retention_ms >= 0 else replace(config, retention_ms=-1)


def log_directories(values: Mapping[str, object]) -> tuple[str, ...]:
    """The directories that the parsed `values` name."""
    directories = values["log.dirs"] or values["log.dir"]
    assert isinstance(directories, tuple)
    return directories
