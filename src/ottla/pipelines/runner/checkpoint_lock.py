"""The lock of a checkpoint on a local file system: at most one runner of this machine has its query open.

The lock has two parts, since the Python of a runner and its Java process die one after the other. The Python process
locks the checkpoint's own file. In it stands the runner's log, which every process of a runner has open and thereby
locked: who finds the first lock free looks whether the last holder's log is, too.
"""

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Final

from ottla.base.errors import OttlaError


class CheckpointHeldError(OttlaError):
    """Another runner, or what is left of one, has the checkpoint open."""


class CheckpointLock:
    """Held from its making to `release`, or to the end of the process."""

    def __init__(self, checkpoint: Path, runner_log: Path) -> None:
        """Raises `CheckpointHeldError`; `runner_log` is what this runner's processes hold."""
        path = lock_path(checkpoint)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor: Final = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._take(checkpoint, runner_log)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _take(self, checkpoint: Path, runner_log: Path) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CheckpointHeldError(f"another runner has the checkpoint {checkpoint} open") from None
        last = os.pread(self._descriptor, 4_096, 0).decode(errors="replace")
        if last and last != str(runner_log) and is_held(Path(last)):
            raise CheckpointHeldError(f"processes of a runner that died have the checkpoint {checkpoint} open: {last}")
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(runner_log).encode(), 0)

    def release(self) -> None:
        """Lets it go: the query has ended, so nothing has the checkpoint open, though the runner may live on."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        self.abandon()

    def abandon(self) -> None:
        """Lets it go, though processes of this runner may have the checkpoint open until they end."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def lock_path(checkpoint: Path) -> Path:
    """The file beside a checkpoint that is locked."""
    return checkpoint.with_name(checkpoint.name + ".lock")


def is_held(log: Path) -> bool:
    """Whether a process of the runner with this log is alive."""
    try:
        descriptor = os.open(log, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
