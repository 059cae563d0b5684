"""The view of the cluster for partitions: this broker's identity, and the eligible brokers.

One object for all partitions of a broker; its fields are replaced when the metadata or the settings change.
"""

from ottla.metadata.image.cluster import EMPTY_CLUSTER, ClusterImage


class ClusterView:
    """The cluster, from one broker's place in it."""

    __slots__ = ("cluster", "lag_time_max_ms", "node_id")

    def __init__(self, node_id: int, lag_time_max_ms: int) -> None:
        self.node_id = node_id
        self.lag_time_max_ms = lag_time_max_ms
        """`replica.lag.time.max.ms`"""
        self.cluster: ClusterImage = EMPTY_CLUSTER

    def alive_epoch(self, broker_id: int) -> int | None:
        """The broker's epoch, if it is registered and not fenced."""
        broker = self.cluster.brokers.get(broker_id)
        return None if broker is None or broker.fenced else broker.epoch

    def own_epoch(self) -> int:
        """This broker's epoch; -1 before the metadata shows its registration."""
        broker = self.cluster.brokers.get(self.node_id)
        return -1 if broker is None else broker.epoch

    def may_join_isr(self, broker_id: int, fetched_with_epoch: int | None) -> bool:
        """Whether a broker is unfenced, stays, and is the incarnation whose fetches were seen (KIP-841, KIP-903).

        A broker that was restarted may have lost what its former self had fetched.
        """
        broker = self.cluster.brokers.get(broker_id)
        if broker is None or not broker.is_active or fetched_with_epoch is None:
            return False
        return fetched_with_epoch in (-1, broker.epoch)
