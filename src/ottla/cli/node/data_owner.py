"""Finds the process that uses a data directory, if there is one, and its name."""

import os
from pathlib import Path

from ottla.storage.directory_lock import LOCK_FILE, DirectoryInUseError, DirectoryLock


def owner_of(directory: str, proc: Path = Path("/proc")) -> str | None:
    """The other process that has the directory, in words; None if it is free. One that is just ending is waited for."""
    lock = os.path.join(directory, LOCK_FILE)
    if not os.path.exists(lock):
        return None
    try:
        DirectoryLock.acquire(directory).release()
    except DirectoryInUseError:
        found = _holder(os.path.realpath(lock), proc)
        return "another broker" + ("" if found is None else f", process {found}")
    return None


def _holder(path: str, proc: Path) -> int | None:
    """The process that has the file open, as far as this user may see."""
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if any(os.readlink(link) == path for link in (entry / "fd").iterdir()):
                return int(entry.name)
        except OSError:
            continue
    return None
