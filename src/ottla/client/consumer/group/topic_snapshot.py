"""The part of the cluster's metadata that an assignment depends on."""

from collections.abc import Iterable

from ottla.client.cluster.cluster_view import ClusterView


def snapshot_of(view: ClusterView, topics: Iterable[str]) -> dict[str, tuple[frozenset[str], ...]]:
    """The topics that exist, each partition as the racks of its replicas, in sync or not (KIP-881)."""
    racks = {broker.id: broker.rack for broker in view.brokers.values() if broker.rack}
    return {
        topic: tuple(
            frozenset(racks[replica] for replica in partition.replicas if replica in racks)
            for _, partition in sorted(view.topics[topic].partitions.items())
        )
        for topic in sorted(topics)
        if topic in view.topics
    }
