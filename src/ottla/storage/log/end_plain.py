"""The end of a log: what every append looks at and changes.

`LogState` adds all that happens less often. The two are apart because this half exists twice, here and compiled in
`_end.pyx`, which also has a short way for the append that nearly every one is.
"""

from typing import TYPE_CHECKING, Final

from ottla.protocol.records.validation import AppendRules
from ottla.storage.disk.pace import UNWATCHED, DiskPace
from ottla.storage.errors import StorageError
from ottla.storage.leader_epoch.cache import LeaderEpochCache
from ottla.storage.log.append_info import AppendInfo
from ottla.storage.log.recompression import Recompression
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.state import ProducerState

if TYPE_CHECKING:
    from ottla.storage.log.appending.backlog import Backlog
    from ottla.storage.segment.segment import Segment


class LogEnd:
    """The state that a log's next batch needs. `take_settings` and `advance` come before the first one."""

    __slots__ = (
        "backlog",
        "config",
        "epochs",
        "high_watermark",
        "is_deferring",
        "log_start_offset",
        "offline_error",
        "pace",
        "producers",
        "recompression",
        "roll_after_ms",
        "rules",
        "tail",
    )

    def __init__(self, epochs: LeaderEpochCache, producers: ProducerState, log_start_offset: int) -> None:
        self.epochs: Final = epochs
        self.producers = producers
        self.log_start_offset = log_start_offset
        self.high_watermark = log_start_offset
        """How far the log is replicated, as far as this broker knows; `update_high_watermark` alone moves it."""
        self.offline_error: StorageError | None = None
        self.is_deferring = False
        """Whether a thread is to write what is appended."""
        self.backlog: Backlog | None = None
        """What was handed to that thread and is not written yet."""
        self.pace: DiskPace = UNWATCHED
        """Hears how long writes take."""

    def take_settings(self, config: LogConfig, rules: AppendRules, recompression: Recompression | None) -> None:
        """They count from the next append on."""
        self.config = config
        self.rules = rules
        self.recompression = recompression
        self.roll_after_ms: int | None = None
        """The active segment is too old for a batch later than this; None before that is known."""

    def advance(self, log_end_offset: int, segment: "Segment") -> None:
        """Moves the end after the segment was written to."""
        self.producers.end_offset = log_end_offset
        self.tail: tuple[int, Segment, int] = (log_end_offset, segment, segment.size_bytes)
        """Log end offset, active segment, and its size at that offset: of one moment."""

    def update_high_watermark(self, offset: int) -> int:
        """Says how far the log is replicated; kept within the log. Answers what it is now."""
        high_watermark = self.high_watermark = min(max(offset, self.log_start_offset), self.tail[0])
        if self.producers.transactions.unreplicated:
            self.producers.transactions.replicated(high_watermark)
        return high_watermark

    def append_plain(self, records: bytearray | memoryview, leader_epoch: int, now_ms: int) -> AppendInfo | None:
        """`append_as_leader` of a client's batch that is plain, in order, and fits the active segment.

        None, with nothing done, unless that is so. Plain Python has no shorter way than the usual one, and never does
        it.
        """

    def append_committed(self, records: bytearray | memoryview, leader_epoch: int, now_ms: int) -> AppendInfo | None:
        """`append_plain` by the only replica: the high watermark follows at once."""
