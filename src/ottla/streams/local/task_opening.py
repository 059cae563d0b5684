"""Opens a task: takes its state, finds out where the group and the changelogs stand, and has its stores filled.

Exactly once, the group's offsets say what of the changelogs counts: both are asked until no transaction moves them any
more. A task of a process that has died is open when its last transaction has ended, by itself or by its time-out.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.record import TopicPartition
from ottla.protocol.errors import UnknownTopicOrPartitionError
from ottla.streams.errors import StreamsError
from ottla.streams.host.kept_time import times_from_text
from ottla.streams.host.task_share import TaskId
from ottla.streams.local.restoration import Restoration
from ottla.streams.local.task_run import TaskPorts, TaskRun
from ottla.streams.local.task_store import COMMIT, StateLockedError, TaskStores
from ottla.streams.state.local_state import Times

_PAUSE_S: Final = 0.1

Offsets = dict[TopicPartition, int]


@dataclass(frozen=True)
class OpenTask:
    """A task that is ready to run; partitions that are not in `offsets` have none committed."""

    run: TaskRun
    offsets: Offsets
    times: Times


@dataclass(frozen=True)
class _Standing:
    """The committed offsets and the ends of the changelogs at one moment."""

    offsets: Offsets
    times: Times
    first: Offsets
    end: Offsets


class TaskOpening:
    """Opens the tasks of a process."""

    def __init__(
        self,
        admin: AsyncAdmin,
        ports: TaskPorts,
        restoration: Restoration,
        make_stores: Callable[[TaskId], TaskStores],
        *,
        is_exactly_once: bool,
    ) -> None:
        self._admin: Final = admin
        self._ports: Final = ports
        self._restoration: Final = restoration
        self._make_stores: Final = make_stores
        self._is_exactly_once: Final = is_exactly_once

    async def open(self, task: TaskId) -> OpenTask:
        """Opens a task that is to run."""
        stores = await self._stores(task)
        run: TaskRun | None = None
        try:
            standing = await self._standing(task, stores)
            commit = standing.times.get(COMMIT, {}).get("", (-1,))[0]
            start = {place.topic: offset for place, offset in standing.offsets.items()} | {COMMIT: commit}
            wanted = stores.begin(start, standing.first)
            run = TaskRun(task, stores, self._ports)
            ranges = {store: stores.changelogs[store] for store in wanted}
            await self._restoration.restore(
                run,
                {
                    store: (max(stores.checkpoint(store), standing.first[place]), standing.end[place])
                    for store, place in ranges.items()
                },
            )
            if wanted:
                ends = {place.topic: standing.end[place] for place in ranges.values()}
                stores.commit(start, _of_tasks(standing.times), ends)
        except BaseException:
            if run is not None:
                self._restoration.drop(run)
            stores.close()
            raise
        return OpenTask(run, standing.offsets, standing.times)

    async def open_copy(self, task: TaskId) -> TaskRun:
        """Opens the copy of a task's stores that follows the changelogs."""
        stores = await self._stores(task)
        try:
            first = await self._ends(list(stores.changelogs.values()), OffsetSpec.EARLIEST)
            stores.begin_copy(first)
            run = TaskRun(task, stores, self._ports)
        except BaseException:
            stores.close()
            raise
        self._restoration.follow(run)
        return run

    async def _stores(self, task: TaskId) -> TaskStores:
        """Waits while another process on this machine still has the state."""
        stores = self._make_stores(task)
        while True:
            try:
                stores.open()
            except StateLockedError:
                await asyncio.sleep(_PAUSE_S)
            else:
                return stores

    async def _standing(self, task: TaskId, stores: TaskStores) -> _Standing:
        changelogs = list(stores.changelogs.values())
        while True:
            offsets, times = await self._committed(task)
            first = await self._ends(changelogs, OffsetSpec.EARLIEST)
            end = await self._ends(changelogs, OffsetSpec.LATEST)
            if not self._is_exactly_once:
                return _Standing(offsets, times, first, end)
            stable = await self._ends(changelogs, OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED)
            again, _ = await self._committed(task)
            if stable == end and again == offsets:
                return _Standing(offsets, times, first, end)
            await asyncio.sleep(_PAUSE_S)

    async def _committed(self, task: TaskId) -> tuple[Offsets, Times]:
        application = self._ports.application
        group_id = application.application_id
        places = application.places_of(task)
        found = await self._admin.list_consumer_group_offsets({group_id: places}, require_stable=self._is_exactly_once)
        known = {place: offset for place, offset in found[group_id].items() if offset is not None}
        times: dict[str, Mapping[str, tuple[int, ...]]] = {}
        for place in places:
            if place in known:
                times |= times_from_text(known[place].metadata)
        return {place: offset.offset for place, offset in known.items()}, times

    async def _ends(
        self,
        places: list[TopicPartition],
        spec: OffsetSpec,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> Offsets:
        if not places:
            return {}
        try:
            found = await self._admin.list_offsets(dict.fromkeys(places, spec), isolation_level=isolation)
        except UnknownTopicOrPartitionError:
            names = ", ".join(sorted({place.topic for place in places}))
            application_id = self._ports.application.application_id
            raise StreamsError(
                f"a changelog is gone, and what it held is lost; it is one of {names}. Reset the application "
                f"(ottla streams reset {application_id}) to compute it again from the inputs"
            ) from None
        return {place: offset.offset for place, offset in found.items()}


def _of_tasks(times: Times) -> Times:
    return {name: numbers for name, numbers in times.items() if not name.startswith("@")}
