"""The end of a log: what every append looks at and changes.

`Log` adds all that happens less often. The two are apart because this half exists twice, here and compiled in
`_end.pyx`, which also has a short ways for the appends that nearly all are.
"""

from typing import TYPE_CHECKING, Final

from ottla.protocol.records.validation import AppendRules
from ottla.storage.errors import StorageError
from ottla.storage.leader_epoch.cache import LeaderEpochCache
from ottla.storage.log.append_info import AppendInfo
from ottla.storage.log.recompression import Recompression
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.state import ProducerState

if TYPE_CHECKING:
    from ottla.storage.segment.segment import Segment


class LogEnd:
    """What a log's next batch needs to know. `take_settings` and `advance` come before the first one."""

    __slots__ = (
        "config",
        "epochs",
        "high_watermark",
        "log_start_offset",
        "offline_error",
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
        self.offline_error: StorageError | None = None

    def take_settings(self, config: LogConfig, rules: AppendRules, recompression: Recompression | None) -> None:
        """They count from the next append on."""
        self.config = config
        self.rules = rules
        self.recompression = recompression
        self.roll_after_ms: int | None = None
        """The active segment is too old for a batch later than this; None before that is known."""

    def advance(self, log_end_offset: int, segment: "Segment") -> None:
        """Moves the end after the segment was written to."""
        self.tail: tuple[int, Segment, int] = (log_end_offset, segment, segment.size_bytes)
        """Log end offset, active segment, and its size at that offset: of one moment."""
        self.producers.end_offset = log_end_offset

    def append_committed(self, records: bytearray | memoryview, leader_epoch: int, now_ms: int) -> AppendInfo | None:
        """`append_as_leader` of a client's batch by the only replica, so that the high watermark follows at once.

        None, with nothing done, unless the batch and the log are just as they nearly always are; plain Python has
        no shorter way than the usual one, and never does it.
        """

    def append_pairs_committed(
        self, pairs: list[tuple[bytes, bytes | None]], timestamp_ms: int, leader_epoch: int, now_ms: int
    ) -> int | None:
        """The same for `append_pairs`."""
