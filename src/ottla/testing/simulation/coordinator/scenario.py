"""The plan of one run, all of it made from the seed: groups and their members, network and faults."""

from collections.abc import Sequence
from random import Random
from typing import Final

from ottla.base.frozen import frozen
from ottla.testing.simulation.network import HEALTHY, NetworkProfile

FAULTS: Final = (
    "crash-broker",
    "crash-all",
    "isolate-broker",
    "cut-link",
    "pause-broker",
    "heal-network",
    "restart",
    "move-leader",
    "move-leader",
    "shrink-isr",
    "jump-clock",
    "crash-client",
    "crash-client",
    "pause-client",
    "stop-client",
    "grow-topic",
)
PROTOCOLS: Final = ("eager", "cooperative", "consumer", "mixed")
"""How the members of a group speak: classic of two kinds, KIP-848, or either, from one start to the next."""


@frozen
class GroupPlan:
    """A group to be."""

    group_id: str
    protocol: str
    members: int
    static_members: int
    """How many of them have an instance id."""
    topics: tuple[str, ...]
    transactions: int = 0
    """Version of the transactions in which members transform what they read; 0 for none: they only commit offsets."""
    has_twins: bool = False
    """Whether all members share one transactional id, and fence each other."""


@frozen
class CoordinatorScenario:
    """One run's plan."""

    seed: int
    groups: tuple[GroupPlan, ...]
    brokers: int = 3
    network: NetworkProfile = HEALTHY
    replication_ms_max: int = 20
    metadata_ms_max: int = 50
    load_ms_max: int = 50
    faults: Sequence[str] = ()
    fault_interval_ms: int = 700
    clock_skew_ms_max: int = 0
    clock_drift_per_mille_max: int = 0
    chaos_ms: int = 8_000

    @classmethod
    def from_seed(cls, seed: int, chaos_ms: int = 8_000) -> "CoordinatorScenario":
        """The scenario that a seed stands for."""
        random = Random(f"coordinator scenario {seed}")
        return cls(
            seed=seed,
            groups=_groups(random),
            brokers=random.choice((2, 3, 3)),
            network=_network(random),
            replication_ms_max=random.choice((5, 20, 200)),
            metadata_ms_max=random.choice((10, 50, 500)),
            load_ms_max=random.choice((0, 50, 400)),
            faults=tuple(fault for fault in FAULTS if random.random() < 0.7),
            fault_interval_ms=random.choice((300, 700, 1500)),
            clock_skew_ms_max=random.choice((0, 5000)),
            clock_drift_per_mille_max=random.choice((0, 20)),
            chaos_ms=chaos_ms,
        )


def _groups(random: Random) -> tuple[GroupPlan, ...]:
    groups = []
    for number in range(random.choice((1, 2))):
        members = random.choice((2, 3))
        groups.append(
            GroupPlan(
                group_id=f"readers-{number}",
                protocol=random.choice(PROTOCOLS),
                members=members,
                static_members=random.choice((0, 0, 1, members)),
                topics=random.choice((("clicks",), ("clicks", "orders"))),
            )
        )
    protocol = random.choice(PROTOCOLS)
    groups.append(
        GroupPlan(
            group_id="transform",
            protocol=protocol,
            members=random.choice((1, 2, 3)),
            static_members=random.choice((0, 0, 1)),
            topics=("orders",),
            transactions=random.choice((1, 2)),
            has_twins=random.random() < 0.25,
        )
    )
    return tuple(groups)


def _network(random: Random) -> NetworkProfile:
    return NetworkProfile(
        delay_ms_min=random.choice((0, 1)),
        delay_ms_max=random.choice((2, 5, 30)),
        loss_per_mille=random.choice((0, 0, 10, 30)),
        duplicate_per_mille=random.choice((0, 20)),
        straggler_per_mille=random.choice((0, 10, 50)),
        straggler_ms_max=random.choice((200, 1000)),
    )
