"""The file `leader-epoch-checkpoint`: lines `0` (version), the count, then `<epoch> <start offset>` each.

A missing file is an empty history. Noise or a wrong count is refused: a history that is silently short would make
this replica truncate in the wrong place. Opening the log then rebuilds it from the batches.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError

FILE_NAME = "leader-epoch-checkpoint"
_VERSION = "0"


class EpochEntry(NamedTuple):
    """An epoch, and the first offset that its leader wrote or could have written."""

    epoch: int
    start_offset: int


def write_epochs(disk: Disk, path: str, entries: Iterable[EpochEntry]) -> None:
    """Replaces the file; it is on disk when this returns."""
    lines = [f"{entry.epoch} {entry.start_offset}" for entry in entries]
    write_atomically(disk, path, "".join(f"{line}\n" for line in (_VERSION, len(lines), *lines)).encode())


def read_epochs(disk: Disk, path: str) -> list[EpochEntry]:
    """The entries of the file, in its order."""
    raw = read_whole(disk, path)
    if not raw:
        return []
    try:
        version, count, *lines = raw.decode("ascii").splitlines()
        entries = [EpochEntry(*map(int, line.split(" "))) for line in lines]
        expected = int(count)
    except (ValueError, TypeError) as error:
        raise CorruptFileError(f"not a leader epoch checkpoint ({error})", path) from None
    if version != _VERSION or expected != len(entries):
        raise CorruptFileError(f"version {version}, {len(entries)} entries where {expected} were announced", path)
    return entries
