"""Which partitions a sticky assignment has moved so far, so that two moves of one topic never undo each other.

If t0p1 went from A to B and t0p5 is to go from B to A, then t0p1 goes back instead, and t0p5 stays: one move less.
"""

from ottla.base.java import order as java_order
from ottla.client.record import TopicPartition


class _MovedPartitions:
    """Partitions moved between one pair; hands out the one that Java's `HashSet` would."""

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, None] = {}
        self._table_size = java_order.grown_table_size(0)

    def __len__(self) -> int:
        return len(self._partitions)

    def add(self, partition: TopicPartition) -> None:
        self._partitions[partition] = None
        self._table_size = java_order.grown_table_size(len(self._partitions), self._table_size)

    def remove(self, partition: TopicPartition) -> None:
        del self._partitions[partition]

    def first(self) -> TopicPartition:
        return min(
            self._partitions,
            key=lambda partition: java_order.bucket(_hash(partition), self._table_size),
        )


class Movements:
    """The moves of one assignment: of each partition from its first owner to its last."""

    def __init__(self) -> None:
        self._moves: dict[TopicPartition, tuple[str, str]] = {}
        self._moved: dict[tuple[str, str, str], _MovedPartitions] = {}

    def to_move(self, partition: TopicPartition, owner: str, taker: str) -> TopicPartition:
        """The partition that should go to `taker` in this one's stead: one that came from there, if any did."""
        source = self._moves[partition][0] if partition in self._moves else owner
        back = self._moved.get((partition.topic, taker, source))
        return back.first() if back else partition

    def move(self, partition: TopicPartition, owner: str, taker: str) -> None:
        """Notes that the partition went from its owner to another member."""
        if partition in self._moves:
            owner = self._forget(partition)
            if owner == taker:
                return
        self._moves[partition] = owner, taker
        self._moved.setdefault((partition.topic, owner, taker), _MovedPartitions()).add(partition)

    def _forget(self, partition: TopicPartition) -> str:
        """Drops the partition's move; where it came from."""
        source, target = self._moves.pop(partition)
        key = partition.topic, source, target
        self._moved[key].remove(partition)
        if not self._moved[key]:
            del self._moved[key]
        return source


def _hash(partition: TopicPartition) -> int:
    """`TopicPartition.hashCode`."""
    return (31 * (31 + partition.partition) + java_order.string_hash(partition.topic)) & 0xFFFFFFFF
