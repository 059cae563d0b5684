"""The settings of a client metrics subscription (KIP-714): which metrics, how often, from which clients."""

from typing import Final

from ottla.base.config import ConfigKey, ConfigKeys, Dynamic, Scope
from ottla.base.config.check import Check
from ottla.base.config.declaration import INT, LIST, Items
from ottla.base.config_type import ConfigType

MATCH_NAMES: Final = frozenset({
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
})  # fmt: skip
"""The attributes that `match` can use."""
INTERVAL_MS_MIN: Final = 100
INTERVAL_MS_MAX: Final = 3_600_000


def _client(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    return ConfigKey(name, kind, default, check=check, doc=doc, scope=Scope.CLIENT, dynamic=Dynamic.CLUSTER_WIDE)


CLIENT_METRIC_KEYS: Final = ConfigKeys((
    _client("metrics", LIST, (), Items(), "Beginnings of the names of metrics that are wanted; `*` for all."),
    _client("interval.ms", INT, 300_000, None, "Time between two pushes, 100 ms to an hour."),
    _client("match", LIST, (), Items(), "Clients that are meant: `name=regular expression`, separated by commas."),
))  # fmt: skip
