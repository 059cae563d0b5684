"""Metadata transactions under crashes: with tiny batches nearly every operation is one, and controllers die in them."""

from dataclasses import replace
from unittest.mock import patch

from ottla.metadata.controller import controller
from ottla.metadata.metadata_version import LATEST
from ottla.raft.config import QuorumConfig
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.invariant import Invariant
from ottla.testing.simulation.metadata.cluster import MetadataCluster
from ottla.testing.simulation.metadata.part import metadata_part
from ottla.testing.simulation.metadata.world import METADATA
from ottla.testing.simulation.network import NetworkProfile
from ottla.testing.simulation.node import SimulatedNode
from ottla.testing.simulation.runner import run_cluster
from ottla.testing.simulation.scenario import Scenario

SEEDS = 10
CHAOS_MS = 5000
RECORDS_PER_BATCH = 3
"""Fewer than the log begins with, too."""


def scenario_of(seed: int) -> Scenario:
    """Followers fetch a batch at a time, and transactions have several."""
    return Scenario(
        seed=seed,
        voters=3,
        brokers=3,
        network=NetworkProfile(delay_ms_min=5, delay_ms_max=20),
        config=QuorumConfig(
            batch_max_bytes=480, fetch_max_bytes=200, election_timeout_ms=300, fetch_timeout_ms=600, append_linger_ms=0
        ),
        faults=("heal-network",),
        fault_interval_ms=1000,
        append_interval_ms=10,
        snapshot_every=15,
        chaos_ms=CHAOS_MS,
    )


class Assassin(Invariant):
    """Cuts off every controller that has committed the beginning of a transaction and not its end."""

    name = "Assassin"

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        part = metadata_part(node)
        if part is None or part.controller is None or not part.controller.is_active:
            return
        if part.loader.in_transaction and cluster.queue.now_ms < CHAOS_MS:
            # What is under way is lost as well: the rest of the transaction must not get through.
            cluster.network.partition(
                [node.host], [other.host for other in cluster.nodes.values() if other is not node]
            )


def test_invariants_hold_when_controllers_die_within_transactions() -> None:
    aborted = 0
    with patch.object(controller, "RECORDS_PER_BATCH_MAX", RECORDS_PER_BATCH):
        for seed in range(SEEDS):
            cluster = MetadataCluster(scenario_of(seed))
            # Before there were transactions a large operation could be seen half done.
            cluster.plan = replace(cluster.plan, version=LATEST)
            cluster.invariants.append(Assassin())
            run_cluster(cluster, METADATA)
            aborted += cluster.history.aborted_transactions
    assert aborted > 0
