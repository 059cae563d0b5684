"""All settings of a node: those of the modules beside this one and those that storage and the metadata log own."""

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from ottla.base.config import ConfigKeys, Dynamic
from ottla.broker.config.keys.connection import CONNECTION_KEYS
from ottla.broker.config.keys.group import GROUP_KEYS
from ottla.broker.config.keys.listener import LISTENER_KEYS
from ottla.broker.config.keys.metric import METRIC_KEYS
from ottla.broker.config.keys.node import NODE_KEYS
from ottla.broker.config.keys.quorum import QUORUM_KEYS
from ottla.broker.config.keys.quota import DYNAMIC_QUOTA_KEYS, QUOTA_KEYS
from ottla.broker.config.keys.remote_storage import REMOTE_STORAGE_KEYS
from ottla.broker.config.keys.replication import REPLICATION_KEYS
from ottla.broker.config.keys.security.oauth import OAUTH_KEYS
from ottla.broker.config.keys.security.sasl import SASL_KEYS
from ottla.broker.config.keys.security.security import SECURITY_KEYS
from ottla.broker.config.keys.security.tls import TLS_KEYS
from ottla.broker.config.keys.share_group import SHARE_GROUP_KEYS
from ottla.broker.config.keys.streams_group import STREAMS_GROUP_KEYS
from ottla.broker.config.keys.topic import TOPIC_KEYS
from ottla.broker.config.keys.transaction import TRANSACTION_KEYS
from ottla.metadata.store.metadata_log_config import METADATA_LOG_CONFIG_KEYS
from ottla.storage.broker_log_config import BROKER_LOG_CONFIG_KEYS
from ottla.storage.cleaner.cleaner_config import CLEANER_CONFIG_KEYS


class Subject(NamedTuple):
    """A chapter of the reference page."""

    title: str
    keys: ConfigKeys


def _log_keys() -> ConfigKeys:
    """Storage's keys. Which directories are cordoned is one broker's own matter: the others have other directories."""
    return ConfigKeys(
        replace(key, dynamic=Dynamic.PER_BROKER) if key.name == "cordoned.log.dirs" else key
        for key in BROKER_LOG_CONFIG_KEYS.values()
    )


SUBJECTS: Final = (
    Subject("Node", NODE_KEYS),
    Subject("Listeners", LISTENER_KEYS),
    Subject("Connections and requests", CONNECTION_KEYS),
    Subject("Quorum and metadata", QUORUM_KEYS | METADATA_LOG_CONFIG_KEYS),
    Subject("Topics", TOPIC_KEYS),
    Subject("Logs", _log_keys()),
    Subject("Log cleaner", CLEANER_CONFIG_KEYS),
    Subject("Replication", REPLICATION_KEYS),
    Subject("Groups", GROUP_KEYS),
    Subject("Share groups", SHARE_GROUP_KEYS),
    Subject("Streams groups", STREAMS_GROUP_KEYS),
    Subject("Transactions", TRANSACTION_KEYS),
    Subject("Quotas", QUOTA_KEYS),
    Subject("Metrics", METRIC_KEYS),
    Subject("Tiered storage", REMOTE_STORAGE_KEYS),
    Subject("Authorization and authentication", SECURITY_KEYS),
    Subject("TLS", TLS_KEYS),
    Subject("SASL", SASL_KEYS),
    Subject("OAuth", OAUTH_KEYS),
)

SERVER_KEYS: Final = reduce(or_, (subject.keys for subject in SUBJECTS))
"""Every setting that a file can have."""

DYNAMIC_KEYS: Final = ConfigKeys(
    key for key in (SERVER_KEYS | DYNAMIC_QUOTA_KEYS).values() if key.dynamic is not Dynamic.READ_ONLY
)
"""Every setting that can be changed while the node runs."""
