"""The slow half of setting partitions up, on worker threads: making logs, and noting where a leader epoch begins.

While a log is prepared no other thread changes it: its partition is not served yet or follows no leader just now, and
retention and cleaning are paused from before the work is handed over until after it came back.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Final, NamedTuple

from ottla.base.ids import Uuid
from ottla.metadata.directory_id import UNASSIGNED, is_reserved
from ottla.metadata.image.local_replica_change import LocalPartition
from ottla.metadata.image.partition import PartitionRegistration
from ottla.protocol.errors import ApiError, UnknownServerError
from ottla.replication.ports import Worker
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.topic_partition import TopicPartition

_CHUNK: Final = 16
"""Partitions that come back to the loop together: long enough to be worth it, short enough not to hold it up."""


_PREFERRED_MAX: Final = 10_000
"""Directories for partitions to come; beyond that the oldest is forgotten."""


class Wanted(NamedTuple):
    """A partition that is to be set up here."""

    name: LocalPartition
    registration: PartitionRegistration
    directory: Uuid | None
    """Where the metadata says that it lives."""
    leads: bool


class Prepared(NamedTuple):
    """A log that is ready for its partition, or why there is none."""

    wanted: Wanted
    log: Log | ApiError


class LogPreparation:
    """Prepares logs on several threads: most of it is waiting for the disk."""

    def __init__(self, logs: LogManager, mailbox: Mailbox, workers: Sequence[Worker]) -> None:
        self._logs: Final = logs
        self._mailbox: Final = mailbox
        self._workers: Final = workers
        self._preferred: Final[OrderedDict[TopicPartition, str]] = OrderedDict()
        self._is_closed = False

    def prefer(self, name: TopicPartition, path: str) -> None:
        """A partition is to be made in this directory, as AlterReplicaLogDirs said before it came; not all do come."""
        self._preferred[name] = path
        if len(self._preferred) > _PREFERRED_MAX:
            with suppress(KeyError):  # Workers take some meanwhile.
                self._preferred.popitem(last=False)

    def close(self) -> None:
        """Begins nothing more; what is under way ends unheard."""
        self._is_closed = True

    def prepare(self, wanted: Sequence[Wanted], prepared: Callable[[Sequence[Prepared]], None]) -> None:
        """Prepares all; `prepared` is called on the loop for a few of them at a time."""
        chunks = deque(wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK))
        # Each thread has one chunk to work on and one that waits: handing over thousands would take its time too.
        # The first, which also writes checkpoints and deletes logs, comes last: it may be waiting for a slow disk.
        workers = self._workers[::-1]
        for worker in (*workers, *workers):
            if chunks:
                self._submit(worker, chunks.popleft(), partial(self._go_on, chunks, prepared))

    def _go_on(
        self,
        chunks: deque[Sequence[Wanted]],
        prepared: Callable[[Sequence[Prepared]], None],
        worker: Worker,
        done: Sequence[Prepared],
    ) -> None:
        """A worker is done with a chunk, and takes the next."""
        if self._is_closed:
            return
        if chunks:
            self._submit(worker, chunks.popleft(), partial(self._go_on, chunks, prepared))
        prepared(done)

    def delete(self, names: Sequence[TopicPartition], deleted: Callable[[Sequence[ApiError]], None]) -> None:
        """Takes logs away; `deleted` is called on the loop, with what went wrong."""
        pause = self._pause(names)

        def job() -> None:
            problems: list[ApiError] = []
            try:
                problems = self._delete(names)
            finally:
                self._mailbox.post(pause.close)
                self._mailbox.post(lambda: deleted(problems))

        self._workers[0].submit(job)

    def _pause(self, names: Sequence[TopicPartition]) -> ExitStack:
        """On the loop, where retention and cleaning make their changes: none is under way now."""
        stack = ExitStack()
        for name in names:
            stack.enter_context(self._logs.cleaning.paused(name))
        return stack

    def _submit(
        self, worker: Worker, chunk: Sequence[Wanted], prepared: Callable[[Worker, Sequence[Prepared]], None]
    ) -> None:
        pause = self._pause([TopicPartition(wanted.name.topic, wanted.name.partition) for wanted in chunk])

        def job() -> None:
            done: list[Prepared] = []
            try:
                done += [Prepared(wanted, self._prepare_or_tell(wanted)) for wanted in chunk]
            finally:
                self._mailbox.post(pause.close)
                self._mailbox.post(lambda: prepared(worker, done))

        worker.submit(job)

    # On a worker's thread

    def _prepare_or_tell(self, wanted: Wanted) -> Log | ApiError:
        try:
            return self._prepare(wanted)
        except Exception as error:  # noqa: BLE001 - the others of the delta, and all after it, wait for this one
            return UnknownServerError(repr(error)).with_traceback(error.__traceback__)

    def _prepare(self, wanted: Wanted) -> Log | ApiError:
        topic, topic_id, index = wanted.name
        name = TopicPartition(topic, index)
        directory, is_new = self._place(name, wanted.directory)
        try:
            log = self._logs.get_or_create(name, topic_id, is_new=is_new, directory_id=directory)
        except ApiError as error:
            return error
        if wanted.leads:
            # The leader before may have had the log cut.
            log.wait_for_flush()
            try:
                log.assign_epoch_start(wanted.registration.leader_epoch)
            except StorageError as error:
                self._logs.fail(error)
                return error
        return log

    def _place(self, name: TopicPartition, said: Uuid | None) -> tuple[Uuid | None, bool]:
        """The directory for a log that is not here, and whether it may be made although another directory is offline.

        It may not if the log could be in that one: if the metadata names a directory that is not online.
        """
        online = {home.path: home.directory_id for home in self._logs.directories.online()}
        is_new = said == UNASSIGNED or said in online.values()
        preferred = self._preferred.pop(name, None)
        if preferred is not None and preferred in online:
            return online[preferred], is_new
        return None if said is None or is_reserved(said) else said, is_new

    def _delete(self, names: Sequence[TopicPartition]) -> list[ApiError]:
        there = [name for name in names if self._is_here(name)]
        try:
            self._logs.delete(there)
        except StorageError as error:
            problems: list[ApiError] = [error]
        else:
            return []
        # One directory failed on the way: those in others go all the same.
        for name in there:
            if self._is_here(name):
                try:
                    self._logs.delete([name])
                except StorageError as error:
                    problems.append(error)
        return problems

    def _is_here(self, name: TopicPartition) -> bool:
        return self._logs.get(name) is not None or self._logs.directories.damaged_home_of(name) is not None
