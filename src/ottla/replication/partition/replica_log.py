"""The part of a log's interface that a partition uses; `ottla.storage.log.log.Log` implements it.

The port keeps files and threads out of the partition's logic.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from ottla.base.buffer import Buffer
from ottla.storage.errors import StorageError
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log.append_info import AppendInfo, AppendOptions
from ottla.storage.log.fetch_data import FetchData, TimestampOffset
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.entry import ProducerEntry


class Epochs(Protocol):
    """The history of leader epochs in a log."""

    @property
    def latest_epoch(self) -> int:
        """The newest epoch; -1 if none is known."""
        ...

    def epoch_for(self, offset: int) -> int | None:
        """The epoch in which the offset was written; None if it lies before all that is known."""
        ...


class Transactions(Protocol):
    """The transactions that hold back readers of committed data."""

    def replicated(self, high_watermark: int) -> None:
        """Every marker below the high watermark is safe."""
        ...


class Producers(Protocol):
    """A log's state of its producers."""

    @property
    def entries(self) -> Mapping[int, ProducerEntry]:
        """By producer id."""
        ...

    @property
    def transactions(self) -> Transactions:
        """Transactions that are open, or whose marker is not replicated."""
        ...


class LogBounds(Protocol):
    """The bounds of a log, and the calls that move them."""

    topic: str
    partition: int
    directory: str
    config: LogConfig
    log_start_offset: int
    offline_error: StorageError | None

    @property
    def high_watermark(self) -> int: ...

    @property
    def log_end_offset(self) -> int: ...

    @property
    def next_offset(self) -> int: ...

    @property
    def backlog(self) -> object | None: ...

    @property
    def must_defer(self) -> bool: ...

    def when_written(self, offset: int, done: Callable[[StorageError | None], None]) -> None: ...

    @property
    def last_stable_offset(self) -> int: ...

    @property
    def size_bytes(self) -> int: ...

    @property
    def is_flushing(self) -> bool: ...

    @property
    def is_half_cut(self) -> bool: ...

    def update_high_watermark(self, offset: int) -> int: ...

    def increment_log_start_offset(self, offset: int) -> bool: ...

    def assign_epoch_start(self, epoch: int) -> None: ...


class ReplicaLog(LogBounds, Protocol):
    """A log that is written, read and searched."""

    @property
    def epochs(self) -> Epochs: ...

    @property
    def producers(self) -> Producers: ...

    def append_as_leader(
        self, records: bytearray | memoryview, leader_epoch: int, now_ms: int, options: AppendOptions = ...
    ) -> AppendInfo: ...

    def append_committed(
        self, records: bytearray | memoryview, leader_epoch: int, now_ms: int
    ) -> AppendInfo | None: ...

    def append_as_follower(self, records: Buffer, leader_epoch: int, now_ms: int) -> AppendInfo | None: ...

    def read(self, offset: int, bytes_max: int, end_offset: int, *, may_wait: bool = True) -> FetchData: ...

    def read_ahead(self, offset: int, bytes_max: int, *, is_committed: bool) -> None: ...

    def aborted_in(self, found: FetchData, offset: int, end_offset: int) -> list[AbortedTransaction]: ...

    def offset_for_timestamp(self, timestamp: int) -> TimestampOffset | None: ...

    def offset_of_max_timestamp(self) -> TimestampOffset | None: ...

    def end_offset_for_epoch(self, epoch: int) -> EpochEntry: ...
