"""Partitioners that users name in `partitioner.class`, and the shape of their own.

A partitioner is any object with `partition`; if it has `configure`, that is called once with the producer's settings,
and `config_keys` declares settings of its own.
"""

import threading
from typing import Final, Protocol

from ottla.client.cluster.cluster_view import ClusterView


class Partitioner(Protocol):
    """Chooses a partition for each record that was sent without one."""

    def partition(
        self,
        topic: str,
        key: object,
        key_bytes: bytes | None,
        value: object,
        value_bytes: bytes | None,
        view: ClusterView,
    ) -> int:
        """The number of a partition of `view.topics[topic]`."""
        ...


class RoundRobinPartitioner:
    """Each record to the next partition, whatever its key; partitions without a leader are left out."""

    def __init__(self) -> None:
        self._next: Final[dict[str, int]] = {}
        self._lock: Final = threading.Lock()

    def partition(
        self,
        topic: str,
        key: object,
        key_bytes: bytes | None,
        value: object,
        value_bytes: bytes | None,
        view: ClusterView,
    ) -> int:
        """The next one of the topic."""
        partitions = view.topics[topic].partitions
        candidates = [index for index, found in partitions.items() if found.leader >= 0] or list(partitions)
        with self._lock:
            turn = self._next.get(topic, 0)
            self._next[topic] = turn + 1
        return sorted(candidates)[turn % len(candidates)]


KNOWN: Final[dict[str, object]] = {
    "round-robin": RoundRobinPartitioner,
    "org.apache.kafka.clients.producer.RoundRobinPartitioner": RoundRobinPartitioner,
}
"""Names for `partitioner.class`; Java's among them."""
