"""What becomes of partitions and quorum when brokers stop. Pure.

A stopped broker leaves the in-sync replicas of all its partitions. What is left of them decides: none, and the
partition has no leader; fewer than `min.insync.replicas`, and writes with acks=all are refused.

[1, 2] in sync of [1, 2, 3], min ISR 2: stopping 2 leaves [1], too few; stopping 3 changes nothing, it was behind.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ottla.client.record import TopicPartition


class Holding(NamedTuple):
    """A partition as it is before anything stops."""

    partition: TopicPartition
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    min_isr: int


class Quorum(NamedTuple):
    """The voters of the metadata quorum, and those of them that keep up."""

    voters: frozenset[int]
    live: frozenset[int]

    @property
    def majority(self) -> int:
        """The number of voters in a majority."""
        return len(self.voters) // 2 + 1


class Consequence(NamedTuple):
    """The consequences of stopping the brokers."""

    offline: list[TopicPartition]
    """No replica would be left in sync to lead them."""
    under_min_isr: list[TopicPartition]
    """Writes with acks=all would be refused."""
    moved_leaders: int
    under_replicated: int
    """Partitions that would miss a replica and work on."""
    quorum_left: int | None
    """Voters that would be left where that is too few, else None."""

    @property
    def is_harmless(self) -> bool:
        """Whether every partition can be read and written as before."""
        return not (self.offline or self.under_min_isr) and self.quorum_left is None


def consequence(stopped: Collection[int], held: Iterable[Holding], quorum: Quorum | None) -> Consequence:
    """What becomes of the partitions; those that are without a leader already can't get worse.

    >>> orders = Holding(TopicPartition("orders", 0), 1, (1, 2, 3), (1, 2), 2)
    >>> consequence([2], [orders], None).under_min_isr, consequence([3], [orders], None).is_harmless
    ([TopicPartition(topic='orders', partition=0)], True)
    """
    offline: list[TopicPartition] = []
    under_min_isr: list[TopicPartition] = []
    moved = lagging = 0
    for holding in held:
        left = [broker for broker in holding.isr if broker not in stopped]
        if holding.leader is None or len(left) == len(holding.isr):
            continue
        if not left:
            offline.append(holding.partition)
            continue
        moved += holding.leader in stopped
        # Kafka asks for no more in sync than there are replicas.
        if len(left) < min(holding.min_isr, len(holding.replicas)):
            under_min_isr.append(holding.partition)
        else:
            lagging += 1
    return Consequence(offline, under_min_isr, moved, lagging, _quorum_left(stopped, quorum))


def _quorum_left(stopped: Collection[int], quorum: Quorum | None) -> int | None:
    if quorum is None or not quorum.voters.intersection(stopped):
        return None
    left = len(quorum.live.difference(stopped))
    return left if left < quorum.majority else None
