"""Placing batches: as the leader, who checks them and gives them offsets, and as a follower, who keeps them.

`append_as_leader` and `append_as_follower` are the only ways into a log. The compiled `LogEnd.append_plain` is a short
cut for what a client's batch nearly always is; tests write the same with both. What was placed is written at once, or
by a thread if the disk is not well (`deferral`).
"""

from collections.abc import Iterator, Sequence

from ottla.base.buffer import Buffer
from ottla.protocol.errors import (
    ApiError,
    CorruptMessageError,
    DecodeError,
    InvalidRecordError,
    RecordListTooLargeError,
)
from ottla.protocol.records.batch import Batch, batches
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.validation import AppendOrigin, AppendRules, Validated, validate
from ottla.storage.errors import BusyDiskError, UnexpectedOffsetError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log.append_info import NO_LOG_APPEND_TIME, AppendInfo, AppendOptions
from ottla.storage.log.appending.deferral import defer
from ottla.storage.log.appending.placed import Placed
from ottla.storage.log.appending.producer_change import NextBatch, ProducerChange, ProducerChanges
from ottla.storage.log.appending.write import write
from ottla.storage.log.recompression import Recompression
from ottla.storage.log.repeat import recall
from ottla.storage.log.state import LogState
from ottla.storage.producer_state.entry import BatchMetadata

_TIMESTAMP_MAX = 2**63 - 1
# An enum's member is found by a search each time; these are looked at by every append.
_CLIENT = AppendOrigin.CLIENT
_CREATE_TIME = TimestampType.CREATE_TIME


def append_as_leader(
    log: LogState, records: bytearray | memoryview, leader_epoch: int, now_ms: int, options: AppendOptions
) -> AppendInfo:
    """See `Log.append_as_leader`."""
    if log.must_defer and log.appends is not None:
        if log.is_draining:
            raise BusyDiskError("the log is about to move to another directory", log.directory)
        log.appends.check_room(len(records))
    placed = _place(log, records, leader_epoch, now_ms, options)
    if isinstance(placed, BatchMetadata):
        first, last, timestamp = placed.first_offset, placed.last_offset, placed.timestamp
        return AppendInfo(first, last, timestamp, timestamp, log.log_start_offset, 0)
    _put(log, placed)
    append_time = NO_LOG_APPEND_TIME if log.rules.timestamp_type is _CREATE_TIME else now_ms
    first, last, size = placed.first_offset, placed.last_offset, len(placed.data)
    return AppendInfo(first, last, placed.max_timestamp, append_time, log.log_start_offset, size)


def _put(log: LogState, placed: Placed) -> None:
    if log.must_defer:
        defer(log, placed)
    else:
        write(log, placed)


def _place(
    log: LogState, records: bytearray | memoryview, leader_epoch: int, now_ms: int, options: AppendOptions
) -> Placed | BatchMetadata:
    """Checks batches of any number and kind, and gives them offsets; or the batch that one of them repeats."""
    found = _split(records)
    if log.recompression is not None and any(map(log.recompression.wants, found)):
        records = _recompressed(log.recompression, log, found, now_ms, options)
        found = _split(records)
    first_offset = next_offset = log.next_offset
    for batch in found:
        _checked(batch, log.rules, now_ms, options).assign(next_offset, leader_epoch)
        next_offset += batch.last_offset_delta + 1
    if len(records) > log.config.segment_bytes:
        raise RecordListTooLargeError(
            f"Message batch size is {len(records)} bytes in append to partition {log.topic}-{log.partition}, "
            f"which exceeds the maximum configured segment size of {log.config.segment_bytes}."
        )
    change = _producer_change(log, found, options)
    if isinstance(change, BatchMetadata):
        return change
    epochs = () if leader_epoch == log.epochs.latest_epoch else (EpochEntry(leader_epoch, first_offset),)
    return Placed(records, found, change, epochs, now_ms)


def _checked(batch: Batch, rules: AppendRules, now_ms: int, options: AppendOptions) -> Batch | Validated:
    """The batch if it may be appended as it is, or its validated form; raises the refusal."""
    # A batch that passes as a client's passes as anybody's: the rules for others are fewer.
    if (
        rules.timestamp_type is _CREATE_TIME
        and not batch.is_control
        and batch.is_in_order(
            rules.max_message_bytes,
            now_ms - rules.timestamp_before_max_ms,
            min(now_ms + rules.timestamp_after_max_ms, _TIMESTAMP_MAX),
            needs_keys=rules.compacted,
        )
    ):
        return batch
    ahead = options.checked
    if ahead is None or ahead.rules is not rules:
        return validate(batch, rules, now_ms, options.origin)
    if isinstance(ahead.outcome, ApiError):
        raise ahead.outcome
    if rules.timestamp_type is _CREATE_TIME:
        return ahead.outcome
    return ahead.outcome._replace(max_timestamp=now_ms)


def _producer_change(log: LogState, found: Sequence[Batch], options: AppendOptions) -> ProducerChange | BatchMetadata:
    """The change of the producers, or the batch that is repeated; raises the refusal."""
    if len(found) == 1 and options.origin is _CLIENT and found[0].producer_id >= 0 and not found[0].is_control:
        entry = log.producers.in_sequence(found[0])
        if entry is not None:
            return NextBatch(log, entry, found[0])
    changes = ProducerChanges(log.producers, options.origin)
    for batch in found:
        if batch.producer_id >= 0:
            if options.origin is _CLIENT:
                recall(log, batch)
            repeated = changes.check(batch, options)
            if repeated is not None:
                return repeated
    return changes


def _recompressed(
    recompression: Recompression, log: LogState, found: Sequence[Batch], now_ms: int, options: AppendOptions
) -> bytearray:
    changed = bytearray()
    for batch in found:
        wanted = recompression.wants(batch)
        changed += recompression.apply(batch, log.rules, now_ms, options.origin) if wanted else batch.data
    return changed


def append_as_follower(log: LogState, records: Buffer, leader_epoch: int, now_ms: int) -> AppendInfo | None:
    """See `Log.append_as_follower`."""
    info = None
    for run in _runs(_continuing(log, records, leader_epoch), log.config.segment_bytes):
        placed = _place_run(log, records, run, now_ms)
        _put(log, placed)
        info = AppendInfo(
            placed.first_offset,
            placed.last_offset,
            placed.max_timestamp,
            NO_LOG_APPEND_TIME,
            log.log_start_offset,
            len(placed.data),
        )
    return info


def _runs(found: list[Batch], bytes_max: int) -> Iterator[list[Batch]]:
    """The batches in stretches that fit a segment each, by size and by offsets.

    Compaction leaves gaps that may be wider than an index can express. A batch that is larger than a segment may be
    here gets one of its own: the leader took it.
    """
    run: list[Batch] = []
    for batch in found:
        too_wide = run and batch.last_offset - run[0].base_offset > RELATIVE_OFFSET_MAX
        if run and (too_wide or batch.end - run[0].position > bytes_max):
            yield run
            run = []
        run.append(batch)
    if run:
        yield run


def _place_run(log: LogState, records: Buffer, found: list[Batch], now_ms: int) -> Placed:
    """Batches that have their offsets from the leader, who also checked them."""
    changes = ProducerChanges(log.producers, None)
    epochs: list[EpochEntry] = []
    latest_epoch = log.epochs.latest_epoch
    for batch in found:
        if batch.producer_id >= 0:
            changes.add(batch, 0)
        if batch.partition_leader_epoch > latest_epoch:
            latest_epoch = batch.partition_leader_epoch
            epochs.append(EpochEntry(latest_epoch, batch.base_offset))
    return Placed(memoryview(records)[found[0].position : found[-1].end], found, changes, epochs, now_ms)


def _split(records: bytearray | memoryview) -> Sequence[Batch]:
    try:
        first = Batch(records)
        if first.size == len(records):
            return (first,)
        found = list(batches(records))
    except DecodeError as error:
        raise CorruptMessageError(str(error)) from None
    if found[-1].end != len(records):
        raise InvalidRecordError("The records end inside a batch")
    return found


def _continuing(log: LogState, records: Buffer, leader_epoch: int) -> list[Batch]:
    """The whole batches that go on where the log ends."""
    next_offset = log.next_offset
    found: list[Batch] = []
    try:
        for batch in batches(records):
            if batch.partition_leader_epoch > leader_epoch:
                break
            if not batch.crc_matches():
                raise CorruptMessageError(f"The CRC of the batch at offset {batch.base_offset} does not match")
            if batch.base_offset < next_offset or batch.last_offset < batch.base_offset:
                raise UnexpectedOffsetError(
                    f"{log.topic}-{log.partition}: a batch of offsets {batch.base_offset} to {batch.last_offset} "
                    f"where {next_offset} is next"
                )
            next_offset = batch.next_offset
            found.append(batch)
    except DecodeError as error:
        raise CorruptMessageError(str(error)) from None
    return found
