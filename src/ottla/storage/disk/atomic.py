"""Small files that are replaced as a whole: a reader sees the old or the new one, after a crash too."""

import errno

from ottla.storage.disk.port import Access, Disk
from ottla.storage.errors import StorageError

TEMPORARY_SUFFIX = ".tmp"


def write_atomically(disk: Disk, path: str, contents: bytes) -> None:
    """Writes a file beside it, flushes, renames it over `path`, and flushes the directory."""
    temporary = path + TEMPORARY_SUFFIX
    file = disk.open(temporary, Access.CREATE)
    file.truncate(0)
    file.write(0, (contents,))
    file.flush()
    disk.rename(temporary, path)
    disk.flush_directory(directory_of(path))


def read_whole(disk: Disk, path: str) -> bytes | None:
    """A file's contents; None if it is not there."""
    try:
        file = disk.open(path, Access.READ)
    except StorageError as error:
        if error.errno == errno.ENOENT:
            return None
        raise
    return file.read(0, file.size())


def flush_if_there(disk: Disk, path: str) -> None:
    """Returns once a file is on the disk, or another thread has removed it."""
    try:
        disk.open(path, Access.WRITE).flush()
    except StorageError as error:
        if error.errno != errno.ENOENT:
            raise


def directory_of(path: str) -> str:
    """The directory that holds the path.

    >>> directory_of("/data/logs"), directory_of("/data"), directory_of("data")
    ('/data', '/', '.')
    """
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else ".")
