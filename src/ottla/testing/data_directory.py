"""Where the data of a broker for tests lives: in memory if there is room, and gone when it is not needed any more."""

import os
import shutil
import tempfile
import weakref
from typing import Final

_MEMORY: Final = "/dev/shm"
_ROOM_BYTES_MIN: Final = 512 * 1024 * 1024
"""Containers often have a tiny /dev/shm, which a busy test would fill."""
_PREFIX: Final = "ottla-broker-"


class DataDirectory:
    """A directory that is removed by `remove`, or when this process ends without it."""

    def __init__(self) -> None:
        self.path: Final = tempfile.mkdtemp(prefix=_PREFIX, dir=memory_root())
        self._removal: Final = weakref.finalize(self, _remove, self.path, os.getpid())

    def remove(self) -> None:
        """Removes it with all in it; a second call does nothing."""
        self._removal()


def memory_root(root: str = _MEMORY, room_bytes_min: int = _ROOM_BYTES_MIN) -> str | None:
    """A file system in memory with room on it; None for the system's place for temporary files."""
    try:
        found = os.statvfs(root)
    except OSError:
        return None
    has_room = found.f_bavail * found.f_frsize >= room_bytes_min
    return root if has_room and os.access(root, os.W_OK | os.X_OK) else None


def _remove(path: str, owner: int) -> None:
    # A forked child that ends has a copy of this, but not of the broker.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
