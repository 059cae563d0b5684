"""The history of leader epochs in memory, and on disk whenever it changed.

Epochs and start offsets rise together; an entry that would break this takes away those it contradicts, because a new
leader's word goes over the remains of an older one. Removals at the end are on disk before they count. What a leader
begins, or what comes with a batch, is noted, and written by the flush that its batches wait for: until then recovery
finds it in the batches again. A crash may take an epoch in which nothing was written: nobody has a record of it, and
whoever leads next begins an epoch of their own there. Removals at the start may be lost, too: loading makes them again.

Worked example, [(0, 0) (1, 50) (3, 80)] with a log end of 100: the end of epoch 1 is 80, of 2 is 80 as epoch 1's,
of 3 is 100, of 4 is unknown. Truncated to 60 → [(0, 0) (1, 50)]; log start raised to 55 → [(1, 55) (3, 80)].
"""

import threading
from collections.abc import Sequence

from ottla.storage.disk.port import Disk
from ottla.storage.leader_epoch.checkpoint import EpochEntry, read_epochs, write_epochs

UNDEFINED_EPOCH = -1
UNDEFINED_EPOCH_OFFSET = -1


class LeaderEpochCache:
    """One partition's epochs. One thread changes it; any may ask, and any may write the file."""

    __slots__ = ("_disk", "_is_noted", "_writing", "entries", "latest_epoch", "path")

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self.path = path
        self._writing = threading.Lock()
        self._is_noted = False
        self.entries: tuple[EpochEntry, ...] = ()
        self.latest_epoch = UNDEFINED_EPOCH
        """The newest epoch; -1 if none is known."""
        for entry in read_epochs(disk, path):
            self._take(_with(self.entries, entry))

    def note(self, epoch: int, start_offset: int) -> bool:
        """Says that an epoch begins at an offset; nothing changes if it is known with that start or an earlier one.

        `flush_noted` writes the file. Answers whether anything changed.
        """
        entries = self.entries
        if entries and entries[-1].epoch == epoch and entries[-1].start_offset <= start_offset:
            return False
        self._take(_with(entries, EpochEntry(epoch, start_offset)))
        self._is_noted = True
        return True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEntry:
        """The largest known epoch that is not above the one asked for, and where it ends; (-1, -1) if unknown."""
        if epoch == UNDEFINED_EPOCH:
            return EpochEntry(UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
        if epoch == self.latest_epoch:
            return EpochEntry(epoch, log_end_offset)
        floor = epoch
        for entry in self.entries:
            if entry.epoch > epoch:
                return EpochEntry(floor, entry.start_offset)
            floor = entry.epoch
        return EpochEntry(UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)

    def epoch_for(self, offset: int) -> int | None:
        """The epoch in which the offset was written; None if it lies before all that is known."""
        found = None
        for entry in self.entries:
            if entry.start_offset > offset:
                break
            found = entry.epoch
        return found

    def truncate_from_end(self, end_offset: int) -> None:
        """Forgets the epochs that begin at the offset or later."""
        self.forget_from_end(end_offset)
        self.flush_noted()

    def forget_from_end(self, end_offset: int) -> None:
        """Forgets these epochs in memory alone; `flush_noted` writes the file."""
        kept = tuple(entry for entry in self.entries if entry.start_offset < end_offset)
        if kept != self.entries:
            self._take(kept)
            self._is_noted = True

    def truncate_from_start(self, start_offset: int) -> None:
        """Forgets the epochs that end at the offset or before; the one that holds it now begins there.

        The file follows with the next change, without waiting for a disk: until then loading comes to the same result.
        """
        before = [entry for entry in self.entries if entry.start_offset <= start_offset]
        if before:
            first = EpochEntry(before[-1].epoch, start_offset)
            self._take((first, *self.entries[len(before) :]))

    def flush_noted(self) -> None:
        """Writes the file if there is anything that it does not say."""
        if self._is_noted:
            self.flush()

    def flush(self) -> None:
        """Writes the file."""
        with self._writing:
            # Before it is true: what is noted meanwhile needs the next flush.
            self._is_noted = False
            write_epochs(self._disk, self.path, self.entries)

    def _take(self, entries: Sequence[EpochEntry]) -> None:
        self.entries = tuple(entries)
        self.latest_epoch = entries[-1].epoch if entries else UNDEFINED_EPOCH


def _with(entries: Sequence[EpochEntry], new: EpochEntry) -> list[EpochEntry]:
    """The entries with a new one at the end, without those that contradict it."""
    if entries and entries[-1].epoch == new.epoch and entries[-1].start_offset <= new.start_offset:
        return list(entries)
    kept = [entry for entry in entries if entry.epoch < new.epoch and entry.start_offset < new.start_offset]
    return [*kept, new]
