"""The quorum in the simulator"""

import time
from collections.abc import Iterator

from ottla.base.ids import Uuid
from ottla.raft.config import QuorumConfig
from ottla.raft.context import RaftPorts, RaftSetup
from ottla.raft.core import RaftCore
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.event import CommitsApplied, LogFlushed, TimeElapsed
from ottla.raft.identity import LocalReplica, ReplicaKey
from ottla.raft.log.memory_log import MemoryLog, MemoryQuorumState, MemorySnapshots
from ottla.raft.voters.voter_set import VoterSet
from ottla.testing.simulation.runner import run
from ottla.testing.simulation.scenario import Scenario
from tests.bench.measure import Figure, rates

_SIMULATED_S = 20
_NOW_MS = 1_700_000_000_000


class _Dice:
    def randrange(self, stop: int, /) -> int:
        return 0


def figures(*, seconds: float) -> Iterator[Figure]:
    """Cluster-seconds per second of one core, and what one voter commits."""
    scenario = Scenario(seed=1, voters=5, chaos_ms=1000 * _SIMULATED_S)
    yield Figure("5 nodes, 10 appends/s, all invariants", "simulated s", _cpu_rate(scenario, seconds), target="≥ 50")
    contenders = {"ours": _sole_voter_appends}
    yield Figure("one voter, append to committed", "appends", rates(contenders, 1000, seconds=seconds)["ours"])


def _cpu_rate(scenario: Scenario, seconds: float) -> float:
    """The best of several runs by the time the process had a core: neighbours on the machine don't count."""
    best = 0.0
    end = time.perf_counter() + 3 * seconds
    while best == 0.0 or time.perf_counter() < end:
        start = time.process_time()
        report = run(scenario)
        best = max(best, report.simulated_ms / 1000 / (time.process_time() - start))
    return best


def _sole_voter_appends() -> None:
    log = MemoryLog()
    endpoints = Endpoints({"CONTROLLER": Address("localhost", 9093)})
    setup = RaftSetup(
        cluster_id="bench",
        local=LocalReplica(ReplicaKey(1, Uuid(b"d" * 16)), endpoints),
        config=QuorumConfig(append_linger_ms=0),
        static_voters=VoterSet.of_static("CONTROLLER", {1: Address("localhost", 9093)}),
    )
    core = RaftCore(setup, RaftPorts(log, MemorySnapshots(log), MemoryQuorumState(), _Dice()))
    core.start(_NOW_MS)
    epoch = core.role.epoch
    for _ in range(1000):
        core.append(epoch, [b"record"], _NOW_MS)
        core.handle(TimeElapsed(), _NOW_MS)
        log.flush()
        core.handle(LogFlushed(), _NOW_MS)
        core.handle(CommitsApplied(), _NOW_MS)
