"""The parts of a controller, passed to every handler of the controller listener.

It owns nothing and decides nothing; `controller_role` builds it once and everything in it lives as long as the node.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from ottla.base.clock import Clock
    from ottla.base.metric import MetricRegistry
    from ottla.broker.config.dynamic_config import DynamicConfig
    from ottla.broker.config.schema import BrokerConfigSchema
    from ottla.broker.config.server_config import ServerConfig
    from ottla.broker.quorum.controller_driver import ControllerDriver
    from ottla.broker.quorum.metadata_publisher import MetadataPublisher
    from ottla.broker.quorum.raft_driver import RaftDriver
    from ottla.broker.quota.mutation_quota import MutationQuotas
    from ottla.broker.request.api_versions_answer import ApiVersionsAnswer
    from ottla.broker.request.pipeline import Pipeline


@dataclass(slots=True)
class ControllerParts:
    """The parts of one controller."""

    node_id: int
    cluster_id: str
    config: "ServerConfig"
    clock: "Clock"
    loop: "asyncio.AbstractEventLoop"
    raft: "RaftDriver"
    controller: "ControllerDriver"
    metadata: "MetadataPublisher"
    """Has the newest image."""
    dynamic: "DynamicConfig"
    schema: "BrokerConfigSchema"
    metrics: "MetricRegistry"
    api_versions: "ApiVersionsAnswer"
    mutation_quotas: "MutationQuotas"
    pipeline: "Pipeline | None" = None
    """The pipeline of the controller listener, to which the Envelope handler passes the inner request."""
