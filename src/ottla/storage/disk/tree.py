"""Removing a directory with everything in it, foreign files too."""

import errno

from ottla.storage.disk.port import Disk
from ottla.storage.errors import StorageError


def remove_tree(disk: Disk, path: str) -> None:
    """Removes a directory; fine if part of it is gone. A link goes, and what it points at stays."""
    for name in disk.list(path):
        inner = f"{path}/{name}"
        try:
            disk.remove(inner)
        except StorageError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            remove_tree(disk, inner)
    disk.remove(path)
