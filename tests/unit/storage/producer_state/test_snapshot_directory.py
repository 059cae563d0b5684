"""Snapshots come and go on the thread that writes the log, and are flushed on others."""

from ottla.storage.disk.port import Access, File
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.producer_state.snapshot_directory import SnapshotDirectory


class RemovingDisk(SimulatedDisk):
    """A disk on which another thread deletes a snapshot just before it is opened to be flushed."""

    doomed: int | None = None
    snapshots: SnapshotDirectory

    def open(self, path: str, access: Access) -> File:
        doomed, self.doomed = self.doomed, None
        if doomed is not None and access is Access.WRITE:
            self.snapshots.remove(doomed)
        return super().open(path, access)


def test_a_snapshot_that_is_deleted_while_others_are_flushed_is_no_error() -> None:
    """An I/O error would take the whole directory offline."""
    disk = RemovingDisk()
    disk.make_directory("/data")
    disk.snapshots = snapshots = SnapshotDirectory(disk, "/data", ())
    for offset in (10, 20):
        snapshots.write(offset, ())
    disk.doomed = 10
    snapshots.flush(0, 30)
    assert snapshots.offsets == [20]
