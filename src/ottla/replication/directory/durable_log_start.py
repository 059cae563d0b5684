"""The log starts of followers that no crash takes back: leaders are told these and no later ones.

A leader confirms a deletion once all replicas that may be the next leader begin there. One that forgot its log start
would bring deleted records back.

Log 0..100, the leader's begins at 60: so does this one, and a worker writes that down; until it has, fetches say 0.
"""

from collections.abc import Callable
from typing import Final

from ottla.replication.partition.partition import Partition


class SafeStarts:
    """The followed partitions of a broker. Loop thread only."""

    def __init__(self, checkpoint: Callable[[Callable[[], None]], None]) -> None:
        """`checkpoint` writes all log starts down on another thread, and calls back on the loop."""
        self._checkpoint: Final = checkpoint
        self._unsafe: dict[Partition, int] = {}
        """The durable log starts of partitions whose present one is not durable yet."""
        self._is_writing = False
        self.saved: Callable[[Partition], None] = _nobody
        """Called when there is a new log start for the leader."""

    def of(self, partition: Partition) -> int:
        """The log start that the leader may be told."""
        start = partition.log.log_start_offset
        return min(self._unsafe.get(partition, start), start)

    def moved(self, partition: Partition, before: int) -> None:
        """A log begins later than before."""
        self._unsafe.setdefault(partition, before)
        if not self._is_writing:
            self._write()

    def _write(self) -> None:
        self._is_writing = True
        written = {partition: partition.log.log_start_offset for partition in self._unsafe}
        self._checkpoint(lambda: self._written(written))

    def _written(self, written: dict[Partition, int]) -> None:
        self._is_writing = False
        for partition, start in written.items():
            if partition.log.log_start_offset > start:
                self._unsafe[partition] = start
            else:
                del self._unsafe[partition]
            self.saved(partition)
        if self._unsafe:
            self._write()


def _nobody(partition: Partition) -> None:
    """The default of `saved`."""
