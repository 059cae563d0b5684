"""All that is known of one log, and the small changes that several parts make.

The parts (`append`, `write`, `read`, `deletion`, `truncation` …) work on this; `Log` is what others see.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ottla.base.ids import Uuid
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.validation import AppendRules
from ottla.storage.append_queue import AppendQueue
from ottla.storage.disk.port import Disk
from ottla.storage.errors import StorageError
from ottla.storage.index.transaction_index import IndexDigest
from ottla.storage.log.contiguity import Contiguity
from ottla.storage.log.end import LogEnd
from ottla.storage.log.loaded import LoadedLog, LoadOptions
from ottla.storage.log.recompression import Recompression
from ottla.storage.log.segments import Segments
from ottla.storage.log.turn import Turn
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.snapshot_directory import SnapshotDirectory
from ottla.storage.segment.segment import Segment


class LogState(LogEnd):
    """The log of one partition; the attributes are for reading."""

    __slots__ = (
        "_deleted",
        "_flushing",
        "_warm",
        "appends",
        "contiguity",
        "directory",
        "disk",
        "has_new_directory",
        "has_unflushed_deletion",
        "index_digests",
        "is_discarded",
        "is_draining",
        "is_half_cut",
        "last_flush_ms",
        "partition",
        "recovery_point",
        "rolled",
        "segments",
        "snapshots",
        "swapping",
        "topic",
        "topic_id",
        "writing",
    )

    def __init__(self, disk: Disk, config: LogConfig, loaded: LoadedLog, options: LoadOptions) -> None:
        super().__init__(loaded.epochs, loaded.producers, loaded.log_start_offset)
        self.disk = disk
        self.topic = options.topic
        self.topic_id: Uuid | None = options.topic_id
        """The topic's id, as `partition.metadata` has it; None in directories from before there were ids."""
        self.partition = options.partition
        self.directory = loaded.directory
        self.segments: Segments = loaded.segments
        self.snapshots: SnapshotDirectory = loaded.snapshots
        self.contiguity: Contiguity = loaded.contiguity
        self.recovery_point = loaded.recovery_point
        self.last_flush_ms = options.now_ms
        self._deleted: list[Segment] = []
        self.swapping: tuple[Segment, ...] = ()
        """Cleaned segments that are about to take others' place."""
        self._flushing = Turn()
        self.has_new_directory = loaded.recovery_point == 0
        """Whether the directory's own name may not be on the disk either, as nothing was flushed so far."""
        self.has_unflushed_deletion = False
        """Whether a power cut may bring back segments that were deleted."""
        self.is_discarded = False
        """Whether it is being deleted: nothing is written any more."""
        self.is_draining = False
        """Whether nothing is placed behind what is on its way to the file: the log is about to move."""
        self.is_half_cut = False
        """Whether a truncation has begun and is not finished: nobody appends, and the log has no end to build on."""
        self.appends: AppendQueue | None = None
        """The thread that writes when the disk is not well; None where there is none."""
        self.writing = Turn()
        """Held by that thread while it writes, and by whoever renames the directory."""
        self.rolled: Callable[[Any, int], None] = _nobody
        """Told of this `Log`, by the thread that writes: everything below an offset is in segments that were closed."""
        self._warm: Segment | None = None
        self.index_digests: dict[int, IndexDigest] | None = None
        """What `transaction_index_checkpoint` knows; None until somebody asks."""
        self.advance(loaded.log_end_offset, loaded.segments.active)
        self.update_config(config)

    def __repr__(self) -> str:
        return f"Log({self.topic}-{self.partition}, offsets {self.log_start_offset}..{self.log_end_offset})"

    def update_config(self, config: LogConfig) -> None:
        """Takes new settings; they count from the next append on."""
        rules = AppendRules(
            compacted=config.compact,
            timestamp_type=TimestampType.LOG_APPEND_TIME
            if config.message_timestamp_type == "LogAppendTime"
            else TimestampType.CREATE_TIME,
            timestamp_before_max_ms=config.message_timestamp_before_max_ms,
            timestamp_after_max_ms=config.message_timestamp_after_max_ms,
            max_message_bytes=config.max_message_bytes,
            decompressed_bytes_max=config.decompressed_message_max_bytes,
            partition=f"{self.topic}-{self.partition}",
        )
        self.take_settings(config, rules, Recompression.of(config))

    @property
    def log_end_offset(self) -> int:
        """The offset that the next record gets."""
        return self.tail[0]

    @property
    def next_offset(self) -> int:
        """The offset of the next batch: the log end, or beyond it while a thread still writes placed batches."""
        backlog = self.backlog
        return self.tail[0] if backlog is None else backlog.end_offset

    @property
    def must_defer(self) -> bool:
        """Whether appends go through the thread: the disk is not well, or earlier ones are on their way."""
        return self.is_deferring or self.backlog is not None

    def warm(self, segment: Segment) -> None:
        """Notes that an older segment is being read; the one read before lets go of its descriptor and maps."""
        previous = self._warm
        if previous is not segment:
            self._warm = segment
            if previous is not None and previous is not self.segments.active:
                previous.release()

    def is_warm(self, segment: Segment) -> bool:
        """Whether it is the older segment that is being read."""
        return segment is self._warm

    def restart_at(self, log_start_offset: int, log_end_offset: int) -> None:
        """Takes the bounds that a truncation led to."""
        self.roll_after_ms = None
        self.log_start_offset = log_start_offset
        self.recovery_point = min(self.recovery_point, log_end_offset)
        self.advance(log_end_offset, self.segments.active)
        self.update_high_watermark(self.high_watermark)

    @property
    def deleted(self) -> Sequence[Segment]:
        """Segments that were dropped and have not been taken yet."""
        return self._deleted

    def doom(self, segments: Sequence[Segment]) -> None:
        """Puts segments that were taken out on the list of `take_deleted`."""
        self._deleted.extend(segments)

    def go_offline(self, error: StorageError, *, is_repeatable: bool = False) -> None:
        """Stops serving the log, unless the failed operation changed nothing and may succeed later."""
        if self.offline_error is None and not (is_repeatable and error.is_passing):
            self.offline_error = error


def _nobody(log: object, offset: int) -> None:
    """Flushes when its owner says so."""
