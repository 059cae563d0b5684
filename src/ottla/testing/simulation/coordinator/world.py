"""Runs a seed of the coordinators' world: chaos, then peace, then nothing more to do; invariants all the way."""

from typing import Final

from ottla.base.collector import collector_off
from ottla.testing.simulation.coordinator.coordinator_cluster import CoordinatorCluster
from ottla.testing.simulation.coordinator.fault import CoordinatorChaos
from ottla.testing.simulation.coordinator.invariant import unassigned, unended
from ottla.testing.simulation.coordinator.scenario import CoordinatorScenario
from ottla.testing.simulation.runner import BUGS, RunReport, SimulationFailure

NAME: Final = "coordinator"
CHAOS_MS: Final = 8_000
SETTLE_BOUND_MS: Final = 20_000
"""How long healed groups may take until every partition has its owner."""
END_BOUND_MS: Final = 20_000
"""How long open transactions may then take to end: clients' time-outs, and the coordinators' after them."""


def run_seed(seed: int, chaos_ms: int = CHAOS_MS) -> RunReport:
    """Carries out the scenario of a seed; raises `SimulationFailure` if an invariant does not hold."""
    return run(CoordinatorScenario.from_seed(seed, chaos_ms))


def run(scenario: CoordinatorScenario) -> RunReport:
    """Carries out a scenario."""
    cluster = CoordinatorCluster(scenario)
    try:
        with collector_off():
            return _run(cluster)
    except BUGS as error:
        raise SimulationFailure(NAME, cluster, scenario, error) from error


def _run(cluster: CoordinatorCluster) -> RunReport:
    scenario, chaos = cluster.scenario, CoordinatorChaos(cluster)
    cluster.start()
    chaos.start()
    cluster.run_until(scenario.chaos_ms)
    chaos.stop()
    now_ms = cluster.queue.now_ms
    cluster.run_until(now_ms + SETTLE_BOUND_MS, lambda: not any(unassigned(cluster)))
    cluster.is_over = True
    cluster.note("clients begin nothing more")
    now_ms = cluster.queue.now_ms
    cluster.run_until(now_ms + END_BOUND_MS, lambda: not any(unended(cluster.witness)) and not any(unassigned(cluster)))
    cluster.check_healed()
    leaders = cluster.controller.image.leaders.values()
    return RunReport(
        seed=scenario.seed,
        simulated_ms=cluster.queue.now_ms,
        steps=cluster.steps,
        committed=cluster.witness.batches,
        acknowledged=cluster.history.acknowledged,
        epoch=max(leader.leader_epoch for leader in leaders),
        fingerprint=cluster.witness.fingerprint,
    )
