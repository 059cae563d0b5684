"""Names the present leader to a client in the answer that turned it away (KIP-951).

Saves the client a Metadata request. Produce has the field from v10, Fetch from v16.
"""

from typing import NamedTuple

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext


class LeaderIdAndEpoch(NamedTuple):
    """Both -1 if the partition has no known leader."""

    leader_id: int
    leader_epoch: int


class LeaderEndpoint(NamedTuple):
    """A live broker as the client can reach it."""

    node_id: int
    host: str
    port: int
    rack: str | None


class CurrentLeaders:
    """The leaders that one answer names."""

    def __init__(self, parts: BrokerParts, context: RequestContext) -> None:
        self._parts = parts
        self._context = context
        self._endpoints: dict[int, LeaderEndpoint] = {}

    def of(self, topic: str, index: int) -> LeaderIdAndEpoch:
        """The leader of a partition; its address is in `endpoints` from now on, if it is alive."""
        hosted = self._parts.replicas.get(topic, index)
        if hosted is not None:
            leader = LeaderIdAndEpoch(hosted.leader_id, hosted.leader_epoch)
        else:
            partition = self._parts.metadata.partition(topic, index)
            if partition is None:
                return LeaderIdAndEpoch(-1, -1)
            leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
        self._add_endpoint(leader.leader_id)
        return leader

    @property
    def endpoints(self) -> list[LeaderEndpoint]:
        """The live brokers among the leaders that were asked for."""
        return list(self._endpoints.values())

    def _add_endpoint(self, broker_id: int) -> None:
        metadata, context = self._parts.metadata, self._context
        address = metadata.endpoint(broker_id, context.listener, context.connection)
        if address is not None:
            rack = metadata.view(context.listener).alive[broker_id].rack
            self._endpoints[broker_id] = LeaderEndpoint(broker_id, address[0], address[1], rack)
