"""The rules about several of a topic's configs together, with this node's defaults and Kafka's sentences."""

from collections.abc import Mapping
from typing import Final

from ottla.base.config import ConfigError
from ottla.broker.config.conflict import ConfigConflictError
from ottla.broker.config.server_config import ServerConfig
from ottla.storage.log_config import LogConfig
from ottla.storage.log_config_keys import LOCAL_RETENTION_FOLLOWS, LOG_CONFIG_KEYS

_ENABLE: Final = "remote.storage.enable"
_LIMITS: Final = ("bytes", "ms")


def check_topic_configs(configs: Mapping[str, str], existing: Mapping[str, str], config: ServerConfig) -> None:
    """Raises a `ConfigError` if a topic whose configs are `existing` may not have `configs` instead."""
    values = _values(configs, config.default_log_config)
    lag_min, lag_max = _integer(values, "min.compaction.lag.ms"), _integer(values, "max.compaction.lag.ms")
    if lag_min > lag_max:
        raise ConfigConflictError(
            "min.compaction.lag.ms",
            f"conflict topic config setting min.compaction.lag.ms ({lag_min}) > max.compaction.lag.ms ({lag_max})",
        )
    if values[_ENABLE]:
        _check_remote(values, config)
    elif existing.get(_ENABLE, "false").strip().lower() == "true" and not values["remote.log.delete.on.disable"]:
        raise ConfigConflictError(
            _ENABLE,
            "It is invalid to disable remote storage without deleting remote data. If you want to keep the remote data "
            "and turn to read only, please set `remote.storage.enable=true,remote.log.copy.disable=true`. If you want "
            "to disable remote storage and delete all remote data, please set "
            "`remote.storage.enable=false,remote.log.delete.on.disable=true`.",
        )


def _values(configs: Mapping[str, str], defaults: LogConfig) -> dict[str, object]:
    values: dict[str, object] = {
        name: getattr(defaults, name.replace(".", "_")) for name, key in LOG_CONFIG_KEYS.items() if not key.internal
    }
    return values | {name: LOG_CONFIG_KEYS[name].parse(text) for name, text in configs.items()}


def _integer(values: Mapping[str, object], name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value


def _check_remote(values: Mapping[str, object], config: ServerConfig) -> None:
    if not config.boolean("remote.log.storage.system.enable"):
        raise ConfigConflictError(
            _ENABLE,
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log "
            "storage.",
        )
    policy = values["cleanup.policy"]
    assert isinstance(policy, (tuple, frozenset))
    if set(policy) - {"delete"}:
        raise ConfigConflictError(
            "cleanup.policy",
            "Remote log storage only supports topics with cleanup.policy=delete or cleanup.policy being an empty list.",
        )
    for unit in _LIMITS:
        _check_local(values, unit)
    if values["remote.log.copy.disable"]:
        for unit in _LIMITS:
            _check_read_only(values, unit)


def _check_local(values: Mapping[str, object], unit: str) -> None:
    name, whole = f"local.retention.{unit}", f"retention.{unit}"
    local, total = _integer(values, name), _integer(values, whole)
    if total == -1 or local == LOCAL_RETENTION_FOLLOWS:
        return
    if local == -1:
        raise ConfigError(name, local, f"Value must not be -1 as {whole} value is set as {total}.")
    if local > total:
        raise ConfigError(name, local, f"Value must not be more than {whole} property value: {total}")


def _check_read_only(values: Mapping[str, object], unit: str) -> None:
    name, whole = f"local.retention.{unit}", f"retention.{unit}"
    local = _integer(values, name)
    if local not in (LOCAL_RETENTION_FOLLOWS, _integer(values, whole)):
        raise ConfigConflictError(
            name,
            f"When `remote.log.copy.disable` is set to true, the `{name}` and `{whole}` must be set to the identical "
            "value because there will be no more logs copied to the remote storage.",
        )
