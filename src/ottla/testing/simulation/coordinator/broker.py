"""A simulated broker: the real coordinators on the partitions it leads, and the requests that come for them."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.config import GroupConfig
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes
from ottla.coordinator.group.group_coordinator import GroupCoordinator
from ottla.coordinator.group.group_factory import GroupContext, new_group_shard
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.rebalance_reason import RebalanceLog
from ottla.coordinator.ports import PartitionKey, ProducerIds
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.shard_set import ShardSet
from ottla.coordinator.txn.config import TxnConfig
from ottla.coordinator.txn.txn_coordinator import ShardHooks, TxnCoordinator, TxnOutside
from ottla.testing.simulation.clock import NodeClock
from ottla.testing.simulation.coordinator.connection import NAME, Caller, Connections, answer_frame, decode_request
from ottla.testing.simulation.coordinator.history import CoordinatorHistory
from ottla.testing.simulation.coordinator.image import OFFSETS, TRANSACTIONS, ClusterImage, ClusterView
from ottla.testing.simulation.coordinator.marker import MarkerWriter, SimulatedMarkerSender
from ottla.testing.simulation.coordinator.replica import ReplicaOutside, Replicas, SimulatedShardLog
from ottla.testing.simulation.coordinator.shard_load import ShardLoad
from ottla.testing.simulation.coordinator.transaction_gate import TransactionGate
from ottla.testing.simulation.coordinator.workload.task import NEVER_MS
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.node import SimulatedNode

_ANSWER_LINE: Final = "answers {} of {}: {!r:.240} with {!r:.240}"


@frozen(kw_only=True)
class BrokerOutside:
    """The parts of a simulation that all brokers of a cluster share."""

    replicas: ReplicaOutside
    connections: Connections
    run_of: Callable[[int], int]
    history: CoordinatorHistory
    group_config: GroupConfig
    txn_config: TxnConfig
    nothing_known: ClusterImage
    """What a broker starts with."""
    load_ms_max: int


class BrokerClock:
    """A node's clock as coordinators read it."""

    def __init__(self, clock: NodeClock) -> None:
        self._clock: Final = clock

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def monotonic_ms(self) -> int:
        """The same as `now_ms`: a node's clock is never set back here."""
        return self._clock.now_ms()


class BrokerPart:
    """The process of a broker."""

    def __init__(self, node: SimulatedNode, outside: BrokerOutside, producer_ids: ProducerIds) -> None:
        self.node: Final = node
        self.outside: Final = outside
        self._producer_ids: Final = producer_ids
        self.view: Final = ClusterView(outside.nothing_known)
        self.caller: Final = Caller(node, outside.connections, outside.run_of)
        self.replicas: Final = Replicas(node, outside.replicas, self._high_watermark_moved)
        self.groups: Final = self._make_groups()
        self.markers: Final = MarkerWriter(node, self.replicas, self.groups)
        self.transactions: Final = self._make_transactions()
        self.gate: Final = TransactionGate(node, self.view, self.caller, self.transactions)
        self.shards: Final[dict[str, ShardSet[Any]]] = {
            OFFSETS: self.groups.shards,
            TRANSACTIONS: self.transactions.shards,
        }
        self.handle: Callable[[BrokerPart, BrokerRequest], None] = _unhandled
        """Who answers requests; see `broker_api`."""
        self._is_flush_planned = False

    @property
    def now_ms(self) -> int:
        return self.node.clock.now_ms()

    def start(self) -> None:
        """Does nothing: the broker leads no partition before it has metadata."""

    def receive(self, frame: Frame) -> None:
        """A request or an answer came in."""
        if not frame.is_request:
            self.caller.receive(frame)
        elif self.outside.connections.takes(frame, self.node.incarnation):
            self.handle(self, BrokerRequest(self, frame, decode_request(frame)))

    def wake(self) -> None:
        """Runs the timers that are due."""
        self.groups.shards.poll(self.now_ms)
        self.transactions.poll(self.now_ms)

    @property
    def deadline_ms(self) -> int:
        """The next time that a coordinator's timer is due."""
        times = (self.groups.shards.next_ms, self.transactions.next_ms)
        return min((time_ms for time_ms in times if time_ms is not None), default=NEVER_MS)

    def learn(self, image: ClusterImage) -> None:
        """Takes over an image of the metadata; older ones than the present are ignored."""
        before = self.view.image
        if image.version <= before.version:
            return
        self.view.image = image
        changed = {key: leader for key, leader in image.leaders.items() if before.leaders.get(key) != leader}
        for key, leader in changed.items():
            self.replicas.take(key, leader)
            shards = self.shards.get(key.topic)
            if shards is None:
                continue
            if leader.broker_id != self.node.id:
                shards.resigned(key.partition, leader.leader_epoch)
            elif leader.leader_epoch > shards.leader_epoch(key.partition):
                shards.elected(key.partition, leader.leader_epoch)
        topics = frozenset(name for name, topic in image.topics.items() if before.topics.get(name) != topic)
        if topics:
            self.groups.topics_changed((), topics, self.now_ms)
        self.transactions.metadata_changed()

    def _make_groups(self) -> GroupCoordinator:
        outside, node = self.outside, self.node
        context = GroupContext(
            config=outside.group_config,
            chance=node.random,
            metadata=self.view,
            rebalance_log=RebalanceLog(),
            image_version=lambda: self.view.image.version,
            hashes=TopicHashes(self.view),
        )

        def open_shard(partition: int, leader_epoch: int) -> Shard[GroupsState]:
            log = SimulatedShardLog(self.replicas, PartitionKey(OFFSETS, partition))
            return new_group_shard(partition, log, context)

        load = ShardLoad(node, self.replicas, OFFSETS, outside.load_ms_max)
        load.shards = shards = ShardSet(open_shard, load.start, self._wants_flush)
        return GroupCoordinator(
            shards, lambda: self.view.image.topics[OFFSETS].partition_count, self.view, outside.group_config
        )

    def _make_transactions(self) -> TxnCoordinator:
        outside, node = self.outside, self.node
        load = ShardLoad(node, self.replicas, TRANSACTIONS, outside.load_ms_max)
        transactions = TxnCoordinator(
            outside.txn_config,
            TxnOutside(
                metadata=self.view,
                producer_ids=self._producer_ids,
                marker_sender=SimulatedMarkerSender(node, self.markers, self.caller),
                clock=BrokerClock(node.clock),
                is_metadata_complete=lambda: self.view.image.version > 0,
            ),
            ShardHooks(self._open_transaction_log, load.start, self._wants_flush),
        )
        load.shards = transactions.shards
        return transactions

    def _open_transaction_log(self, partition: int, leader_epoch: int) -> SimulatedShardLog:
        return SimulatedShardLog(self.replicas, PartitionKey(TRANSACTIONS, partition))

    def _wants_flush(self) -> None:
        """Operations that arrive together share one append."""
        if not self._is_flush_planned:
            self._is_flush_planned = True
            self.node.later(self.node.random.choice((0, 0, 1, 3)), self._flush)

    def _flush(self) -> None:
        self._is_flush_planned = False
        self.groups.shards.flush(self.now_ms)
        self.transactions.shards.flush(self.now_ms)

    def _high_watermark_moved(self, key: PartitionKey, high_watermark: int) -> None:
        shards = self.shards.get(key.topic)
        if shards is not None:
            shards.committed(key.partition, high_watermark)


class BrokerRequest(NamedTuple):
    """A request with the way back to who sent it."""

    broker: BrokerPart
    frame: Frame
    message: Any

    @property
    def caller(self) -> GroupCaller:
        """The sender, for the group coordinator."""
        return GroupCaller(self.frame.source, f"/{self.frame.source}", self.frame.api_version)

    def answer(self, response: Any) -> None:
        """Sends the response."""
        node, frame = self.broker.node, self.frame
        node.note(_ANSWER_LINE, type(self.message).__name__, frame.source, self.message, response)
        self.broker.node.send(answer_frame(self.frame, response))


def _unhandled(broker: BrokerPart, request: BrokerRequest) -> None:
    raise AssertionError(f"nobody answers {request.message}")


def broker_part(node: SimulatedNode) -> BrokerPart | None:
    """The broker of a node; None if it is down, or none."""
    part = node.parts.get(NAME)
    return part if isinstance(part, BrokerPart) else None
