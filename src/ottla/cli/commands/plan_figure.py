"""The size of a cluster for a rate: partitions, disk, network, open files, fail-over. Pure.

The formulas are those of docs/PLANNING.md, one function each; rates are bytes per second as they go over the wire.
"""

from math import ceil
from typing import Final, NamedTuple

FILES_PER_SEGMENT: Final = 3
"""The log and its two indexes."""
MAPS_PER_SEGMENT: Final = 2
"""Both indexes are mapped into memory."""


class Wish(NamedTuple):
    """The requirements; `produce` and `consume` are the rates of one partition."""

    target: float
    produce: float
    consume: float
    retention_s: float
    replicas: int = 3
    brokers: int = 3
    readers: int = 1
    """Consumer groups that read everything."""
    headroom: float = 0.3
    """The part of each disk that stays free."""
    segment_bytes: int = 1 << 30
    connections: int = 1000
    session_s: float = 9.0
    election_s: float = 0.005
    """Time until one leadership has moved and clients know."""


class Network(NamedTuple):
    """Of one broker, bytes per second."""

    received: float
    sent: float


class Plan(NamedTuple):
    """The size that the requirements need. Figures of a broker hold while all are up, unless they say otherwise."""

    partitions: int
    partitions_even: int
    """Rounded up so that each broker leads as many."""
    leaders_per_broker: int
    replicas_per_broker: int
    disk_total: float
    disk_per_broker: float
    network: Network
    network_one_down: Network
    open_files: int
    memory_maps: int
    failover_s: float
    stop_s: float
    """When a broker is stopped cleanly: no session has to end first."""


def plan_of(wish: Wish) -> Plan:
    """All figures.

    >>> plan = plan_of(Wish(target=200e6, produce=10e6, consume=25e6, retention_s=86_400))
    >>> plan.partitions, plan.partitions_even, plan.leaders_per_broker
    (20, 21, 7)
    """
    partitions = partitions_for(wish.target, wish.produce, wish.consume)
    even = ceil(partitions / wish.brokers) * wish.brokers
    leaders = even // wish.brokers
    held = ceil(even * wish.replicas / wish.brokers)
    disk = disk_total(wish, even)
    segments = segments_per_broker(wish, even)
    return Plan(
        partitions=partitions,
        partitions_even=even,
        leaders_per_broker=leaders,
        replicas_per_broker=held,
        disk_total=disk,
        disk_per_broker=disk / wish.brokers,
        network=network_of(wish, wish.brokers),
        network_one_down=network_of(wish, max(1, wish.brokers - 1)),
        open_files=segments * FILES_PER_SEGMENT + wish.connections,
        memory_maps=segments * MAPS_PER_SEGMENT,
        failover_s=wish.session_s + leaders * wish.election_s,
        stop_s=leaders * wish.election_s,
    )


def partitions_for(target: float, produce: float, consume: float) -> int:
    """`max(t/p, t/c)`, rounded up.

    >>> partitions_for(200e6, 10e6, 25e6), partitions_for(200e6, 50e6, 12e6), partitions_for(1, 10, 10)
    (20, 17, 1)
    """
    return max(1, ceil(target / produce), ceil(target / consume))


def disk_total(wish: Wish, partitions: int) -> float:
    """`(t × retention + a segment per partition) × replicas / (1 - headroom)`.

    Retention removes whole segments that are closed, so a partition holds up to one more than it has to.
    """
    held = wish.target * wish.retention_s + partitions * wish.segment_bytes
    return held * wish.replicas / (1 - wish.headroom)


def network_of(wish: Wish, brokers: int) -> Network:
    """What comes in: a share of the target for each replica; what goes out: to the followers, and to the readers.

    >>> network_of(Wish(90e6, 1, 1, 1, replicas=3, readers=2), 3)
    Network(received=90000000.0, sent=120000000.0)
    """
    copies = min(wish.replicas, brokers)
    share = wish.target / brokers
    return Network(share * copies, share * (copies - 1 + wish.readers))


def segments_per_broker(wish: Wish, partitions: int) -> int:
    """All replicas of a broker, each with the segments that retention keeps and the one that is written to."""
    per_partition = ceil(wish.target * wish.retention_s / partitions / wish.segment_bytes) + 1
    return ceil(partitions * wish.replicas / wish.brokers) * per_partition
