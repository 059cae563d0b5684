"""The one who kills, freezes and stops the nodes of a cluster."""

import random
import time
from collections import Counter

from tests.kafka.cluster import Cluster


class Nemesis:
    """Strikes when it is told to; what it does is drawn from the dice."""

    def __init__(self, cluster: Cluster, dice: random.Random, events: Counter[str]) -> None:
        self._cluster = cluster
        self._dice = dice
        self._events = events

    def strike(self) -> None:
        """One of several nodes, most often; a lone one is killed."""
        if len(self._cluster.nodes) == 1:
            self._kill_all()
        else:
            strikes = (self._kill, self._freeze, self._stop, self._kill_all)
            self._dice.choices(strikes, (6, 2, 1, 1))[0]()

    def _kill(self) -> None:
        """A node that may have begun to start only: others may be on their way, too."""
        self._events["kill -9 of a broker"] += 1
        node = self._dice.choice(self._cluster.nodes)
        node.kill()
        time.sleep(self._dice.choice((0, 0, 0.5, 4)))
        node.launch()

    def _kill_all(self) -> None:
        self._events["kill -9 of all brokers"] += 1
        self._cluster.kill()
        time.sleep(self._dice.choice((0, 0, 0.5)))
        self._cluster.start()

    def _freeze(self) -> None:
        """It misses an election, perhaps, and goes on as the leader that it was."""
        self._events["brokers that froze"] += 1
        node = self._dice.choice(self._cluster.nodes)
        node.freeze()
        time.sleep(self._dice.uniform(0.5, 6))
        node.thaw()

    def _stop(self) -> None:
        """A controlled shutdown, while the others serve."""
        self._events["brokers that were stopped"] += 1
        self._cluster.start()
        node = self._dice.choice(self._cluster.nodes)
        node.stop()
        node.launch()
