"""The tasks of a process: those that run, those that are being opened, and the copies of others' states."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from typing import Final

from ottla.client.record import TopicPartition
from ottla.streams.host.application import Application
from ottla.streams.host.task_share import TaskId
from ottla.streams.local.restoration import Restoration
from ottla.streams.local.task_opening import OpenTask, TaskOpening
from ottla.streams.local.task_run import TaskRun

_log = logging.getLogger(__name__)


class TaskTable:
    """Opens in the background; `on_ready` is called when something is open, or has failed to open."""

    def __init__(
        self, application: Application, opening: TaskOpening, restoration: Restoration, on_ready: Callable[[], None]
    ) -> None:
        self.running: Final[dict[TaskId, TaskRun]] = {}
        self.copies: Final[dict[TaskId, TaskRun]] = {}
        self._stage_of: Final = {topic: stage.number for stage in application.stages for topic in stage.topics}
        self._opening: Final = opening
        self._restoration: Final = restoration
        self._on_ready: Final = on_ready
        self._being_opened: Final[dict[TaskId, asyncio.Task[None]]] = {}
        self._copying: Final[dict[TaskId, asyncio.Task[None]]] = {}
        self._open: Final[list[OpenTask]] = []
        self._failure: Exception | None = None

    @property
    def is_settled(self) -> bool:
        """Whether all assigned tasks are open and run."""
        return not self._being_opened and not self._open

    def tasks_of(self, places: Iterable[TopicPartition]) -> list[TaskId]:
        """The tasks that read these partitions."""
        return sorted({TaskId(self._stage_of[topic], partition) for topic, partition in places})

    def run_of(self, place: TopicPartition) -> TaskRun | None:
        """The running task that reads a partition."""
        return self.running.get(TaskId(self._stage_of[place.topic], place.partition))

    async def open(self, tasks: Iterable[TaskId]) -> None:
        """Begins to open tasks."""
        for task in tasks:
            if task not in self.running and task not in self._being_opened:
                await self._close_copy(task)
                self._being_opened[task] = asyncio.create_task(self._open_one(task), name=f"open task {task}")

    def take_open(self) -> list[OpenTask]:
        """The tasks that have become ready; raises what failed."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        taken = list(self._open)
        self._open.clear()
        return taken

    async def close(self, tasks: Collection[TaskId]) -> None:
        """Ends tasks; what they have not committed is forgotten."""
        for task in tasks:
            opening = self._being_opened.pop(task, None)
            if opening is not None:
                opening.cancel()
                await asyncio.wait([opening])
            run = self.running.pop(task, None)
            if run is not None:
                run.close()
        for found in [found for found in self._open if found.run.task in tasks]:
            self._open.remove(found)
            found.run.close()

    async def follow(self, tasks: Collection[TaskId]) -> None:
        """Makes these the copies that are kept."""
        for task in [*self.copies, *self._copying]:
            if task not in tasks:
                await self._close_copy(task)
        for task in tasks:
            if task not in self.copies and task not in self._copying and task not in self.running:
                self._copying[task] = asyncio.create_task(self._copy_one(task), name=f"copy task {task}")

    async def close_all(self) -> None:
        """Ends everything."""
        await self.close([*self.running, *self._being_opened, *(found.run.task for found in self._open)])
        await self.follow(())

    async def _close_copy(self, task: TaskId) -> None:
        copying = self._copying.pop(task, None)
        if copying is not None:
            copying.cancel()
            await asyncio.wait([copying])
        run = self.copies.pop(task, None)
        if run is not None:
            self._restoration.drop(run)
            run.close()

    async def _open_one(self, task: TaskId) -> None:
        try:
            self._open.append(await self._opening.open(task))
        except Exception as error:  # noqa: BLE001  (an edge: the loop, whose turn it is next, raises it)
            self._failure = self._failure or error
        finally:
            self._being_opened.pop(task, None)
            self._on_ready()

    async def _copy_one(self, task: TaskId) -> None:
        try:
            self.copies[task] = await self._opening.open_copy(task)
        except Exception as error:  # noqa: BLE001  (an edge: the loop, whose turn it is next, raises it)
            self._failure = self._failure or error
        finally:
            self._copying.pop(task, None)
