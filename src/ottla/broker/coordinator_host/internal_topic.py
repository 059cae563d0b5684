"""The topics that the broker keeps for itself, and the settings they are created with.

Clients see them flagged as internal. They are made when they are first needed, each with partitions, replicas and
configs of its own (`offsets.topic.*`, `transaction.state.log.*`, `share.coordinator.state.topic.*`).
"""

from collections.abc import Callable, Mapping
from typing import Final

from ottla.broker.config.server_config import ServerConfig
from ottla.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig

CONSUMER_OFFSETS: Final = "__consumer_offsets"
TRANSACTION_STATE: Final = "__transaction_state"
SHARE_GROUP_STATE: Final = "__share_group_state"


def is_internal(topic: str) -> bool:
    """Whether the topic is one of the broker's own.

    >>> is_internal("__consumer_offsets"), is_internal("__cluster_metadata")
    (True, False)
    """
    return topic in _MAKERS


def internal_topic(name: str, config: ServerConfig) -> CreatableTopic:
    """The request to create an internal topic."""
    return _MAKERS[name](config)


def _consumer_offsets(config: ServerConfig) -> CreatableTopic:
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": str(config.integer("offsets.topic.segment.bytes")),
    }
    partitions = config.integer("offsets.topic.num.partitions")
    return _topic(CONSUMER_OFFSETS, partitions, config.integer("offsets.topic.replication.factor"), configs)


def _transaction_state(config: ServerConfig) -> CreatableTopic:
    configs = {
        # What a coordinator was told is committed must outlive any leader.
        "unclean.leader.election.enable": "false",
        "compression.type": "uncompressed",
        "cleanup.policy": "compact",
        "min.insync.replicas": str(config.integer("transaction.state.log.min.isr")),
        "segment.bytes": str(config.integer("transaction.state.log.segment.bytes")),
    }
    partitions = config.integer("transaction.state.log.num.partitions")
    return _topic(TRANSACTION_STATE, partitions, config.integer("transaction.state.log.replication.factor"), configs)


def _share_group_state(config: ServerConfig) -> CreatableTopic:
    prefix = "share.coordinator.state.topic"
    configs = {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "segment.bytes": str(config.integer(f"{prefix}.segment.bytes")),
        "min.insync.replicas": str(config.integer(f"{prefix}.min.isr")),
        # The coordinator deletes what it no longer needs, by offset.
        "retention.ms": "-1",
    }
    partitions = config.integer(f"{prefix}.num.partitions")
    return _topic(SHARE_GROUP_STATE, partitions, config.integer(f"{prefix}.replication.factor"), configs)


def _topic(name: str, partitions: int, replicas: int, configs: Mapping[str, str]) -> CreatableTopic:
    entries = [CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas, configs=entries)


_MAKERS: Final[Mapping[str, Callable[[ServerConfig], CreatableTopic]]] = {
    CONSUMER_OFFSETS: _consumer_offsets,
    TRANSACTION_STATE: _transaction_state,
    SHARE_GROUP_STATE: _share_group_state,
}
