"""A cluster whose nodes have a quorum and a digest of its log, set up as a scenario says."""

from collections.abc import Sequence

from ottla.base.ids import ZERO_UUID
from ottla.raft.context import RaftSetup
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.identity import BOOTSTRAP_SNAPSHOT_ID, LocalReplica, Node, ReplicaKey
from ottla.raft.roles.leader import Leader
from ottla.raft.snapshot.writer import bootstrap_snapshot
from ottla.raft.voters.voter_set import NO_VOTERS, VoterNode, VoterSet
from ottla.testing.simulation.clock import EPOCH_MS
from ottla.testing.simulation.cluster import Cluster, NodePlan, directory_id
from ottla.testing.simulation.node import PartFactory, SimulatedNode
from ottla.testing.simulation.part import Part
from ottla.testing.simulation.raft.digest_part import DigestPart
from ottla.testing.simulation.raft.ledger import CommittedLedger
from ottla.testing.simulation.raft.raft_invariant import (
    AllReachHighWatermark,
    ConsistentCommittedData,
    ElectionWithinBound,
    MajorityReachedHighWatermark,
    MonotonicEpoch,
    MonotonicHighWatermark,
    NoCommittedRecordLost,
    QuorumInvariants,
    SingleLeader,
    VoterSetConsistency,
    quorum_of,
)
from ottla.testing.simulation.raft.raft_part import NAME, RaftPart
from ottla.testing.simulation.scenario import Scenario

CLUSTER_ID = "simulated-cluster-0000"
LISTENER = "CONTROLLER"
PORT = 9093


class QuorumCluster(Cluster):
    """Nodes 1 to n: first the voters, then spare controllers, then brokers.

    `more_parts` are made on every node after the quorum, in order; their invariants go into `invariants`.
    """

    def __init__(self, scenario: Scenario, more_parts: Sequence[PartFactory] = ()) -> None:
        super().__init__(scenario.seed)
        self.scenario = scenario
        self._more_parts = more_parts
        self.ledger = CommittedLedger()
        self.losses = NoCommittedRecordLost(self.ledger)
        invariants = [
            SingleLeader(),
            MonotonicEpoch(),
            MonotonicHighWatermark(),
            MajorityReachedHighWatermark(),
            ConsistentCommittedData(self.ledger),
            VoterSetConsistency(self.ledger),
            self.losses,
            ElectionWithinBound(),
            AllReachHighWatermark(),
        ]
        self.invariants.append(QuorumInvariants(invariants))
        self.network.profile = scenario.network
        for node_id in range(1, scenario.nodes + 1):
            self._add(node_id)

    def leaders(self) -> list[RaftPart]:
        """The nodes that believe to lead, the newest epoch first."""
        parts = [quorum_of(node) for node in self.nodes.values()]
        leaders = [part for part in parts if part is not None and isinstance(part.core.role, Leader)]
        return sorted(leaders, key=lambda part: -part.core.role.epoch)

    def make_raft(self, node: SimulatedNode) -> tuple[str, Part]:
        """The quorum part of a node that starts."""
        is_controller = node.id in self._controllers()
        local = LocalReplica(
            key=ReplicaKey(node.id, node.disk.directory_id),
            endpoints=_endpoints(node.id) if is_controller else Endpoints({}),
            can_become_voter=is_controller,
        )
        setup = RaftSetup(
            cluster_id=CLUSTER_ID,
            local=local,
            listener_name=LISTENER,
            config=self.scenario.config,
            static_voters=NO_VOTERS if self.scenario.is_dynamic else self._static_voters(),
            bootstrap_servers=[
                Node(-1 - other, f"node-{other}", PORT) for other in self._controllers() if other != node.id
            ],
        )
        return NAME, RaftPart(node, setup)

    def make_digest(self, node: SimulatedNode) -> tuple[str, Part]:
        """The state machine on top of a node's quorum part."""
        raft = node.parts[NAME]
        assert isinstance(raft, RaftPart)
        return "digest", DigestPart(raft, self.scenario.snapshot_every, self._applied)

    def _applied(self, epoch: int, offset: int, value: bytes) -> None:
        self.ledger.values.setdefault((epoch, offset), value)

    def _add(self, node_id: int) -> None:
        scenario, random = self.scenario, self.random
        skew_ms, drift = scenario.clock_skew_ms_max, scenario.clock_drift_per_mille_max
        plan = NodePlan(
            node_id=node_id,
            part_factories=(self.make_raft, self.make_digest, *self._more_parts),
            clock_offset_ms=random.randint(-skew_ms, skew_ms),
            clock_rate_per_mille=1000 + random.randint(-drift, drift),
            disk=scenario.disk,
        )
        node = self.add_node(plan)
        if scenario.is_dynamic and node_id <= scenario.voters:
            voters = VoterSet.of(
                VoterNode(ReplicaKey(voter, directory_id(voter)), _endpoints(voter)) for voter in self._first_voters()
            )
            node.disk.snapshots.store(BOOTSTRAP_SNAPSHOT_ID, bootstrap_snapshot(1, voters, (), EPOCH_MS))

    def _controllers(self) -> range:
        return range(1, self.scenario.voters + self.scenario.spares + 1)

    def _first_voters(self) -> range:
        return range(1, self.scenario.voters + 1)

    def _static_voters(self) -> VoterSet:
        return VoterSet.of_static(LISTENER, {voter: Address(f"node-{voter}", PORT) for voter in self._first_voters()})

    def is_current(self, key: ReplicaKey) -> bool:
        """Whether a voter's key names the disk that its node has now."""
        return key.directory_id in (ZERO_UUID, self.nodes[key.id].disk.directory_id)


def _endpoints(node_id: int) -> Endpoints:
    return Endpoints({LISTENER: Address(f"node-{node_id}", PORT)})
