"""From a node's settings to those of its broker's parts."""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from ottla.broker.adapters.leader_endpoint import Follower
from ottla.broker.config.keys.quota import DYNAMIC_QUOTA_KEYS
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.lifecycle import LifecycleSettings
from ottla.replication.follower.throttle import ThrottleLimits
from ottla.replication.settings import ReplicationSettings
from ottla.storage.cleaner.cleaner_config import CLEANER_CONFIG_KEYS

_REPLICATION_NAMES: Final = {field.name: field.name.replace("_", ".") for field in fields(ReplicationSettings)}
REPLICATION_KEYS: Final = tuple(_REPLICATION_NAMES.values())
"""The keys that `replication_settings` reads."""
CLEANER_KEYS: Final = tuple(CLEANER_CONFIG_KEYS)
"""The log cleaner's keys."""
CHECK_KEYS: Final = ("num.io.threads",)
"""The key that `check_threads` reads."""


def check_threads(config: ServerConfig) -> int:
    """How many threads check batches: no more than there are cores, which they keep busy."""
    return min(config.integer("num.io.threads"), os.cpu_count() or 1)


def replication_settings(config: ServerConfig) -> ReplicationSettings:
    """The settings of replication; each field has its key's name."""
    values: dict[str, Any] = {field: config[key] for field, key in _REPLICATION_NAMES.items()}
    values["cordoned_log_dirs"] = frozenset(config.strings("cordoned.log.dirs"))
    return ReplicationSettings(**values)


def throttle_limits(configs: Mapping[str, str]) -> ThrottleLimits:
    """The limits of replication, of the dynamic configs that count."""
    given = {name: text for name, text in configs.items() if name in DYNAMIC_QUOTA_KEYS}
    values: dict[str, Any] = {
        name.replace(".", "_"): value for name, value in DYNAMIC_QUOTA_KEYS.parse(given).values.items()
    }
    return ThrottleLimits(**values)


def follower(config: ServerConfig, broker_epoch: Callable[[], int]) -> Follower:
    """The settings of this broker's fetches from others."""
    return Follower(
        node_id=config.node_id,
        broker_epoch=broker_epoch,
        socket_timeout_ms=config.integer("replica.socket.timeout.ms"),
        fetch_wait_max_ms=config.integer("replica.fetch.wait.max.ms"),
        fetch_min_bytes=config.integer("replica.fetch.min.bytes"),
        fetch_response_max_bytes=config.integer("replica.fetch.response.max.bytes"),
        fetch_max_bytes=config.integer("replica.fetch.max.bytes"),
    )


def lifecycle_settings(config: ServerConfig) -> LifecycleSettings:
    """The intervals of the broker's heartbeats."""
    return LifecycleSettings(
        heartbeat_interval_ms=config.integer("broker.heartbeat.interval.ms"),
        session_timeout_ms=config.integer("broker.session.timeout.ms"),
        registration_timeout_ms=config.integer("initial.broker.registration.timeout.ms"),
        directory_failure_timeout_ms=config.integer("log.dir.failure.timeout.ms"),
    )
