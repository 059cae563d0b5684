"""Writes snapshots of the image beside the metadata log, and lets old ones go with the log before them.

The image is immutable, so its records are written while the node goes on: built in small portions on the loop, brought
to the disk on a worker thread, and given a name on the loop again, where the quorum looks for snapshots. A snapshot
that cannot be written is logged and tried again when the next one is due: the log still has everything.
"""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import Final

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.metadata.batch import record_values
from ottla.metadata.image.snapshot import snapshot_records
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.snapshot_schedule import BYTES_MAX, INTERVAL_MS, SnapshotSchedule
from ottla.metadata.store import snapshot_name
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.metadata.store.metadata_store import MetadataStore
from ottla.metadata.store.retention import oldest_snapshot_to_keep
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.raft.core import RaftCore
from ottla.raft.identity import OffsetAndEpoch
from ottla.raft.snapshot.writer import SnapshotWriter
from ottla.storage.disk.port import Access, Disk
from ottla.storage.errors import StorageError

_log = logging.getLogger(__name__)

RECORDS_PER_TURN: Final = 200
"""A millisecond or two of work."""
RETENTION_CHECK_INTERVAL_MS: Final = 60_000


@frozen(kw_only=True)
class SnapshotSettings:
    """When snapshots are written, and how long they are kept."""

    bytes_max: int = BYTES_MAX
    """`metadata.log.max.record.bytes.between.snapshots`"""
    interval_ms: int = INTERVAL_MS
    """`metadata.log.max.snapshot.interval.ms`"""
    retention: MetadataLogConfig = field(default_factory=MetadataLogConfig)


class SnapshotGenerator:
    """Writes one snapshot at a time."""

    def __init__(
        self, store: MetadataStore, core: RaftCore, disk: Disk, settings: SnapshotSettings, clock: Clock
    ) -> None:
        self._store = store
        self._core = core
        self._disk = disk
        self._retention = settings.retention
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        now_ms = clock.now_ms()
        self._schedule = SnapshotSchedule(now_ms=now_ms, bytes_max=settings.bytes_max, interval_ms=settings.interval_ms)
        self._retention_checked_ms = now_ms
        self._is_busy = False
        self._is_closed = False

    def loaded(self, size_bytes: int, loader: MetadataLoader) -> None:
        """The loader took in batches of that size; begins a snapshot if one is due."""
        self._schedule.loaded(size_bytes)
        now_ms = self._clock.now_ms()
        reason = self._schedule.why_due(now_ms)
        if reason is not None and not self._is_busy and not loader.image.is_empty and loader.is_batch_aligned:
            self._begin(loader, reason, now_ms)
        elif now_ms - self._retention_checked_ms >= RETENTION_CHECK_INTERVAL_MS:
            self._delete_old(now_ms)

    def taken(self) -> None:
        """The image is that of a snapshot, which need not be written again."""
        self._schedule.taken(self._clock.now_ms())

    def close(self) -> None:
        """Leaves a snapshot that is being written where it is; the next start removes the part."""
        self._is_closed = True

    def _begin(self, loader: MetadataLoader, reason: str, now_ms: int) -> None:
        offset, epoch, timestamp_ms = loader.image.provenance
        snapshot_id = OffsetAndEpoch(offset=offset + 1, epoch=epoch)
        writer = self._core.begin_snapshot(snapshot_id, timestamp_ms, now_ms)
        self._schedule.taken(now_ms)
        if writer is None:
            return
        _log.info("[SnapshotGenerator] writing snapshot %s because %s", snapshot_id, reason)
        self._is_busy = True
        self._build(writer, snapshot_records(loader.image))

    def _build(self, writer: SnapshotWriter, records: Iterator[VersionedRecord]) -> None:
        if self._is_closed:
            return
        portion = list(islice(records, RECORDS_PER_TURN))
        if portion:
            writer.append(record_values(portion))
            self._loop.call_soon(self._build, writer, records)
            return
        path = self._store.snapshots.path(writer.snapshot_id)
        part = path.removesuffix(snapshot_name.WHOLE) + snapshot_name.PART
        job = self._loop.run_in_executor(None, _write_part, self._disk, part, writer)
        job.add_done_callback(lambda done: self._written(writer.snapshot_id, part, done))

    def _written(self, snapshot_id: OffsetAndEpoch, part: str, job: "asyncio.Future[int]") -> None:
        self._is_busy = False
        if self._is_closed or job.cancelled():
            return
        try:
            self._publish(snapshot_id, part, job.result())
        except StorageError as error:
            _log.error("[SnapshotGenerator] snapshot %s was not written: %s", snapshot_id, error.with_remedy)
            return
        self._delete_old(self._clock.now_ms())

    def _publish(self, snapshot_id: OffsetAndEpoch, part: str, size_bytes: int) -> None:
        latest = self._store.snapshots.latest_id
        if (latest is not None and latest >= snapshot_id) or snapshot_id.offset < self._store.log.start_offset:
            # A leader sent a newer one in the meantime.
            self._disk.remove(part)
            return
        self._store.snapshots.publish(snapshot_id, part, size_bytes)
        _log.info("[SnapshotGenerator] wrote snapshot %s of %d bytes", snapshot_id, size_bytes)

    def _delete_old(self, now_ms: int) -> None:
        """Old files that cannot be read or removed stay; where the log itself failed the next append ends the node."""
        self._retention_checked_ms = now_ms
        try:
            keep = oldest_snapshot_to_keep(self._retention, self._store.log, self._store.snapshots, now_ms)
            if keep is not None:
                self._core.delete_before_snapshot(keep)
                _log.info("[SnapshotGenerator] deleted the log and the snapshots before %s", keep)
        except StorageError as error:
            _log.error("[SnapshotGenerator] the log and the snapshots were not shortened: %s", error.with_remedy)


def _write_part(disk: Disk, path: str, writer: SnapshotWriter) -> int:
    """On a worker thread: the whole snapshot on the disk, under the name of an unfinished one; its size."""
    data = writer.finish()
    file = disk.open(path, Access.CREATE)
    file.truncate(0)
    file.write(0, (data,))
    file.flush()
    return len(data)
