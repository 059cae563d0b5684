"""Fills stores from their changelogs: those of tasks that are about to run, and the copies of others' (standbys).

One consumer reads all of them in the background, while other tasks go on. What was restored is made durable in
between, so that a process that dies does not begin anew.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.record import TopicPartition
from ottla.streams.engine.store.spec import LoggedChange
from ottla.streams.local.task_run import TaskRun

_log = logging.getLogger(__name__)

_REPORT_RECORDS: Final = 100_000
_KEEP_RECORDS: Final = 50_000
_KEEP_S: Final = 5.0
_POLL_S: Final = 0.25


class StateRestoreListener:
    """Hears how restoring goes on; override what you need to know."""

    def on_restore_start(self, partition: TopicPartition, store: str, first: int, end: int) -> None:
        """A store is going to be filled with the records `[first, end)` of its changelog."""

    def on_batch_restored(self, partition: TopicPartition, store: str, next_offset: int, count: int) -> None:
        """Some more were."""

    def on_restore_end(self, partition: TopicPartition, store: str, count: int) -> None:
        """All were."""


@dataclass(slots=True)
class _Work:
    """One store of one task; without an end it is followed for good."""

    run: TaskRun
    store: str
    restore: Callable[[LoggedChange], None]
    next: int
    end: int | None
    count: int = 0


@dataclass(slots=True)
class _TaskWork:
    """The stores of one task."""

    run: TaskRun
    places: set[TopicPartition]
    is_copy: bool
    done: "asyncio.Future[None]"
    unkept: int = 0
    kept_s: float = field(default_factory=time.monotonic)


class Restoration:
    """The work of one process; `run` is its background task."""

    def __init__(self, consumer: AsyncConsumer, listener: StateRestoreListener) -> None:
        self._consumer: Final = consumer
        self._listener: Final = listener
        self._work: Final[dict[TopicPartition, _Work]] = {}
        self._tasks: Final[dict[TaskRun, _TaskWork]] = {}
        self._changed: Final = asyncio.Event()
        self._assigned: dict[TopicPartition, _Work] = {}
        self.restored_records = 0

    def restore(self, run: TaskRun, ranges: Mapping[str, tuple[int, int]]) -> "asyncio.Future[None]":
        """Fills stores of a task with these offsets of their changelogs; done when all are there."""
        future = self._add(run, {store: (first, end) for store, (first, end) in ranges.items()}, is_copy=False)
        self._finish_if_done(self._tasks[run])
        return future

    def follow(self, run: TaskRun) -> None:
        """Keeps the stores of a copy up to date."""
        stores = {store: (run.stores.checkpoint(store), None) for store in run.stores.changelogs}
        self._add(run, stores, is_copy=True)

    def drop(self, run: TaskRun) -> None:
        """Forgets a task; what was restored of it is kept."""
        task = self._tasks.pop(run, None)
        if task is not None:
            self._keep(task)
            for place in task.places:
                self._work.pop(place, None)
            task.done.cancel()
            self._changed.set()

    def lag(self, run: TaskRun) -> dict[str, tuple[int, int | None]]:
        """By store: up to where it is restored, and where the changelog ends, if that is known."""
        task = self._tasks.get(run)
        places = () if task is None else sorted(task.places)
        return {self._work[place].store: (self._work[place].next, self._work[place].end) for place in places}

    def _add(
        self, run: TaskRun, ranges: Mapping[str, tuple[int, int | None]], *, is_copy: bool
    ) -> "asyncio.Future[None]":
        task = _TaskWork(run, set(), is_copy, asyncio.get_running_loop().create_future())
        self._tasks[run] = task
        for store, (first, end) in ranges.items():
            place = run.stores.changelogs[store]
            self._listener.on_restore_start(place, store, first, first if end is None else end)
            self._work[place] = _Work(run, store, run.engine.raw_store(store).restore, first, end)
            task.places.add(place)
        self._changed.set()
        return task.done

    async def run(self) -> None:
        """Reads, until it is cancelled."""
        while True:
            if not self._work:
                self._changed.clear()
                await self._changed.wait()
            self._assign()
            if not self._work:
                continue
            records = await self._consumer.poll(_POLL_S)
            for place, found in records.by_partition().items():
                self._take(place, found)
            self._move_on()
            await asyncio.sleep(0)

    def _assign(self) -> None:
        """Reads what there is to do from where each begins: a partition that comes back begins anew, too."""
        new = [place for place, work in self._work.items() if self._assigned.get(place) is not work]
        if not new and len(self._assigned) == len(self._work):
            return
        self._assigned = dict(self._work)
        if not self._assigned:
            return
        self._consumer.assign(sorted(self._assigned))
        for place in new:
            self._consumer.seek(place, self._work[place].next)

    def _take(self, place: TopicPartition, records: Iterable[Any]) -> None:
        work = self._work.get(place)
        if work is None or self._assigned.get(place) is not work:
            return
        count = 0
        restore, end = work.restore, work.end
        for record in records:
            if end is not None and record.offset >= end:
                break
            restore(LoggedChange(record.key or b"", record.value, record.timestamp, record.headers))
            count += 1
        work.count += count
        self.restored_records += count
        self._tasks[work.run].unkept += count
        if count:
            self._listener.on_batch_restored(place, work.store, record.offset + 1, count)
        if work.count // _REPORT_RECORDS != (work.count - count) // _REPORT_RECORDS:
            _log.warning("%s: restored %d records of %s, up to %s", work.run.task, work.count, place, work.end)

    def _move_on(self) -> None:
        positions = self._consumer.positions()
        for place, work in self._work.items():
            if self._assigned.get(place) is work:
                work.next = max(work.next, positions.get(place, 0))
        now_s = time.monotonic()
        for task in list(self._tasks.values()):
            if task.unkept >= _KEEP_RECORDS or (task.unkept and now_s - task.kept_s >= _KEEP_S):
                self._keep(task)
            self._finish_if_done(task)

    def _keep(self, task: _TaskWork) -> None:
        offsets = {place.topic: self._work[place].next for place in task.places}
        if task.unkept:
            task.run.stores.keep_restored(offsets)
        task.unkept, task.kept_s = 0, time.monotonic()

    def _finish_if_done(self, task: _TaskWork) -> None:
        works = [self._work[place] for place in task.places]
        if task.is_copy or any(work.end is None or work.next < work.end for work in works):
            return
        for work in works:
            place = task.run.stores.changelogs[work.store]
            self._listener.on_restore_end(place, work.store, work.count)
            del self._work[place]
        del self._tasks[task.run]
        self._changed.set()
        if not task.done.done():
            task.done.set_result(None)
