"""Whether a topology wants to know the time: then micro-batches come without records, too, each with a tick.

It is found out by opening every sub-topology once, in memory, on the driver: processors schedule in `init`.
"""

from collections.abc import Mapping
from typing import Any, Final

from ottla.streams.engine.error_handler import OutputRecord
from ottla.streams.engine.store.spec import LoggedChange, StoreSpec
from ottla.streams.engine.store.state_map import MemoryMap, StateMap
from ottla.streams.engine.task import Task, TaskPlan
from ottla.streams.host.application import Application

_TICK_MS_MIN: Final = 100


class _EmptyHost:
    """A host with nothing in it, at time 0."""

    def state_map(self, store: StoreSpec) -> StateMap:
        """Empty."""
        return MemoryMap()

    def log_change(self, store: str, change: LoggedChange) -> None:
        """Forgotten."""

    def send(self, record: OutputRecord) -> None:
        """Forgotten."""

    def partition_count(self, topic: str) -> int:
        """One."""
        return 1

    def wall_clock_ms(self) -> int:
        """Then the first punctuation is due after its interval."""
        return 0

    def request_commit(self) -> None:
        """Does nothing: the end of the batch commits."""


def tick_ms_of(application: Application) -> int | None:
    """The smallest interval at which a punctuation asks for the clock, 100 ms at least; None if none does."""
    host = _EmptyHost()
    stores = _global_stores(application, host)
    found = []
    for stage in application.stages:
        plan = TaskPlan(
            application.topology,
            stage.nodes,
            application.application_id,
            f"{stage.number}_0",
            application.configuration,
            stores,
        )
        task = Task(plan, host)
        task.open()
        found.append(task.next_clock_punctuation())
        task.close()
    intervals = [interval for interval in found if interval is not None]
    return max(min(intervals), _TICK_MS_MIN) if intervals else None


def _global_stores(application: Application, host: _EmptyHost) -> Mapping[str, Any]:
    plan = TaskPlan(
        application.topology,
        application.global_nodes,
        application.application_id,
        "global",
        application.configuration,
    )
    task = Task(plan, host)
    return {name: task.raw_store(name) for name in application.topology.global_sources.values()}
