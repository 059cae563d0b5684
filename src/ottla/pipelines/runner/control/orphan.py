"""Leftovers of killed control processes on this machine: runners that did not notice, and their files."""

import fcntl
import logging
import os
import shutil
from pathlib import Path
from typing import Final

from ottla.pipelines.runner.checkpoint_lock import is_held
from ottla.pipelines.runner.control.process_tree import kill_all, session_members

_log: Final = logging.getLogger(__name__)
_OWN: Final = "control.lock"
_KEPT_MAX: Final = 20
"""Directories of logs of earlier control processes that are kept for people to read."""


def hold(directory: Path) -> int:
    """Makes the directory of a control process ours for as long as the process lives."""
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory / _OWN, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def end_orphans(runners: Path) -> None:
    """Kills the processes of runners whose control process is dead. They were to end by themselves."""
    abandoned = [path for path in runners.glob("*/") if (path / _OWN).exists() and not is_held(path / _OWN)]
    for directory in abandoned:
        for told in directory.glob("*.session"):
            # The lock of the log says that the number is still that of the same session.
            if is_held(told.with_suffix(".log")):
                members = session_members(int(told.read_text() or 0))
                _log.warning(
                    "Killing %d processes of the runner %s: its control process is gone", len(members), told.stem
                )
                kill_all(members)
            else:
                told.unlink(missing_ok=True)
    done = sorted(
        (path for path in abandoned if not list(path.glob("*.session"))), key=lambda path: path.stat().st_mtime
    )
    for directory in done[:-_KEPT_MAX]:
        shutil.rmtree(directory, ignore_errors=True)
