"""Chooses at random intervals one of the faults that a scenario has, and repairs after every third on average."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ottla.testing.simulation.cluster import Cluster


class FaultPlan:
    """Causes faults between `start` and `end`."""

    def __init__(
        self,
        cluster: Cluster,
        faults: Mapping[str, Callable[[], None]],
        repair: Callable[[], None],
        wanted: Sequence[str],
        interval_ms: int,
    ) -> None:
        """`wanted` names those of the faults that happen; one follows the other after `interval_ms` on average."""
        self._cluster: Final = cluster
        self._faults: Final = faults
        self._repair: Final = repair
        self._wanted: Final = wanted
        self._interval_ms: Final = interval_ms
        self._is_running = False

    def start(self) -> None:
        self._is_running = bool(self._wanted)
        self._plan()

    def end(self) -> None:
        self._is_running = False

    def _plan(self) -> None:
        self._cluster.queue.after(self._cluster.random.randint(1, 2 * self._interval_ms), self._tick)

    def _tick(self) -> None:
        if not self._is_running:
            return
        self._faults[self._cluster.random.choice(self._wanted)]()
        if self._cluster.random.randrange(3) == 0:
            # Without repairs most of a run would be spent without a majority, or with nobody there.
            self._repair()
        self._plan()
