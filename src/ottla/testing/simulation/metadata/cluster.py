"""A cluster whose nodes carry the metadata on top of the quorum: controllers decide, observers are brokers."""

from dataclasses import replace
from random import Random
from typing import Final

from ottla.base.ids import Uuid
from ottla.metadata.metadata_version import LATEST, MetadataVersion
from ottla.testing.simulation.cluster import NodePlan
from ottla.testing.simulation.metadata import broker as metadata_broker
from ottla.testing.simulation.metadata import client as metadata_client
from ottla.testing.simulation.metadata import registration as metadata_registration
from ottla.testing.simulation.metadata.broker import BrokerPart
from ottla.testing.simulation.metadata.directory import BrokerFiles
from ottla.testing.simulation.metadata.history import MetadataHistory
from ottla.testing.simulation.metadata.invariant import AllBrokersReturn, AllPartitionsLed, MetadataInvariants
from ottla.testing.simulation.metadata.part import MetadataPart, MetadataPlan, Witness, metadata_part
from ottla.testing.simulation.metadata.registration import ControllerRegistrationPart
from ottla.testing.simulation.node import SimulatedNode
from ottla.testing.simulation.part import Part
from ottla.testing.simulation.raft.quorum_cluster import CLUSTER_ID, QuorumCluster
from ottla.testing.simulation.raft.raft_part import raft_part
from ottla.testing.simulation.scenario import Scenario

_OLD_VERSIONS: Final = (
    MetadataVersion.V3_3_IV3,
    MetadataVersion.V3_6_IV0,
    MetadataVersion.V3_7_IV0,
    MetadataVersion.V4_0_IV3,
)
"""Where clusters may begin that are upgraded on the way: before SCRAM, transactions, directories and ELRs."""


def metadata_scenario(seed: int, chaos_ms: int = 15_000) -> Scenario:
    """The scenario that a seed stands for: fewer controllers than in a quorum's own, and brokers."""
    random = Random(f"metadata scenario {seed}")
    base = Scenario.from_seed(seed, chaos_ms)
    return replace(
        base,
        voters=random.choice((1, 2, 3, 3, 3)),
        spares=min(base.spares, 1),
        brokers=random.choice((2, 3, 3, 4)),
        fault_interval_ms=random.choice((600, 1500, 3000)),
        append_interval_ms=random.choice((10, 30, 80)),
    )


class MetadataCluster(QuorumCluster):
    """Voters and spares have a controller each; the nodes that can never vote are brokers."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        random = Random(f"metadata plan {scenario.seed}")
        session_timeout_ms = random.choice((1200, 2500))
        self.history = MetadataHistory()
        self.plan = MetadataPlan(
            cluster_id=CLUSTER_ID,
            controllers=self._controllers(),
            session_timeout_ms=session_timeout_ms,
            heartbeat_interval_ms=session_timeout_ms // 4,
            elr=random.random() < 0.6,
            version=LATEST if random.random() < 0.6 else random.choice(_OLD_VERSIONS),
            directories_max=random.randint(1, 3),
            snapshot_every=scenario.snapshot_every,
        )
        self.invariants.append(MetadataInvariants(self.history))
        self._witness = Witness(self.history, self.ledger, self.losses)
        self._files: dict[Uuid, BrokerFiles] = {}

    def add_node(self, plan: NodePlan) -> SimulatedNode:
        """Adds a node, with a broker if it is no controller."""
        more = self.make_registration if plan.node_id in self._controllers() else self.make_broker
        return super().add_node(replace(plan, part_factories=(*plan.part_factories, more)))

    def make_digest(self, node: SimulatedNode) -> tuple[str, Part]:
        """The metadata takes the place of the digest: a log has one state machine, which writes its snapshots."""
        return metadata_client.NAME, MetadataPart(raft_part(node), self.plan, self._witness)

    def make_broker(self, node: SimulatedNode) -> tuple[str, Part]:
        """The broker of an observer."""
        metadata = metadata_part(node)
        assert metadata is not None
        files = self._files.setdefault(node.disk.directory_id, BrokerFiles())
        return metadata_broker.NAME, BrokerPart(metadata, self.plan, files)

    def make_registration(self, node: SimulatedNode) -> tuple[str, Part]:
        """The part that registers a controller."""
        metadata = metadata_part(node)
        assert metadata is not None
        return metadata_registration.NAME, ControllerRegistrationPart(metadata)

    def has_recovered(self) -> bool:
        """Whether every node is up to date, every broker is active and every partition has a leader."""
        latest = self.history.latest
        return not AllBrokersReturn.missing(self, latest) and not AllPartitionsLed.leaderless(latest)
