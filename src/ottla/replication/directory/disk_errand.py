"""Work that the loop begins and that ends on a disk: a worker waits for it, or at the very end the shutdown does."""

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar

from ottla.replication.ports import Worker
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.errors import StorageError

Finish: TypeAlias = Callable[[], None]
"""The part of something that waits for the disk."""
ErrandDone: TypeAlias = Callable[[StorageError | None], None]
"""Called on the loop when it is done, or with why it is not."""
_Key = TypeVar("_Key", bound=Hashable)


class DiskErrands(Generic[_Key]):
    """At most one for each key at a time. Loop thread only, but for `finish_all` and what the worker does."""

    def __init__(self, mailbox: Mailbox, worker: Worker) -> None:
        self._mailbox: Final = mailbox
        self._worker: Final = worker
        self._unfinished: dict[_Key, Finish] = {}

    def submit(self, key: _Key, finish: Finish, done: ErrandDone) -> None:
        """Has it finished on the worker."""
        self._unfinished[key] = finish

        def job() -> None:
            problem: StorageError | None = None
            try:
                self._finish(key)
            except StorageError as error:
                problem = error
            self._mailbox.post(partial(done, problem))

        self._worker.submit(job)

    def finish_all(self) -> None:
        """Does what is left when the worker has ended; on a thread that may wait.

        A log that is half cut or moved could not be closed. A directory that fails now is offline, which its closing
        tells of.
        """
        for key in list(self._unfinished):
            with suppress(StorageError):
                self._finish(key)

    def _finish(self, key: _Key) -> None:
        finish = self._unfinished.pop(key, None)
        if finish is not None:
            finish()
