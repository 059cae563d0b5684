"""Which replica a consumer is told to read from: one in its own rack, if that has what it asks for (KIP-392).

Only leaders send consumers elsewhere, and only to followers that are in sync: one that lags could hold its readers back
for as long as it does. Leader 1 in rack a, in-sync followers 2 and 3 in rack b, at 90 and 100: a consumer in rack b
that wants offset 80 is sent to 3, one that wants 110 waits at the leader, and so does one in rack a or c.
"""

from typing import Final

from ottla.replication.partition.cluster_view import ClusterView
from ottla.replication.partition.partition import Partition
from ottla.replication.request.fetch import ClientMetadata

RACK_AWARE: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER_ONLY: Final = "org.apache.kafka.common.replica.LeaderSelector"
SELECTORS: Final = (RACK_AWARE, LEADER_ONLY)
"""The values of `replica.selector.class`."""
THE_LEADER: Final = -1


class RackAwareSelector:
    """Chooses by rack."""

    def __init__(self, view: ClusterView) -> None:
        self._view: Final = view

    def select(self, partition: Partition, client: ClientMetadata, offset: int) -> int:
        """The broker that the client should read from, or `THE_LEADER`."""
        leadership = partition.leadership
        if leadership is None or not client.rack_id or self._is_near(self._view.node_id, client):
            return THE_LEADER
        near = [
            follower
            for broker_id, follower in leadership.followers.items()
            if broker_id in leadership.isr.members
            and follower.log_start_offset <= offset <= follower.log_end_offset
            and self._is_near(broker_id, client)
        ]
        if not near:
            return THE_LEADER
        return max(near, key=lambda one: (one.log_end_offset, one.last_caught_up_ms, one.broker_id)).broker_id

    def _is_near(self, broker_id: int, client: ClientMetadata) -> bool:
        broker = self._view.cluster.brokers.get(broker_id)
        return (
            broker is not None
            and not broker.fenced
            and broker.rack == client.rack_id
            and any(endpoint.name == client.listener for endpoint in broker.listeners)
        )
