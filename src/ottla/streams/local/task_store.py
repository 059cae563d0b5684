"""The bytes of one task's stores: in LMDB where a store is persistent, else in memory.

What is in LMDB is versioned by commit, and each commit has a number that goes with the group's offsets, too. A state
whose number is that of the offsets is the right one, and nothing is read; so is the one before it, if the last commit
never reached the cluster. Any other one is brought up from where it was last sure to be in the changelogs.

    <state.dir>/<application.id>/<task>/lock     held by the process that has the task, or a copy of it
    <state.dir>/<application.id>/<task>/state    LMDB
"""

import contextlib
import fcntl
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.client.record import TopicPartition
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.engine.store.state_map import MemoryMap, StateMap
from ottla.streams.host.application import Application
from ottla.streams.host.task_share import TaskId
from ottla.streams.state.errors import StateMismatchError, unwritable
from ottla.streams.state.local_state import LocalState, Position, StateBatch, Times, remove_state

_log = logging.getLogger(__name__)

COMMIT: Final = "@commit"
"""The position's entry that numbers the commit; no topic."""
_NO_COMMIT: Final = -1
_CHECKPOINT: Final = "@changelog"
_BYTES_MAX: Final = 1 << 36


class StateLockedError(StateMismatchError):
    """Another process has the state of a task."""


class TaskStores:
    """The stores of a task on disk and in memory; `open` before anything else, `close` at the end."""

    def __init__(self, application: Application, task: TaskId, state_dir: Path) -> None:
        stage = next(one for one in application.stages if one.number == task.stage)
        specs = {
            name: application.topology.stores[name] for name in stage.stores if name in application.topology.stores
        }
        self.changelogs: Final[dict[str, TopicPartition]] = {
            name: TopicPartition(application.changelogs[name].name, task.partition)
            for name in specs
            if name in application.changelogs
        }
        self._persistent: Final = {name for name, spec in specs.items() if spec.persistent}
        self._identity: Final = f"{application.identity(task.partition)} task {task}"
        self._is_synced: Final = not application.is_restorable(task.partition)
        self._path: Final = state_dir / str(task)
        self._memory: Final[dict[str, MemoryMap]] = {}
        self._state: LocalState | None = None
        self._batch: StateBatch | None = None
        self._lock: int | None = None

    def open(self) -> None:
        """Takes the lock and opens what is on disk; `StateLockedError` while another process has it."""
        if not self._persistent:
            return
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self._path / "lock")
        except OSError as error:
            raise unwritable(error, f"the state in {self._path}") from error
        try:
            self._state = self._opened(self._path / "state")
        except BaseException:
            self._unlock()
            raise

    def begin(self, start: Position, earliest: Mapping[TopicPartition, int]) -> set[str]:
        """Begins at the group's position; the stores that have to be brought up before, from `checkpoint` on.

        A changelog that has lost what lies behind the checkpoint (`earliest` is what it has) is read as a whole.
        """
        in_memory = set(self.changelogs) - self._persistent
        state = self._state
        if state is None:
            return in_memory
        if start.get(COMMIT, _NO_COMMIT) != _NO_COMMIT and state.is_before(start):
            self._batch = state.begin(start)
            return in_memory
        self.begin_copy(earliest)
        return set(self.changelogs)

    def begin_copy(self, earliest: Mapping[TopicPartition, int]) -> None:
        """Begins as a copy that follows the changelogs."""
        if self._state is None:
            return
        self._batch = self._state.begin_behind()
        known = self._checkpoint()
        if any(earliest[place] > known.get(place.topic, 0) > 0 for place in self.changelogs.values()):
            self._batch.abort()
            self._batch = self._state.restore()

    def checkpoint(self, store: str) -> int:
        """Up to where of its changelog a store has been brought; 0: nothing of it is there."""
        return self._checkpoint().get(self.changelogs[store].topic, 0) if store in self._persistent else 0

    def state_map(self, spec: StoreSpec) -> StateMap:
        """The bytes of a store."""
        if spec.name in self._persistent and self._batch is not None:
            return self._batch.map(spec.name)
        return self._memory.setdefault(spec.name, MemoryMap())

    def keep_restored(self, offsets: Mapping[str, int]) -> None:
        """Makes durable what was restored so far: the next offsets by changelog topic."""
        if self._state is not None and self._batch is not None:
            times = {_CHECKPOINT: {topic: (offset,) for topic, offset in offsets.items()}}
            self._state.commit_and_go_on(self._batch, {COMMIT: _NO_COMMIT}, times, can_be_undone=False)

    def commit(self, end: Position, times: Times, offsets: Mapping[str, int]) -> None:
        """Makes the state at `end` durable and goes on from there; `offsets` as for `keep_restored`."""
        if self._state is not None and self._batch is not None:
            kept = {**self._checkpoint(), **offsets}
            times = {**times, _CHECKPOINT: {topic: (offset,) for topic, offset in kept.items()}}
            self._state.commit_and_go_on(self._batch, end, times)

    def close(self) -> None:
        """Forgets what was not committed, and lets other processes have it."""
        if self._batch is not None:
            self._batch.abort()
        if self._state is not None:
            self._state.close()
        self._batch = self._state = None
        self._memory.clear()
        self._unlock()

    def _checkpoint(self) -> dict[str, int]:
        if self._batch is None:
            return {}
        return {topic: offset for topic, (offset, *_) in self._batch.times.get(_CHECKPOINT, {}).items()}

    def _opened(self, path: Path) -> LocalState:
        try:
            return LocalState(path, self._identity, is_synced=self._is_synced, bytes_max=_BYTES_MAX)
        except StateMismatchError as error:
            _log.warning("%s: it is made anew", error)
            remove_state(path)
            return LocalState(path, self._identity, is_synced=self._is_synced, bytes_max=_BYTES_MAX)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _locked(path: Path) -> int:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise StateLockedError(f"the state in {path.parent} is in use by another process") from error
    return descriptor


def stored_tasks(state_dir: Path) -> list[str]:
    """The tasks whose state lies on this disk."""
    found = []
    with contextlib.suppress(OSError):
        found = [path.parent.name for path in state_dir.glob("*_*/state") if path.is_dir()]
    return sorted(found)
