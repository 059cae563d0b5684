"""The parts of a broker, passed to every handler: one object instead of a dozen arguments or a global.

It owns nothing and decides nothing; `broker.node` builds it once and everything in it lives as long as the broker.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from ottla.base.clock import Clock
    from ottla.base.metric import MetricRegistry
    from ottla.broker.batch_check import BatchChecks
    from ottla.broker.config.dynamic_config import DynamicConfig
    from ottla.broker.config.schema import BrokerConfigSchema
    from ottla.broker.config.server_config import ServerConfig
    from ottla.broker.coordinator_host.coordinator_setup import Coordinators
    from ottla.broker.coordinator_host.producer_id_source import ProducerIdSource
    from ottla.broker.node.topic_metric import TopicMetrics
    from ottla.broker.quorum.controller_channel import ControllerChannel
    from ottla.broker.request.api_versions_answer import ApiVersionsAnswer
    from ottla.broker.request.fetch_session import FetchSessionCache
    from ottla.broker.request.metadata.auto_topic import AutoTopicCreator
    from ottla.broker.request.metadata.metadata_cache import MetadataCache
    from ottla.broker.request.telemetry.client_metrics import ClientMetrics
    from ottla.replication.replica_manager import ReplicaManager
    from ottla.storage.log_manager import LogManager


@dataclass(slots=True)
class BrokerParts:
    """The parts of one broker."""

    node_id: int
    cluster_id: str
    config: "ServerConfig"
    clock: "Clock"
    loop: "asyncio.AbstractEventLoop"
    replicas: "ReplicaManager"
    checks: "BatchChecks"
    logs: "LogManager"
    metadata: "MetadataCache"
    controller: "ControllerChannel"
    dynamic: "DynamicConfig"
    schema: "BrokerConfigSchema"
    producer_ids: "ProducerIdSource"
    metrics: "MetricRegistry"
    topic_metrics: "TopicMetrics"
    auto_topics: "AutoTopicCreator"
    client_metrics: "ClientMetrics"
    coordinators: "Coordinators"
    api_versions: "ApiVersionsAnswer"
    fetch_sessions: "FetchSessionCache"
    kraft_version: Callable[[], int]
    """The quorum's finalized kraft.version, which the image does not hold."""
