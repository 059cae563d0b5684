"""Runs scenarios: chaos first, then everything heals and has to recover, watched all the way."""

import traceback
from collections.abc import Callable
from typing import Final, Protocol

from ottla.base.collector import collector_off
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.fault import Chaos
from ottla.testing.simulation.invariant import InvariantViolation
from ottla.testing.simulation.raft.quorum_cluster import QuorumCluster
from ottla.testing.simulation.raft.raft_invariant import AllReachHighWatermark, ElectionWithinBound
from ottla.testing.simulation.raft.raft_part import RaftPart
from ottla.testing.simulation.scenario import Scenario
from ottla.testing.simulation.workload import Workload

ELECTION_BOUND_MS = 20_000
"""How long a healed cluster may take to find a leader: ten times the longest election timeout."""
CATCH_UP_BOUND_MS = 40_000
"""How long it may then take to catch up: nodes with small fetches behind a slow network need some of it."""
_TRACE_LINES = 120
BUGS = (OttlaError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What a broken state machine raises; all of it is reported with the seed."""


class ClusterWorkload(Protocol):
    """Clients of a cluster."""

    def start(self) -> None: ...

    def stop(self) -> None:
        """Asks for nothing more."""
        ...

    def append(self, raft: RaftPart) -> None:
        """Has the leader of a healed cluster commit something, unless it does so of itself."""
        ...


def _nothing_more(cluster: QuorumCluster) -> bool:
    return True


@frozen
class World:
    """A kind of simulation: the scenario of each seed, the cluster that carries it out, and its clients."""

    name: str
    scenario: Callable[[int, int], Scenario]
    """By seed and length of the chaos in milliseconds."""
    cluster: Callable[[Scenario], QuorumCluster]
    workload: Callable[[QuorumCluster], ClusterWorkload]
    has_recovered: Callable[[QuorumCluster], bool] = _nothing_more
    """What a healed cluster comes to, besides its quorum's recovery."""


QUORUM: Final = World("quorum", Scenario.from_seed, QuorumCluster, Workload)
"""The quorum alone."""


@frozen
class RunReport:
    """The result of a run; equal for equal scenarios."""

    seed: int
    simulated_ms: int
    steps: int
    committed: int
    """Records in the committed log."""
    acknowledged: int
    epoch: int
    fingerprint: int
    """A checksum of the committed log."""


class Replayable(Protocol):
    """A scenario that a seed stands for."""

    @property
    def seed(self) -> int: ...

    @property
    def chaos_ms(self) -> int:
        """For how long faults happen."""
        ...


class SimulationFailure(OttlaError):  # noqa: N818
    """A run that broke an invariant, with what is needed to look into it."""

    def __init__(self, world: str, cluster: Cluster, scenario: Replayable, cause: BaseException) -> None:
        """`world` and `scenario` are what the command line needs to run it again."""
        seed, chaos_ms = scenario.seed, scenario.chaos_ms
        self.seed = seed
        self.invariant = cause.invariant if isinstance(cause, InvariantViolation) else type(cause).__name__
        lines = "\n".join(cluster.trace.lines(last=_TRACE_LINES))
        where = "" if isinstance(cause, InvariantViolation) else "".join(traceback.format_exception(cause))
        options = "" if world == QUORUM.name else f"--world {world} "
        super().__init__(
            f"{cause}\n{where}\nseed {seed}: {scenario}\n{lines}\n\n{cause}\n"
            f"replay: python -m ottla.testing.simulation {options}--seed {seed} --chaos-ms {chaos_ms}"
        )


def run(scenario: Scenario, world: World = QUORUM) -> RunReport:
    """Carries out a scenario; raises `SimulationFailure` if an invariant does not hold."""
    return run_cluster(world.cluster(scenario), world)


def run_cluster(cluster: QuorumCluster, world: World = QUORUM) -> RunReport:
    """Carries out the scenario of a cluster that has parts and invariants of its own."""
    try:
        # What a run makes lives about as long as the run.
        with collector_off():
            return _run(cluster, world)
    except BUGS as error:
        raise SimulationFailure(world.name, cluster, cluster.scenario, error) from error


def run_seed(seed: int, chaos_ms: int = 15_000, world: World = QUORUM) -> RunReport:
    """Carries out the scenario of a seed."""
    return run(world.scenario(seed, chaos_ms), world)


def _run(cluster: QuorumCluster, world: World) -> RunReport:
    scenario = cluster.scenario
    workload, chaos = world.workload(cluster), Chaos(cluster)
    cluster.start()
    workload.start()
    chaos.start()
    cluster.run_until(scenario.chaos_ms)
    workload.stop()
    chaos.stop()
    _recover(cluster, world, workload)
    cluster.check_healed()
    last = cluster.ledger.batches.values()
    return RunReport(
        seed=scenario.seed,
        simulated_ms=cluster.queue.now_ms,
        steps=cluster.steps,
        committed=cluster.ledger.end_offset,
        acknowledged=len(cluster.losses.acknowledged),
        epoch=max((batch.epoch for batch in last), default=0),
        fingerprint=hash(tuple(last)),
    )


def _recover(cluster: QuorumCluster, world: World, workload: ClusterWorkload) -> None:
    """Waits for a leader, has it commit a record, and waits until every node has that."""
    deadline_ms = cluster.queue.now_ms + ELECTION_BOUND_MS
    if cluster.run_until(deadline_ms, lambda: ElectionWithinBound.holds(cluster)):
        leaders = cluster.leaders()
        if leaders:
            workload.append(leaders[0])
    cluster.run_until(cluster.queue.now_ms + CATCH_UP_BOUND_MS, lambda: _has_recovered(cluster, world))


def _has_recovered(cluster: QuorumCluster, world: World) -> bool:
    return ElectionWithinBound.holds(cluster) and AllReachHighWatermark.holds(cluster) and world.has_recovered(cluster)
