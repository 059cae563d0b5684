"""Nodes that stand still for long enough that others lead in their place: controllers and partitions change leaders."""

import time

from tests.kafka.cluster import Cluster
from tests.soak.worker import Tell, Worker

_FROZEN_SECONDS = (10.0, 14.0)
"""More than `broker.session.timeout.ms`, so that a frozen broker is fenced."""


class Elections(Worker):
    """Freezes one node after the other; what nodes do only then they do in the warm-up, too."""

    name = "elections"

    def __init__(self, cluster: Cluster, seed: int, tell: Tell) -> None:
        super().__init__(cluster.bootstrap, seed, tell)
        self._nodes = cluster.nodes

    def pause(self) -> float:
        """Long enough that the node before is in sync again."""
        return self.dice.uniform(20, 40)

    def step(self) -> None:
        """The next node."""
        node = self._nodes[self.number % len(self._nodes)]
        self.count("nodes that froze")
        node.freeze()
        try:
            time.sleep(self.dice.uniform(*_FROZEN_SECONDS))
        finally:
            node.thaw()
