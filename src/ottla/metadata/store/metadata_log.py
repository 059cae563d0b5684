"""The raft `LogPort` on a disk: `ottla.storage.log.log.Log` in the directory `__cluster_metadata-0`.

Batches are written as the quorum made or fetched them. What counts as durable is what `flush` returned for. At the
start the whole log is read: indexes and epochs are built anew from the batches, and what survived is flushed, so
nothing rests on how the process ended.

`flush` may run on another thread beside appends and reads; truncation and restart wait for it.
"""

import threading
from itertools import pairwise

from ottla.base.clock import Clock
from ottla.metadata.store.flush_marker import FlushMarker
from ottla.metadata.store.log_check import check_log
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.protocol.records.batch import batches
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID, OffsetAndEpoch
from ottla.storage.disk.atomic import directory_of
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.loader import LoadOptions
from ottla.storage.log.log import Log
from ottla.storage.partition_metadata import FILE_NAME, read_partition_metadata, write_partition_metadata

_EPOCH_MAX = 2**31 - 1
_FIRST_EPOCH = 0


class MetadataLog:
    """A `LogPort`; see there. `open` makes one."""

    def __init__(self, log: Log, marker: FlushMarker, clock: Clock) -> None:
        self._log = log
        self._marker = marker
        self._clock = clock
        self._flushing = threading.Lock()
        self.start_epoch = _FIRST_EPOCH
        """The epoch of the snapshot that the log begins behind; it counts while there is no record."""

    @classmethod
    def open(cls, disk: Disk, directory: str, config: MetadataLogConfig, clock: Clock) -> "MetadataLog":
        """Opens the log in a directory, or begins one.

        The torn end that a crash left is cut; any other damage raises `CorruptFileError` and nothing is changed.
        """
        if disk.status(directory) is None:
            # The first thing written here is a vote, and that must not vanish with the directory.
            disk.make_directory(directory)
            disk.flush_directory(directory_of(directory))
        _check_topic_id(disk, directory)
        marker = FlushMarker(disk, directory)
        check_log(disk, directory, marker.read())
        now_ms = clock.now_ms()
        log = Log.open(disk, directory, config.log_config, LoadOptions(METADATA_TOPIC, METADATA_PARTITION, now_ms))
        log.flush(now_ms)
        marker.create(log.log_end_offset)
        return cls(log, marker, clock)

    def __repr__(self) -> str:
        return f"MetadataLog(offsets {self.start_offset}..{self.end_offset})"

    @property
    def start_offset(self) -> int:
        return self._log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self._log.log_end_offset

    @property
    def flushed_end_offset(self) -> int:
        return self._log.recovery_point

    @property
    def last_epoch(self) -> int:
        latest = self._log.epochs.latest_epoch
        return self.start_epoch if latest < 0 or self.end_offset == self.start_offset else latest

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments."""
        return self._log.size_bytes

    @property
    def high_watermark(self) -> int:
        """The offset up to which the log is known to be committed."""
        return self._log.high_watermark

    def update_high_watermark(self, offset: int) -> None:
        """The quorum has committed up to an offset: nothing below is ever truncated."""
        self._log.update_high_watermark(max(offset, self._log.high_watermark))

    def append(self, records: bytes) -> None:
        next_offset, size = self.end_offset, 0
        for batch in batches(records):
            if batch.base_offset != next_offset:
                raise RaftInvariantError(f"a batch at {batch.base_offset} where the log ends at {next_offset}")
            next_offset, size = batch.next_offset, batch.end
        if size != len(records):
            raise RaftInvariantError("records that end inside a batch")
        if records:
            self._log.append_as_follower(records, _EPOCH_MAX, self._clock.now_ms())

    def read(self, offset: int, max_bytes: int) -> bytes:
        if not self.start_offset <= offset < self.end_offset:
            return b""
        found = self._log.read(offset, max_bytes, self.end_offset).records
        data = b"" if found is None else found.read()
        size = 0
        for batch in batches(data):
            size = batch.end
        return data[:size]

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        found = self._log.end_offset_for_epoch(epoch)
        if found.epoch < 0 or self.end_offset == self.start_offset:
            return OffsetAndEpoch(offset=self.end_offset, epoch=self.last_epoch)
        return OffsetAndEpoch(offset=found.start_offset, epoch=found.epoch)

    def truncate_to(self, offset: int) -> None:
        if offset >= self.end_offset:
            return
        if offset < self.high_watermark:
            raise RaftInvariantError(f"truncation to {offset}, but {self.high_watermark} is committed")
        [first_dropped, *_] = batches(self.read(offset, 1))
        # A flush that ends between the two must not raise the marker again.
        with self._flushing:
            self._marker.lower(first_dropped.base_offset)
            self._log.truncate_to(offset)
        self._remove_deleted()

    def flush(self) -> None:
        """Returns once everything appended so far is on the disk."""
        with self._flushing:
            self._log.flush(self._clock.now_ms())
            self._marker.advance(self._log.recovery_point)

    def restart_at(self, start: OffsetAndEpoch) -> None:
        """Empties the log; it goes on behind a snapshot. On the disk when it returns."""
        with self._flushing:
            self._marker.lower(0)
            self._log.truncate_fully_and_start_at(start.offset)
            self._log.disk.flush_directory(self._log.directory)
        self.start_epoch = start.epoch
        self._remove_deleted()
        self.update_high_watermark(start.offset)
        self.flush()

    def advance_start(self, start: OffsetAndEpoch) -> None:
        """Drops the segments that a snapshot of committed records covers.

        Segments [0, 30) [30, 70) [70, 90), start 75 → [70, 90), of which [75, 90) are the log; at the next start it
        begins at 70 again, which does no harm.
        """
        if start.offset > self.end_offset:
            self.restart_at(start)
            return
        self.update_high_watermark(start.offset)
        self._log.increment_log_start_offset(start.offset)
        segments = self._log.segments.all()
        covered = [old for old, new in pairwise(segments) if new.base_offset <= start.offset]
        with self._log.claimed():
            self._log.delete_segments(covered, self._clock.now_ms())
        self._log.flush_names()
        self.start_epoch = start.epoch
        self._remove_deleted()

    def close(self) -> None:
        """Brings everything to the disk and lets go of the files."""
        self.flush()
        self._log.close(self._clock.now_ms())

    def _remove_deleted(self) -> None:
        for segment in self._log.take_deleted():
            segment.delete()


def _check_topic_id(disk: Disk, directory: str) -> None:
    found = read_partition_metadata(disk, directory)
    if found is None:
        write_partition_metadata(disk, directory, METADATA_TOPIC_ID)
    elif found != METADATA_TOPIC_ID:
        raise CorruptFileError(
            f"topic id {found}, that of the metadata is {METADATA_TOPIC_ID}", f"{directory}/{FILE_NAME}"
        )
