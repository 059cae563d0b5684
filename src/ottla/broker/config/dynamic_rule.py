"""Which settings may be changed while nodes run, at which level, and what such changes amount to (KIP-226).

The cluster's dynamic configs lie over the file, a broker's own lie over those. Names that no key has are accepted:
they may be meant for plugins, or for a node of another release.

Worked example: the file says `log.retention.hours=1`, the cluster `log.retention.ms=5`. The two are synonyms, so the
file's is taken out: what remains is `log.retention.ms=5`, and it would be the same the other way round.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from ottla.base.config import ConfigError, ConfigKey, Dynamic
from ottla.broker.config.conflict import ConfigConflictError
from ottla.broker.config.keys.security.tls import LISTENER_ONLY_KEYS
from ottla.broker.config.keys.server import DYNAMIC_KEYS, SERVER_KEYS
from ottla.broker.config.limit import KINDS
from ottla.broker.config.name import base_name, log_synonyms
from ottla.broker.config.server_config import ServerConfig
from ottla.storage.log_config_keys import LOCAL_RETENTION_FOLLOWS

_CLUSTER_LISTENER_KEYS: Final = frozenset({"max.connections", "max.connection.creation.rate", "num.network.threads"})
"""Keys that make sense for a listener of all brokers."""


_CLEANER_THREADS: Final = "log.cleaner.threads"
_THREAD_KEYS: Final = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)
_ASSIGNMENT_INTERVALS: Final = tuple(f"group.{kind}.assignment.interval.ms" for kind in KINDS)


class Level(Enum):
    """Whose dynamic configs are meant."""

    BROKER = "broker"
    CLUSTER = "default cluster"


def check_change(configs: Mapping[str, str], level: Level) -> None:
    """Raises a `ConfigError` if `configs` may not be set at that level, with Kafka's sentence."""
    for names, sentence in (
        (_fixed(configs), "Cannot update these configs dynamically"),
        (
            LISTENER_ONLY_KEYS.intersection(configs),
            "These security configs can be dynamically updated only per-listener using the listener prefix",
        ),
    ):
        if names:
            raise ConfigConflictError(min(names), f"{sentence}: {_shown(names)}")
    for name, text in configs.items():
        check_value(name, text)
    single = _per_broker(configs) if level is Level.CLUSTER else frozenset()
    if single:
        sentence = "Cannot update these configs at default cluster level, broker id must be specified"
        raise ConfigConflictError(min(single), f"{sentence}: {_shown(single)}")


def check_value(name: str, text: str) -> None:
    """Raises a `ConfigError` if a dynamic config's value is not of its key's type or fails its check."""
    key = dynamic_key(name)
    if key is not None:
        key.parse(text)


def dynamic_key(name: str) -> ConfigKey | None:
    """The key that a dynamic config is about, with or without a listener's prefix."""
    return DYNAMIC_KEYS.get(base_name(name) or name)


def applicable(configs: Mapping[str, str], level: Level) -> tuple[dict[str, str], list[str]]:
    """The valid part of the stored `configs`, and sentences on the rest, which an old release may have accepted."""
    kept, ignored = dict(configs), []
    single = _per_broker(configs) if level is Level.CLUSTER else frozenset()
    for names, sentence in (
        (frozenset(name for name, text in configs.items() if not _is_valid(name, text)),
         f"Dynamic {level.value} config contains invalid values, these configs will be ignored"),
        (_fixed(configs), "Non-dynamic configs will be ignored"),
        (LISTENER_ONLY_KEYS.intersection(configs),
         "Security configs can be dynamically updated only using listener prefix, base configs will be ignored"),
        (single, "Per-broker configs defined at default cluster level will be ignored"),
    ):  # fmt: skip
        if names:
            ignored.append(f"{sentence}: {_shown(names)}")
        for name in names:
            kept.pop(name, None)
    return kept, ignored


def overlaid(given: Mapping[str, str], *layers: Mapping[str, str]) -> dict[str, str]:
    """`given` with `layers` on top: a layer's config takes out the synonyms of those below.

    >>> overlaid({"log.retention.hours": "1", "node.id": "1"}, {"log.retention.ms": "5"})
    {'node.id': '1', 'log.retention.ms': '5'}
    """
    merged = dict(given)
    for layer in layers:
        for name, text in layer.items():
            for synonym in log_synonyms(name):
                merged.pop(synonym, None)
            merged[name] = text
    return merged


def clamped(configs: Mapping[str, str]) -> dict[str, str]:
    """`configs` with assignment intervals put within their limits: a limit may have changed since they were set."""
    kept = dict(configs)
    for name in _ASSIGNMENT_INTERVALS:
        if name in configs:
            low, high = (
                _integer(name.replace("assignment", f"{bound}.assignment"), configs) for bound in ("min", "max")
            )
            kept[name] = str(min(max(_integer(name, configs), low), high))
    return kept


def check_step(before: ServerConfig, after: ServerConfig) -> None:
    """Raises a `ConfigError` for a change that each value alone would allow, in the words that Kafka wraps it in."""
    try:
        _check_threads(before, after)
        _check_cleaner_threads(before, after)
        _check_local_retention(after)
    except ConfigError as error:
        wrapped = f"org.apache.kafka.common.config.ConfigException: {error}"
        raise ConfigConflictError(
            error.key, f"Invalid value {wrapped} for configuration Invalid dynamic configuration"
        ) from error


def _check_threads(before: ServerConfig, after: ServerConfig) -> None:
    for name in _THREAD_KEYS:
        old, new = before.integer(name), after.integer(name)
        if not old // 2 <= new <= old * 2:
            limit = "at least half" if new < old else "not be greater than double"
            raise ConfigConflictError(
                name,
                f"Dynamic thread count update validation failed for {name}={new}, value should "
                f"{'be ' if new < old else ''}{limit} the current value {old}",
            )


def _check_cleaner_threads(before: ServerConfig, after: ServerConfig) -> None:
    old, new = before.integer(_CLEANER_THREADS), after.integer(_CLEANER_THREADS)
    if new < old // 2:
        change = "reduced to less than half"
    elif new > old * 2:
        change = "increased to more than double"
    else:
        return
    raise ConfigConflictError(_CLEANER_THREADS, f"Log cleaner threads cannot be {change} the current value {old}")


def _check_local_retention(after: ServerConfig) -> None:
    logs = after.default_log_config
    for unit, local, total in (
        ("ms", logs.local_retention_ms, logs.retention_ms),
        ("bytes", logs.local_retention_bytes, logs.retention_bytes),
    ):
        name = f"log.local.retention.{unit}"
        if total == -1 or local == LOCAL_RETENTION_FOLLOWS:
            continue
        if local == -1:
            raise ConfigError(name, local, f"Value must not be -1 as log.retention.{unit} value is set as {total}.")
        if local > total:
            raise ConfigError(name, local, f"Value must not be more than log.retention.{unit} property value: {total}")


def _integer(name: str, configs: Mapping[str, str]) -> int:
    key = SERVER_KEYS[name]
    value = key.parse(configs[name]) if name in configs else key.default
    assert isinstance(value, int)
    return value


def _is_valid(name: str, text: str) -> bool:
    try:
        check_value(name, text)
    except ConfigError:
        return False
    return True


def _fixed(configs: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in configs if name in SERVER_KEYS and name not in DYNAMIC_KEYS)


def _per_broker(configs: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in configs if _is_per_broker(name))


def _is_per_broker(name: str) -> bool:
    base = base_name(name)
    if base is not None:
        return base not in _CLUSTER_LISTENER_KEYS
    return name in DYNAMIC_KEYS and DYNAMIC_KEYS[name].dynamic is Dynamic.PER_BROKER


def _shown(names: Iterable[str]) -> str:
    return f"[{', '.join(sorted(names))}]"
