"""An omniscient controller: it elects leaders, and brokers hear of its decisions with a delay.

An election takes a replica that has all that is committed: a follower, or one that still believes to lead and
has missed nothing. A broker that is cut off gets no metadata, so it is deposed without knowing.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from typing import Final

from ottla.base.frozen import frozen
from ottla.coordinator.ports import PartitionKey, PartitionLeader, TopicView
from ottla.protocol.records.batch import Batch
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.coordinator.broker import broker_part
from ottla.testing.simulation.coordinator.image import NO_LEADER, OFFSETS, TRANSACTIONS, ClusterImage, topic_id
from ottla.testing.simulation.coordinator.partition import LeaderLog, ReplicatedPartition

OUTPUT: Final = "results"
LED_TOPICS: Final = {OFFSETS: 2, TRANSACTIONS: 2, OUTPUT: 2}
"""Topics that somebody writes to, with their partitions."""
READ_TOPICS: Final = {"clicks": 3, "orders": 4}
"""Topics that are only read, and hold as much as anybody wants."""
_RETRY_MS: Final = 100
_PARTITIONS_MAX: Final = 7


@frozen
class ControllerOutside:
    """The cluster as its controller sees it."""

    cluster: Cluster
    broker_ids: Sequence[int]
    isolated: Set[int]
    """Brokers that neither the others nor the controller reach; changes during the run."""
    metadata_ms_max: int
    """How late a broker hears of a new image at most."""
    committed: Callable[[PartitionKey, list[Batch]], None]
    """Hears of batches that can't be lost any more."""


class SimulatedController:
    """The controller of a simulated cluster, which never fails."""

    def __init__(self, outside: ControllerOutside, transaction_version: int) -> None:
        self._outside: Final = outside
        self._cluster: Final = outside.cluster
        topics = {name: TopicView(name, topic_id(name), count) for name, count in {**LED_TOPICS, **READ_TOPICS}.items()}
        leaders = {
            PartitionKey(name, index): PartitionLeader(NO_LEADER, 0)
            for name, topic in topics.items()
            for index in range(topic.partition_count)
        }
        self.image = ClusterImage(0, topics, leaders, frozenset(), transaction_version)
        self.partitions: Final = {
            key: ReplicatedPartition(key, outside.cluster.random, outside.committed)
            for key in leaders
            if key.topic in LED_TOPICS
        }

    def registered(self, broker_id: int) -> None:
        """Takes in a broker: elects leaders for its former partitions and for those without a leader.

        Half of the others are elected anew, too: otherwise the first broker would lead everything for ever.
        """
        self._publish(alive=self.image.alive | {broker_id})
        random = self._cluster.random
        self._elect(
            key
            for key in self.partitions
            if self.image.leader(key).broker_id in (NO_LEADER, broker_id) or random.randrange(2)
        )

    def lost(self, broker_id: int) -> None:
        """Fences a broker after its session has ended, and elects other leaders for its partitions."""
        if broker_id in self.image.alive:
            self._cluster.note(f"controller fences node-{broker_id}")
            self._publish(alive=self.image.alive - {broker_id})
            self._elect(key for key in self.partitions if self.image.leader(key).broker_id == broker_id)

    def move(self, key: PartitionKey) -> None:
        """Elects a leader anew: another broker, or the same one in a later epoch."""
        self._elect((key,))

    def grow(self, name: str) -> None:
        """Gives a topic that is read one more partition."""
        topic = self.image.topics[name]
        if topic.partition_count < _PARTITIONS_MAX:
            self._cluster.note(f"{name} grows to {topic.partition_count + 1} partitions")
            grown = topic._replace(partition_count=topic.partition_count + 1)
            self._publish(topics={**self.image.topics, name: grown})

    def tell(self, broker_id: int, image: ClusterImage, delay_ms: int) -> None:
        """Delivers an image to a broker after `delay_ms`, or later if the broker is out of reach."""
        cluster = self._cluster
        node = cluster.nodes[broker_id]
        run = node.incarnation

        def arrive() -> None:
            part = broker_part(node)
            if part is None or node.incarnation != run:
                return
            if broker_id in self._outside.isolated:
                self.tell(broker_id, image, _RETRY_MS)
            else:
                node.act(lambda: part.learn(image))

        cluster.queue.after(delay_ms, arrive)

    def _elect(self, keys: Iterable[PartitionKey]) -> None:
        leaders = dict(self.image.leaders)
        for key in list(keys):
            before = leaders[key]
            candidates = [broker_id for broker_id in sorted(self.image.alive) if self._may_lead(broker_id, key)]
            broker_id = self._cluster.random.choice(candidates) if candidates else NO_LEADER
            leaders[key] = PartitionLeader(broker_id, before.leader_epoch + 1)
            self._cluster.note(f"controller: node-{broker_id} leads {key.topic}-{key.partition} in {leaders[key][1]}")
            if broker_id != NO_LEADER:
                owner = (broker_id, self._cluster.nodes[broker_id].incarnation)
                self.partitions[key].elect(owner, leaders[key].leader_epoch, self._own_log(broker_id, key))
        if leaders != self.image.leaders:
            self._publish(leaders=leaders)

    def _may_lead(self, broker_id: int, key: PartitionKey) -> bool:
        own = self._own_log(broker_id, key)
        return own is None or self.partitions[key].has_all(own)

    def _own_log(self, broker_id: int, key: PartitionKey) -> LeaderLog | None:
        """The log of a broker that leads or believes to, or was elected and has not heard of it."""
        node = self._cluster.nodes[broker_id]
        part = broker_part(node)
        if part is None:
            return None
        current = self.partitions[key].current
        return part.replicas.led.get(key) or (current if current.owner == (broker_id, node.incarnation) else None)

    def _publish(self, **changes: object) -> None:
        self.image = self.image._replace(version=self.image.version + 1, **changes)  # type: ignore[arg-type]
        random, delay_ms_max = self._cluster.random, self._outside.metadata_ms_max
        for broker_id in self._outside.broker_ids:
            if self._cluster.nodes[broker_id].is_running:
                self.tell(broker_id, self.image, random.randint(0, delay_ms_max))
