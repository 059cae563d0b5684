"""The simulated world itself: network, disk, clock, and how other parts join a node."""

from collections.abc import Callable
from random import Random

import pytest

from ottla.raft.effect import ApplyCommitted
from ottla.raft.identity import LeaderAndEpoch, OffsetAndEpoch
from ottla.testing.simulation.clock import EventQueue, NodeClock
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.disk import DiskProfile, SimulatedDisk
from ottla.testing.simulation.invariant import Invariant
from ottla.testing.simulation.network import Frame, Network, NetworkProfile
from ottla.testing.simulation.node import SimulatedNode
from ottla.testing.simulation.part import Part
from ottla.testing.simulation.raft.quorum_cluster import QuorumCluster
from ottla.testing.simulation.raft.raft_part import raft_part
from ottla.testing.simulation.runner import SimulationFailure, run_cluster
from ottla.testing.simulation.scenario import Scenario
from tests.unit.raft.replica import batch, directory

FRAME = Frame("a", "b", "part", 1, True, 1, 0, 0, b"")


def arrivals(profile: NetworkProfile, prepare: Callable[[Network], None] = lambda network: None) -> list[int]:
    """When 200 frames from a to b arrive, sent one each 10 ms."""
    queue, times = EventQueue(), list[int]()
    network = Network(queue, Random(1), lambda frame: times.append(queue.now_ms))
    network.profile = profile
    prepare(network)
    for count in range(200):
        queue.at(count * 10, lambda: network.send(FRAME))
    while queue.next_time_ms() is not None:
        queue.step()
    return times


class TestNetwork:
    def test_healthy(self) -> None:
        times = arrivals(NetworkProfile(delay_ms_min=1, delay_ms_max=5))
        assert len(times) == 200
        assert all(1 <= time - count * 10 <= 5 for count, time in enumerate(times))

    def test_loss_and_duplicates(self) -> None:
        assert len(arrivals(NetworkProfile(loss_per_mille=200))) < 200
        assert len(arrivals(NetworkProfile(duplicate_per_mille=200))) > 200

    def test_a_cut_has_a_direction(self) -> None:
        assert arrivals(NetworkProfile(), lambda network: network.cut("a", "b")) == []
        assert len(arrivals(NetworkProfile(), lambda network: network.cut("b", "a"))) == 200
        assert arrivals(NetworkProfile(), lambda network: network.partition(["b"], ["a", "c"])) == []


def test_a_disk_loses_only_what_was_not_flushed() -> None:
    for seed in range(30):
        disk = SimulatedDisk(Random(seed), DiskProfile(), directory(1))
        disk.log.append(batch(0, 1, b"kept"))
        disk.log.flush()
        disk.log.append(batch(1, 1, b"perhaps") + batch(2, 1, b"perhaps"))
        disk.crash()
        assert 1 <= disk.log.end_offset == disk.log.flushed_end_offset <= 3


def test_a_clock_that_runs_slow_is_read_late() -> None:
    queue = EventQueue()
    slow, right = NodeClock(queue, rate_per_mille=900), NodeClock(queue)
    queue.at(10_000, lambda: None)
    queue.step()
    assert right.now_ms() - slow.now_ms() == 1000
    assert slow.true_time_ms(slow.now_ms()) == 10_000


class Census:
    """A part like a controller would be: follows the log, and writes when its node leads."""

    def __init__(self, node: SimulatedNode) -> None:
        self.raft = raft_part(node)
        self.raft.listeners.append(self)
        self.applied = 0
        self.terms = 0

    deadline_ms = 2**62

    def start(self) -> None:
        pass

    def wake(self) -> None:
        pass

    def receive(self, frame: Frame) -> None:
        pass

    def apply_committed(self, effect: ApplyCommitted) -> None:
        self.applied = effect.last_offset + 1

    def load_snapshot(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        self.applied = snapshot_id.offset

    def leader_changed(self, leader: LeaderAndEpoch) -> None:
        if leader.leader_id == self.raft.node.id:
            self.terms += 1
            self.raft.append(leader.epoch, [b"a census begins"])


def make_census(node: SimulatedNode) -> tuple[str, Part]:
    return "census", Census(node)


class NoSecondTerm(Invariant):
    name = "NoSecondTerm"

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        census = node.parts.get("census")
        if isinstance(census, Census) and census.terms > 1:
            raise self.fail(f"node {node.id} leads again")


def test_other_parts_join_a_node_and_follow_its_quorum() -> None:
    cluster = QuorumCluster(Scenario(seed=3, voters=3, chaos_ms=4000), more_parts=[make_census])
    run_cluster(cluster)
    parts = [node.parts["census"] for node in cluster.nodes.values()]
    assert {part.applied for part in parts if isinstance(part, Census)} == {cluster.ledger.end_offset}
    assert b"a census begins" in cluster.ledger.values.values()


def test_their_invariants_are_checked_too() -> None:
    scenario = Scenario(seed=3, voters=3, faults=("resign",), fault_interval_ms=1000, chaos_ms=60_000)
    cluster = QuorumCluster(scenario, more_parts=[make_census])
    cluster.invariants.append(NoSecondTerm())
    with pytest.raises(SimulationFailure) as failure:
        run_cluster(cluster)
    assert failure.value.invariant == "NoSecondTerm"
