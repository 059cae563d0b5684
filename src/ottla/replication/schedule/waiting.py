"""The requests that wait for something to happen to a partition."""

from typing import Final

from ottla.replication.partition.partition import Partition
from ottla.replication.schedule.purgatory import Purgatory
from ottla.replication.schedule.timer_wheel import TimerWheel


class Waiting:
    """Produces that wait for replicas, fetches that wait for records, deletions that wait for replicas."""

    def __init__(self, wheel: TimerWheel) -> None:
        self.produces: Final[Purgatory[Partition]] = Purgatory(wheel)
        self.fetches: Final[Purgatory[Partition]] = Purgatory(wheel)
        self.deletions: Final[Purgatory[Partition]] = Purgatory(wheel)

    def check(self, partition: Partition) -> None:
        """The partition's log grew, its high watermark or role changed, or it is gone."""
        if partition in self.produces.watched:
            self.produces.check(partition)
        if partition in self.fetches.watched:
            self.fetches.check(partition)
        if partition in self.deletions.watched:
            self.deletions.check(partition)
