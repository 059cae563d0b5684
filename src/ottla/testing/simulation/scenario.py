"""The plan of one run, all of it made from the seed: nodes, network, disks, faults and settings."""

from collections.abc import Sequence
from dataclasses import field, replace
from random import Random

from ottla.base.frozen import frozen
from ottla.raft.config import QuorumConfig
from ottla.testing.simulation.disk import DiskProfile
from ottla.testing.simulation.network import HEALTHY, NetworkProfile

FAULTS = (
    "partition",
    "isolate-leader",
    "cut-one-way",
    "heal-network",
    "crash",
    "crash-leader",
    "crash-all",
    "restart",
    "pause",
    "fail-disk",
    "replace-disk",
    "jump-clock",
    "resign",
    "shut-down",
    "add-voter",
    "remove-voter",
    "upgrade-kraft-version",
)


_SLOW_FLUSH_MS = 150


@frozen
class Scenario:
    """One run's plan."""

    seed: int
    voters: int = 3
    spares: int = 0
    """Controllers that are no voters at first."""
    brokers: int = 0
    """Observers that can never vote."""
    is_dynamic: bool = True
    """Whether the quorum starts with kraft.version 1."""
    network: NetworkProfile = HEALTHY
    disk: DiskProfile = field(default_factory=DiskProfile)
    config: QuorumConfig = field(default_factory=QuorumConfig)
    faults: Sequence[str] = ()
    fault_interval_ms: int = 1500
    append_interval_ms: int = 100
    snapshot_every: int = 0
    clock_skew_ms_max: int = 0
    clock_drift_per_mille_max: int = 0
    chaos_ms: int = 15_000

    @property
    def nodes(self) -> int:
        """The number of all nodes."""
        return self.voters + self.spares + self.brokers

    @classmethod
    def from_seed(cls, seed: int, chaos_ms: int = 15_000) -> "Scenario":
        """The scenario that a seed stands for."""
        random = Random(f"scenario {seed}")
        is_dynamic = random.random() < 0.6
        has_spares = is_dynamic or random.random() < 0.3
        return cls(
            seed=seed,
            voters=random.choice((1, 2, 3, 3, 3, 3, 4, 5, 5)),
            spares=random.randint(0, 2) if has_spares else 0,
            brokers=random.randint(0, 1),
            is_dynamic=is_dynamic,
            network=_network(random),
            disk=DiskProfile(0, random.choice((0, 3, 20, 150))),
            config=_config(random),
            faults=tuple(fault for fault in FAULTS if random.random() < 0.6),
            fault_interval_ms=random.choice((300, 800, 1500, 3000)),
            append_interval_ms=random.choice((30, 100, 300)),
            snapshot_every=random.choice((0, 7, 20, 60)),
            clock_skew_ms_max=random.choice((0, 5000)),
            clock_drift_per_mille_max=random.choice((0, 20)),
            chaos_ms=chaos_ms,
        )._within_its_means()

    def _within_its_means(self) -> "Scenario":
        """Rules out a fetch of a single batch where each takes a slow flush: such a follower never catches up."""
        if self.disk.flush_ms_max < _SLOW_FLUSH_MS:
            return self
        return replace(self, config=replace(self.config, fetch_max_bytes=max(self.config.fetch_max_bytes, 1 << 12)))


def _network(random: Random) -> NetworkProfile:
    return NetworkProfile(
        delay_ms_min=random.choice((0, 1)),
        delay_ms_max=random.choice((2, 5, 30, 100)),
        loss_per_mille=random.choice((0, 0, 10, 50)),
        duplicate_per_mille=random.choice((0, 0, 20)),
        straggler_per_mille=random.choice((0, 10, 50)),
        straggler_ms_max=random.choice((200, 3000)),
    )


def _config(random: Random) -> QuorumConfig:
    return QuorumConfig(
        append_linger_ms=random.choice((0, 5, 25)),
        auto_join_enable=random.random() < 0.5,
        fetch_max_bytes=random.choice((200, 1 << 20)),
        fetch_snapshot_max_bytes=random.choice((50, 1 << 20)),
        fetch_max_wait_ms=random.choice((100, 500)),
    )
