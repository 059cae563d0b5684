"""What the tests of the cleaner need: a broker's logs on a disk in memory, and rounds of cleaning in this process."""

from collections.abc import Callable, Iterator
from typing import Any

from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.compaction import Compaction
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.cleaner.work_order import Failed, Report, WorkOrder
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition

ORDERS = TopicPartition("orders", 0)
T0 = 1_700_000_000_000
COMPACT: dict[str, object] = {
    "cleanup.policy": "compact",
    "internal.segment.bytes": "400",
    "index.interval.bytes": "100",
    "segment.index.bytes": "960",
    "min.cleanable.dirty.ratio": "0",
}


class ManualClock:
    """A clock that stands still until it is turned."""

    def __init__(self, now_ms: int = T0) -> None:
        self.time_ms = now_ms

    def now_ms(self) -> int:
        return self.time_ms

    def monotonic_ms(self) -> int:
        return self.time_ms


class WorkerHere:
    """Does an order in this process, on whatever disk the logs are."""

    def __init__(self, disk: Disk, order: WorkOrder, pulse: Callable[[int], None] = lambda count: None) -> None:
        self._compaction = Compaction(disk, order, b"0123456789abcdef", pulse)
        self._is_stopped = False

    def reports(self) -> Iterator[Report]:
        reports = iter(self._compaction.run())
        try:
            while not self._is_stopped:
                report = next(reports, None)
                if report is None:
                    return
                yield report
        except CorruptFileError as error:
            yield Failed(error.reason, error.path, is_corrupt=True)

    def stop(self) -> None:
        self._is_stopped = True

    def close(self) -> None:
        pass


def manager_on(
    disk: Disk, clock: ManualClock, topics: dict[str, dict[str, object]] | None = None, **options: Any
) -> LogManager:
    """The logs in `/data`, loaded."""
    names = iter(range(1_000_000))
    manager = LogManager(
        LogManagerOptions(
            directories=("/data",),
            disk=disk,
            clock=clock,
            lock_directory=None,
            recovery_threads=1,
            unique_id=lambda: f"{next(names):032x}",
            **options,
        )
    )
    manager.load({"orders": COMPACT} if topics is None else topics)
    return manager


def cleaner_of(manager: LogManager, disk: Disk, config: CleanerConfig | None = None) -> LogCleaner:
    """A cleaner whose rounds run in this process."""
    return LogCleaner(manager, config or CleanerConfig(), lambda order: WorkerHere(disk, order))


def put(log: Log, *pairs: tuple[str, str | None], timestamp: int = T0, **options: object) -> None:
    """Appends pairs of key and value as one batch."""
    records: list[RecordTuple] = [
        (index, timestamp, key.encode(), None if value is None else value.encode(), ())
        for index, (key, value) in enumerate(pairs)
    ]
    log.append_as_leader(write_batch(records, BatchOptions(**options)), 0, timestamp)  # type: ignore[arg-type]
    log.update_high_watermark(log.log_end_offset)
