"""The raft `SnapshotPort` on a disk: the `.checkpoint` files beside the log.

A snapshot is written as `.checkpoint.part`, flushed, renamed, and the directory flushed: one that can be seen is whole.
Before the log forgets anything the snapshot that covers it is there, so at every moment the newest snapshot and the
log behind it make up the whole state.
"""

import logging
from typing import Final

from ottla.metadata.store import snapshot_name
from ottla.metadata.store.metadata_log import MetadataLog
from ottla.metadata.store.snapshot_file import check_snapshot, read_header
from ottla.raft.identity import OffsetAndEpoch
from ottla.storage.disk.port import Access, Disk
from ottla.storage.errors import CorruptFileError, StorageError

_HEADER_BYTES_MAX: Final = 1 << 20
"""Room for the first batch, which has the voters too."""

_log = logging.getLogger(__name__)


class SnapshotDirectory:
    """A `SnapshotPort`; see there. `open` makes one."""

    def __init__(self, disk: Disk, directory: str, log: MetadataLog, sizes: dict[OffsetAndEpoch, int]) -> None:
        self._disk = disk
        self._directory = directory
        self._log = log
        self._sizes = sizes
        self._ids = sorted(sizes)

    @classmethod
    def open(cls, disk: Disk, directory: str, log: MetadataLog) -> "SnapshotDirectory":
        """Finds the snapshots of a log; removes what an interrupted write or deletion left, and those before the log.

        `CorruptFileError` if the log begins where no snapshot leads to, or if the newest one is broken and holds
        what nothing else does. Apache Kafka does not start with a broken one in any case.
        """
        sizes: dict[OffsetAndEpoch, int] = {}
        leftovers: list[str] = []
        for name in disk.list(directory):
            found = snapshot_name.parse(name)
            if found is None:
                continue
            if found.suffix != snapshot_name.WHOLE or found.snapshot_id.offset < log.start_offset:
                leftovers.append(name)
            else:
                status = disk.status(f"{directory}/{name}")
                sizes[found.snapshot_id] = 0 if status is None else status.size_bytes
        snapshots = cls(disk, directory, log, sizes)
        snapshots._check(log)
        for name in leftovers:
            disk.remove(f"{directory}/{name}")
        if leftovers:
            disk.flush_directory(directory)
        return snapshots

    def _check(self, log: MetadataLog) -> None:
        latest = self.latest_id
        if latest is None:
            if log.start_offset > 0:
                reason = f"the log begins at offset {log.start_offset}, and no snapshot holds what was before"
                raise CorruptFileError(reason, self._directory)
            return
        try:
            check_snapshot(self.read_whole(latest), self.path(latest))
        except CorruptFileError as problem:
            if not self._is_dispensable(latest, log):
                raise
            _log.warning("%s; it goes, what is before it and the log hold the same", problem)
            self._drop(latest)
            self._check(log)
            return
        if latest.offset == log.end_offset:
            log.start_epoch = latest.epoch

    def _is_dispensable(self, latest: OffsetAndEpoch, log: MetadataLog) -> bool:
        """Whether the log reaches from an older snapshot, or from its very beginning, to this one."""
        is_begun = len(self._ids) > 1 or (log.start_offset == 0 and latest.offset > 0)
        return is_begun and log.end_offset >= latest.offset

    def _drop(self, snapshot_id: OffsetAndEpoch) -> None:
        self._disk.remove(self.path(snapshot_id))
        self._disk.flush_directory(self._directory)
        del self._sizes[snapshot_id]
        self._ids = sorted(self._sizes)

    @property
    def ids(self) -> list[OffsetAndEpoch]:
        """All snapshots, the oldest first."""
        return list(self._ids)

    @property
    def latest_id(self) -> OffsetAndEpoch | None:
        return self._ids[-1] if self._ids else None

    @property
    def earliest_id(self) -> OffsetAndEpoch | None:
        return self._ids[0] if self._ids else None

    def path(self, snapshot_id: OffsetAndEpoch) -> str:
        """The file of a snapshot."""
        return f"{self._directory}/{snapshot_name.name_of(snapshot_id)}"

    def size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        return self._sizes.get(snapshot_id)

    def read(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        return self._disk.open(self.path(snapshot_id), Access.READ).read(position, max_bytes)

    def read_whole(self, snapshot_id: OffsetAndEpoch) -> bytes:
        """All bytes of a snapshot."""
        size = self.size(snapshot_id)
        if size is None:
            raise StorageError("no such snapshot", self.path(snapshot_id))
        return self.read(snapshot_id, 0, size)

    def timestamp_ms(self, snapshot_id: OffsetAndEpoch) -> int:
        """The time of the last record that a snapshot covers."""
        data = self.read(snapshot_id, 0, _HEADER_BYTES_MAX)
        return read_header(data, self.path(snapshot_id)).last_contained_log_timestamp

    def store(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        writer = self.part_writer(snapshot_id)
        writer.append(data)
        writer.freeze()

    def part_writer(self, snapshot_id: OffsetAndEpoch) -> "SnapshotPart":
        return SnapshotPart(self, self._disk, snapshot_id)

    def restart_log_at(self, snapshot_id: OffsetAndEpoch) -> None:
        self._log.restart_at(snapshot_id)
        self._forget_before(snapshot_id)

    def delete_before(self, snapshot_id: OffsetAndEpoch) -> None:
        self._log.advance_start(snapshot_id)
        self._forget_before(snapshot_id)

    def publish(self, snapshot_id: OffsetAndEpoch, part_path: str, size_bytes: int) -> None:
        """A part is complete and on the disk: gives it its name."""
        self._disk.rename(part_path, self.path(snapshot_id))
        self._disk.flush_directory(self._directory)
        self._sizes[snapshot_id] = size_bytes
        self._ids = sorted(self._sizes)

    def _forget_before(self, snapshot_id: OffsetAndEpoch) -> None:
        """Marks older snapshots as deleted before removing any, so that no restart finds one without the next."""
        old = [known for known in self._ids if known < snapshot_id]
        doomed = [f"{self._directory}/{snapshot_name.name_of(known, snapshot_name.DELETED)}" for known in old]
        for known, path in zip(old, doomed, strict=True):
            self._disk.rename(self.path(known), path)
            del self._sizes[known]
            self._ids = sorted(self._sizes)
        if old:
            self._disk.flush_directory(self._directory)
        for path in doomed:
            self._disk.remove(path)


class SnapshotPart:
    """A `SnapshotPartWriter`; see there."""

    def __init__(self, snapshots: SnapshotDirectory, disk: Disk, snapshot_id: OffsetAndEpoch) -> None:
        self._snapshots = snapshots
        self._disk = disk
        self._snapshot_id = snapshot_id
        self._path = snapshots.path(snapshot_id).removesuffix(snapshot_name.WHOLE) + snapshot_name.PART
        self._file = disk.open(self._path, Access.CREATE)
        self._file.truncate(0)
        self._size = 0

    @property
    def size(self) -> int:
        return self._size

    def append(self, data: bytes) -> None:
        self._file.write(self._size, (data,))
        self._size += len(data)

    def freeze(self) -> None:
        # What a peer sent is believed only as far as its checksums go.
        check_snapshot(self._file.read(0, self._size), self._path)
        self._file.flush()
        self._snapshots.publish(self._snapshot_id, self._path, self._size)

    def discard(self) -> None:
        self._disk.remove(self._path)
