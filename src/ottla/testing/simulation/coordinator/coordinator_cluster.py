"""A cluster of brokers with coordinators, and of the clients that use them."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ottla.coordinator.group.config import ClassicGroupConfig, ConsumerGroupConfig, GroupConfig
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes
from ottla.coordinator.group.group_factory import GroupContext
from ottla.coordinator.group.rebalance_reason import RebalanceLog
from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.txn.config import TxnConfig
from ottla.protocol.errors import ApiError, CoordinatorLoadInProgressError
from ottla.protocol.records.batch import Batch
from ottla.testing.simulation.cluster import Cluster, NodePlan
from ottla.testing.simulation.coordinator import broker_api
from ottla.testing.simulation.coordinator.broker import BrokerOutside, BrokerPart
from ottla.testing.simulation.coordinator.connection import NAME, Caller, Connections
from ottla.testing.simulation.coordinator.controller import ControllerOutside, SimulatedController
from ottla.testing.simulation.coordinator.history import CoordinatorHistory
from ottla.testing.simulation.coordinator.image import ClusterView
from ottla.testing.simulation.coordinator.invariant import CoordinatorInvariants
from ottla.testing.simulation.coordinator.replica import ReplicaOutside
from ottla.testing.simulation.coordinator.scenario import CoordinatorScenario, GroupPlan
from ottla.testing.simulation.coordinator.witness import Witness
from ottla.testing.simulation.coordinator.workload.classic_member import ClassicMember, Style
from ottla.testing.simulation.coordinator.workload.client import ClientPart, client_part
from ottla.testing.simulation.coordinator.workload.commit_work import CommitWork
from ottla.testing.simulation.coordinator.workload.consumer_member import ConsumerMember
from ottla.testing.simulation.coordinator.workload.member import (
    HEARTBEAT_MS,
    SESSION_TIMEOUT_MS,
    ClientOutside,
    Membership,
    Work,
)
from ottla.testing.simulation.coordinator.workload.operator import Operator
from ottla.testing.simulation.coordinator.workload.producer import TransactionalProducer
from ottla.testing.simulation.coordinator.workload.task import TaskPart
from ottla.testing.simulation.coordinator.workload.transform import TransformWork
from ottla.testing.simulation.node import SimulatedNode
from ottla.testing.simulation.part import Part

GROUP_CONFIG: Final = GroupConfig(
    classic=ClassicGroupConfig(
        min_session_timeout_ms=100, initial_rebalance_delay_ms=100, new_member_join_timeout_ms=3000
    ),
    consumer=ConsumerGroupConfig(
        session_timeout_ms=SESSION_TIMEOUT_MS,
        min_session_timeout_ms=100,
        heartbeat_interval_ms=HEARTBEAT_MS,
        min_heartbeat_interval_ms=100,
        assignment_interval_ms=100,
    ),
    write_timeout_ms=1000,
)
_REGISTRATION_MS_MAX: Final = 200
_SESSION_MS_MAX: Final = 900


class ClientPlan(NamedTuple):
    """A client to be: member `number` of its group."""

    group: GroupPlan
    number: int

    @property
    def instance_id(self) -> str | None:
        """The first ones are static."""
        return f"{self.group.group_id}-{self.number}" if self.number < self.group.static_members else None

    @property
    def transactional_id(self) -> str:
        """Twins have the same."""
        return f"{self.group.group_id}-{0 if self.group.has_twins else self.number}"


class SimulatedProducerIds:
    """`ProducerIds`: some come at once, some later, some not."""

    def __init__(self, cluster: "CoordinatorCluster", node: SimulatedNode) -> None:
        self._cluster: Final = cluster
        self._node: Final = node

    def next(self, done: Callable[[int | ApiError], None]) -> None:
        """See `ProducerIds`."""
        dice = self._cluster.random.randrange(10)
        self._cluster.last_producer_id += 1
        producer_id = self._cluster.last_producer_id
        if dice == 0:
            done(CoordinatorLoadInProgressError())
        elif dice < 4:
            self._node.later(dice * 10, lambda: done(producer_id))
        else:
            done(producer_id)


class CoordinatorCluster(Cluster):
    """Nodes 1 to n are brokers, those after them clients, and the last one is the operator's."""

    def __init__(self, scenario: CoordinatorScenario) -> None:
        super().__init__(scenario.seed)
        self.scenario: Final = scenario
        self.broker_ids: Final = range(1, scenario.brokers + 1)
        self.isolated: Final[set[int]] = set()
        """Brokers that neither the others nor the controller reach."""
        self.is_over = False
        """Whether clients begin nothing more."""
        self.last_producer_id = 0
        self.history: Final = CoordinatorHistory()
        self._connections: Final = Connections()
        self.clients: Final[dict[int, ClientPlan]] = {}
        version = 2 if any(group.transactions == 2 for group in scenario.groups) else self.random.randint(0, 2)
        self.controller: Final = SimulatedController(
            ControllerOutside(self, self.broker_ids, self.isolated, scenario.metadata_ms_max, self.committed), version
        )
        self.witness: Final = self._make_witness()
        self._broker_outside: Final = self._make_broker_outside()
        self.client_outside: Final = ClientOutside(
            image=lambda: self.controller.image,
            history=self.history,
            random=self.random,
            is_over=lambda: self.is_over,
        )
        self.network.profile = scenario.network
        for broker_id in self.broker_ids:
            self._add(broker_id, self.make_broker)
        for plan in (ClientPlan(group, number) for group in scenario.groups for number in range(group.members)):
            node_id = len(self.nodes) + 1
            self.clients[node_id] = plan
            self._add(node_id, self.make_client)
        self._add(len(self.nodes) + 1, self.make_operator)
        self.invariants.append(CoordinatorInvariants(self.history, self.witness))

    def committed(self, key: PartitionKey, batches: list[Batch]) -> None:
        """Batches that can't be lost any more."""
        self.witness.committed(key, batches)

    def members(self, group_id: str) -> Iterator[Membership]:
        """The members of a group that run."""
        for node_id, plan in self.clients.items():
            part = client_part(self.nodes[node_id])
            if part is not None and plan.group.group_id == group_id:
                yield part.member

    def is_connected(self, broker_id: int) -> bool:
        """Whether a leader on this broker reaches another running broker, or is the only one in the cluster."""
        if broker_id in self.isolated:
            return False
        others = [other for other in self.broker_ids if other != broker_id and other not in self.isolated]
        return any(self.nodes[other].is_running for other in others) or not self.controller.image.alive - {broker_id}

    def lose_broker(self, broker_id: int) -> None:
        """A broker is gone or unreachable: the controller will notice, unless it is back by then."""

        def notice() -> None:
            if broker_id in self.isolated or not self.nodes[broker_id].is_running:
                self.controller.lost(broker_id)

        self.queue.after(self.random.randint(100, _SESSION_MS_MAX), notice)

    def return_broker(self, broker_id: int) -> None:
        """A broker is there, and registers."""
        run = self.nodes[broker_id].incarnation

        def register() -> None:
            node = self.nodes[broker_id]
            if node.is_running and node.incarnation == run and broker_id not in self.isolated:
                self.controller.registered(broker_id)
                self.controller.tell(broker_id, self.controller.image, 0)

        self.queue.after(self.random.randint(0, _REGISTRATION_MS_MAX), register)

    def make_broker(self, node: SimulatedNode) -> tuple[str, Part]:
        """The process of a broker."""
        part = BrokerPart(node, self._broker_outside, SimulatedProducerIds(self, node))
        part.handle = broker_api.handle
        self.return_broker(node.id)
        return NAME, part

    def make_client(self, node: SimulatedNode) -> tuple[str, Part]:
        """The process of a client."""
        plan = self.clients[node.id]
        member = self._make_member(plan)
        caller = Caller(node, self._connections, self._run_of)
        return NAME, ClientPart(node, caller, member, self._make_work(plan))

    def make_operator(self, node: SimulatedNode) -> tuple[str, Part]:
        """The process of the operator, who is not in a hurry to fail."""
        operator = Operator(self.scenario.groups, self.client_outside)
        return NAME, TaskPart(node, Caller(node, self._connections, self._run_of), lambda: (operator.run(),))

    def _make_member(self, plan: ClientPlan) -> Membership:
        protocol = plan.group.protocol
        if protocol == "mixed":
            protocol = self.random.choice(("cooperative", "consumer"))
        if protocol == "consumer":
            return ConsumerMember(plan.group, plan.instance_id, self.client_outside)
        style: Style = "eager" if protocol == "eager" else "cooperative"
        return ClassicMember(plan.group, plan.instance_id, self.client_outside, style)

    def _make_work(self, plan: ClientPlan) -> Work:
        version = plan.group.transactions
        if not version:
            return CommitWork()
        return TransformWork(TransactionalProducer(plan.transactional_id, version, self.client_outside))

    def _make_witness(self) -> Witness:
        metadata = ClusterView(self.controller.image)
        return Witness(
            GroupContext(
                config=GROUP_CONFIG,
                chance=self.random,
                metadata=metadata,
                rebalance_log=RebalanceLog(),
                image_version=lambda: 0,
                hashes=TopicHashes(metadata),
            )
        )

    def _make_broker_outside(self) -> BrokerOutside:
        scenario = self.scenario
        return BrokerOutside(
            replicas=ReplicaOutside(self.controller.partitions, self.is_connected, scenario.replication_ms_max),
            connections=self._connections,
            run_of=self._run_of,
            history=self.history,
            group_config=GROUP_CONFIG,
            txn_config=TxnConfig(),
            nothing_known=self.controller.image,
            load_ms_max=scenario.load_ms_max,
        )

    def _run_of(self, node_id: int) -> int:
        return self.nodes[node_id].incarnation

    def _add(self, node_id: int, factory: Callable[[SimulatedNode], tuple[str, Part]]) -> None:
        skew_ms, drift = self.scenario.clock_skew_ms_max, self.scenario.clock_drift_per_mille_max
        self.add_node(
            NodePlan(
                node_id=node_id,
                part_factories=(factory,),
                clock_offset_ms=self.random.randint(-skew_ms, skew_ms),
                clock_rate_per_mille=1000 + self.random.randint(-drift, drift),
            )
        )
