"""Batches and snapshots for tests of what is stored."""

from ottla.metadata.store.metadata_log import MetadataLog
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.raft.identity import OffsetAndEpoch
from ottla.raft.snapshot.writer import SnapshotWriter
from ottla.storage.disk.port import Disk
from tests.unit.metadata.store.node import START_MS, TestClock

DIRECTORY = "/data/__cluster_metadata-0"
SMALL_SEGMENTS = MetadataLogConfig(segment_bytes=700)


def batch(base_offset: int, epoch: int, *, records: int = 2, fill: int = 60, mark: int = 0) -> bytes:
    """A batch of some records; `mark` makes it differ from another at the same place."""
    value = bytes([mark]) * fill
    rows = [(base_offset + delta, START_MS, None, value, ()) for delta in range(records)]
    return bytes(write_batch(rows, BatchOptions(base_offset=base_offset, partition_leader_epoch=epoch)))


def snapshot(snapshot_id: OffsetAndEpoch, *, timestamp_ms: int = START_MS, fill: int = 100) -> bytes:
    """A snapshot of one record."""
    writer = SnapshotWriter(snapshot_id, timestamp_ms, START_MS)
    writer.begin(0, None)
    writer.append([bytes(fill)])
    return writer.finish()


def open_log(disk: Disk, config: MetadataLogConfig = SMALL_SEGMENTS) -> MetadataLog:
    return MetadataLog.open(disk, DIRECTORY, config, TestClock())


def at(offset: int, epoch: int) -> OffsetAndEpoch:
    return OffsetAndEpoch(offset=offset, epoch=epoch)
