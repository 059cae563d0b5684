"""What the tests of a log need: batches to append, a log to append them to, and its records read back."""

from collections.abc import Sequence

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.reader import ReadOptions, read_tuples
from ottla.protocol.records.validation import AppendOrigin
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.disk.port import Disk
from ottla.storage.log.append_info import AppendInfo, AppendOptions
from ottla.storage.log.loader import LoadOptions, Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.segment.segment import Segment

DIRECTORY = "/data/orders-0"
NOW_MS = 1_700_000_000_000
SMALL = LogConfig(segment_bytes=2_000, segment_index_bytes=960, index_interval_bytes=100)
"""Segments of a few batches, an index entry for most of them."""

FROM_COORDINATOR = AppendOptions(origin=AppendOrigin.COORDINATOR)
UNVERIFIED = AppendOptions(verify_transactions=False)


def data_batch(count: int = 1, *, value: bytes = b"v", timestamp: int = NOW_MS, **options: object) -> bytearray:
    """A batch of records with offsets from 0 on and the same timestamp."""
    records = [(index, timestamp, f"k{index}".encode(), value, ()) for index in range(count)]
    return write_batch(records, BatchOptions(**options))  # type: ignore[arg-type]


def placed(batch: bytearray, base_offset: int, leader_epoch: int = 0) -> bytearray:
    """The batch with the offsets that a leader gave it."""
    Batch(batch).assign(base_offset, leader_epoch)
    return batch


def produced(producer_id: int, epoch: int, sequence: int, count: int = 1, *, transactional: bool = False) -> bytearray:
    """An idempotent producer's batch."""
    return data_batch(
        count,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=transactional,
    )


def marker(producer_id: int, epoch: int, control_type: ControlRecordType, coordinator_epoch: int = 0) -> bytearray:
    """The end of a transaction."""
    ending = EndTransactionMarker(control_type, coordinator_epoch)
    return write_end_marker(ending, producer_id=producer_id, producer_epoch=epoch, timestamp=NOW_MS)


def open_log(
    disk: Disk,
    config: LogConfig = SMALL,
    shutdown: Shutdown = Shutdown.UNCLEAN,
    *,
    recovery_point: int = 0,
    log_start_offset: int = 0,
) -> Log:
    """The log of partition 0 of `orders`."""
    options = LoadOptions(
        "orders",
        0,
        now_ms=NOW_MS,
        log_start_offset=log_start_offset,
        recovery_point=recovery_point,
        shutdown=shutdown,
    )
    return Log.open(disk, DIRECTORY, config, options)


def append(log: Log, batch: bytearray, leader_epoch: int = 0, options: AppendOptions = UNVERIFIED) -> AppendInfo:
    """Appends as the leader."""
    return log.append_as_leader(batch, leader_epoch, NOW_MS, options)


def offsets(log: Log, start: int | None = None) -> list[int]:
    """The offsets of all records from an offset on, found by reading until there is nothing left."""
    return [record[0] for record in records(log, start)]


def records(log: Log, start: int | None = None) -> list[tuple[object, ...]]:
    """All records from an offset on, read 300 bytes at a time."""
    position = log.log_start_offset if start is None else start
    found: list[tuple[object, ...]] = []
    while position < log.log_end_offset:
        data = log.read(position, 300, log.log_end_offset)
        if data.records is None:
            break
        some = read_tuples(data.records.read(), ReadOptions(from_offset=position, control_records=True))
        found += some
        position = int(some[-1][0]) + 1 if some else _after(data.records.read())
    return found


def _after(data: bytes) -> int:
    return Batch(data).next_offset


def replace_segments(log: Log, old: Sequence[Segment], new: Sequence[Segment]) -> None:
    """What the cleaner does in steps: cleaned segments take the place of others."""
    following = log.segments.after(old[-1])
    log.expect_gaps_below(log.log_end_offset if following is None else following.base_offset)
    with log.claimed():
        log.begin_swap(new)
    log.flush_names()
    with log.claimed():
        log.finish_swap(old)
    log.flush_names()
