"""Appending: as the leader, who checks batches and gives them offsets, and as a follower, who keeps them.

Before the write everything may be refused and nothing has changed; after it nothing may fail but the disk. Producer
state, epochs and the log end follow once the bytes are in the file.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ottla.base.buffer import Buffer
from ottla.protocol.errors import (
    ApiError,
    CorruptMessageError,
    DecodeError,
    InvalidRecordError,
    RecordListTooLargeError,
)
from ottla.protocol.records.batch import Batch, batches
from ottla.protocol.records.pair_batch import write_pairs
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.validation import AppendOrigin, AppendRules, Validated, validate
from ottla.storage.errors import UnexpectedOffsetError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX
from ottla.storage.log.append_info import NO_LOG_APPEND_TIME, AppendInfo, AppendOptions
from ottla.storage.log.recompression import Recompression
from ottla.storage.log.repeat import find_duplicate
from ottla.storage.log.roll import is_old
from ottla.storage.log.transaction_index_repair import ensure_complete
from ottla.storage.producer_state.append import ProducerCheck
from ottla.storage.producer_state.entry import BatchMetadata, ProducerEntry
from ottla.storage.producer_state.transaction import CompletedTransaction
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

_TIMESTAMP_MAX = 2**63 - 1
# An enum's member is found by a search each time; these are looked at by every append.
_CLIENT = AppendOrigin.CLIENT
_CREATE_TIME = TimestampType.CREATE_TIME


def append_as_leader(
    log: "Log", records: bytearray | memoryview, leader_epoch: int, now_ms: int, options: AppendOptions
) -> AppendInfo:
    """See `Log.append_as_leader`. Nearly every append is of one batch, so that one goes the shortest way."""
    try:
        batch = Batch(records)
    except DecodeError as error:
        raise CorruptMessageError(str(error)) from None
    size = len(records)
    if batch.size != size or batch.is_control:
        return _append_several(log, records, leader_epoch, now_ms, options)
    if log.recompression is not None and log.recompression.wants(batch):
        records = log.recompression.apply(batch, log.rules, now_ms, options.origin)
        batch, size = Batch(records), len(records)
    first_offset = log.tail[0]
    last_offset = first_offset + batch.last_offset_delta
    rules = log.rules
    # A batch that passes as a client's passes as anybody's: the rules for others are fewer.
    if rules.timestamp_type is _CREATE_TIME and batch.is_in_order(
        rules.max_message_bytes,
        now_ms - rules.timestamp_before_max_ms,
        min(now_ms + rules.timestamp_after_max_ms, _TIMESTAMP_MAX),
        needs_keys=rules.compacted,
    ):
        batch.assign(first_offset, leader_epoch)
    else:
        _validated(batch, rules, now_ms, options).assign(first_offset, leader_epoch)
    if size > log.config.segment_bytes:
        raise _refuse_size(log, size)
    max_timestamp = batch.max_timestamp
    check: ProducerCheck | ProducerEntry | None = None
    if batch.producer_id >= 0:
        check = log.producers.in_sequence(batch) if options.origin is _CLIENT else None
        if check is None:
            outcome = _check_producer(log, batch, options)
            if isinstance(outcome, BatchMetadata):
                return _repeated(log, outcome)
            check = outcome
    segment = _room_for(log, size, last_offset, max_timestamp, now_ms)
    if leader_epoch != log.epochs.latest_epoch:
        log.epochs.note(leader_epoch, first_offset)
    segment.append(records, last_offset, max_timestamp)
    if check is not None:
        check.add_batch(batch)
        if isinstance(check, ProducerCheck):
            log.producers.update((check,))
    log.advance(last_offset + 1, segment)
    append_time = NO_LOG_APPEND_TIME if rules.timestamp_type is _CREATE_TIME else now_ms
    # Twice as fast as AppendInfo(…), and this is the one place where it counts.
    facts = (first_offset, last_offset, max_timestamp, append_time, log.log_start_offset, size)
    return tuple.__new__(AppendInfo, facts)


def _validated(batch: Batch, rules: AppendRules, now_ms: int, options: AppendOptions) -> Validated:
    """What was found ahead, if it is what would be found now."""
    checked = options.checked
    if checked is None or checked.rules is not rules:
        return validate(batch, rules, now_ms, options.origin)
    if isinstance(checked.outcome, ApiError):
        raise checked.outcome
    if rules.timestamp_type is _CREATE_TIME:
        return checked.outcome
    return checked.outcome._replace(max_timestamp=now_ms)


def append_pairs(
    log: "Log", pairs: list[tuple[bytes, bytes | None]], timestamp_ms: int, leader_epoch: int, now_ms: int
) -> int | None:
    """See `Log.append_pairs`. The batch is made here: all that could speak against it are the topic's settings."""
    rules = log.rules
    if (
        rules.timestamp_type is not _CREATE_TIME
        or log.recompression is not None
        or not -rules.timestamp_before_max_ms <= timestamp_ms - now_ms <= rules.timestamp_after_max_ms
    ):
        return None
    first_offset = log.tail[0]
    records = write_pairs(pairs, timestamp_ms, first_offset, leader_epoch)
    size, end_offset = len(records), first_offset + len(pairs)
    if size > rules.max_message_bytes or size > log.config.segment_bytes:
        return None
    segment = _room_for(log, size, end_offset - 1, timestamp_ms, now_ms)
    if leader_epoch != log.epochs.latest_epoch:
        log.epochs.note(leader_epoch, first_offset)
    segment.append(records, end_offset - 1, timestamp_ms)
    log.advance(end_offset, segment)
    return end_offset


def _refuse_size(log: "Log", size: int) -> RecordListTooLargeError:
    return RecordListTooLargeError(
        f"Message batch size is {size} bytes in append to partition {log.topic}-{log.partition}, "
        f"which exceeds the maximum configured segment size of {log.config.segment_bytes}."
    )


def _check_producer(log: "Log", batch: Batch, options: AppendOptions) -> ProducerCheck | BatchMetadata:
    """Refuses a batch, or answers the one that it repeats, or what is to be told once it is written."""
    producers = log.producers
    if options.origin is AppendOrigin.CLIENT:
        duplicate = find_duplicate(log, batch)
        if duplicate is not None:
            return duplicate
    if batch.is_transactional and options.verify_transactions:
        producers.check_verified(batch, options.verification)
    check = producers.check(batch.producer_id, options.origin)
    check.check_data(batch)
    return check


def _append_several(
    log: "Log", records: bytearray | memoryview, leader_epoch: int, now_ms: int, options: AppendOptions
) -> AppendInfo:
    """Any number of batches of any kind: coordinators and the quorum write them."""
    found = _split(records)
    if log.recompression is not None and any(map(log.recompression.wants, found)):
        records = _recompressed(log.recompression, log, found, now_ms, options)
        found = _split(records)
    first_offset = next_offset = log.log_end_offset
    for batch in found:
        validate(batch, log.rules, now_ms, options.origin).assign(next_offset, leader_epoch)
        next_offset += batch.last_offset_delta + 1
    if len(records) > log.config.segment_bytes:
        raise _refuse_size(log, len(records))
    changes = _ProducerChanges(log, options.origin)
    for batch in found:
        if batch.producer_id >= 0:
            duplicate = changes.check(batch, options)
            if duplicate is not None:
                return _repeated(log, duplicate)
    if leader_epoch != log.epochs.latest_epoch:
        log.epochs.note(leader_epoch, first_offset)
    changes.make_ready(log.tail[1])
    info = _write_several(log, records, found, now_ms)
    changes.take_effect(log.tail[1])
    if log.rules.timestamp_type is TimestampType.LOG_APPEND_TIME:
        info = info._replace(log_append_time=now_ms)
    return info


def _recompressed(
    recompression: Recompression, log: "Log", found: Sequence[Batch], now_ms: int, options: AppendOptions
) -> bytearray:
    changed = bytearray()
    for batch in found:
        wanted = recompression.wants(batch)
        changed += recompression.apply(batch, log.rules, now_ms, options.origin) if wanted else batch.data
    return changed


def append_as_follower(log: "Log", records: Buffer, leader_epoch: int, now_ms: int) -> AppendInfo | None:
    """See `Log.append_as_follower`."""
    info = None
    for run in _runs(_continuing(log, records, leader_epoch), log.config.segment_bytes):
        info = _append_run(log, records, run, now_ms)
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


def _append_run(log: "Log", records: Buffer, found: list[Batch], now_ms: int) -> AppendInfo:
    changes = _ProducerChanges(log, None)
    for batch in found:
        if batch.producer_id >= 0:
            changes.add(batch, 0)
        if batch.partition_leader_epoch > log.epochs.latest_epoch:
            log.epochs.note(batch.partition_leader_epoch, batch.base_offset)
    changes.make_ready(log.tail[1])
    info = _write_several(log, memoryview(records)[found[0].position : found[-1].end], found, now_ms)
    changes.take_effect(log.tail[1])
    return info


def _write_several(log: "Log", data: Buffer, found: Sequence[Batch], now_ms: int) -> AppendInfo:
    """Writes batches that have their offsets, in one go."""
    first_offset, last_offset = found[0].base_offset, found[-1].last_offset
    max_timestamp = max(batch.max_timestamp for batch in found)
    segment = _room_for(log, len(data), last_offset, max_timestamp, now_ms)
    segment.append_many(data, found)
    log.advance(last_offset + 1, segment)
    return AppendInfo(first_offset, last_offset, max_timestamp, NO_LOG_APPEND_TIME, log.log_start_offset, len(data))


def roll(log: "Log", now_ms: int, base_offset: int | None) -> Segment:
    """See `Log.roll`."""
    active = log.segments.active
    new_offset = log.log_end_offset if base_offset is None else max(base_offset, log.log_end_offset)
    if active.base_offset == new_offset and not active.size_bytes:
        return active
    active.seal()
    log.snapshots.write(new_offset, log.producers.entries.values())
    if new_offset > log.log_end_offset and log.contiguity.raise_to(new_offset):
        # A leader's gap that no index can express: too rare for another thread.
        log.disk.flush_directory(log.directory)
    segment = Segment.create(log.disk, log.directory, new_offset, log.config)
    segment.created_ms = now_ms
    log.segments.add(segment)
    log.roll_after_ms = None
    log.warm(active)
    log.advance(max(new_offset, log.log_end_offset), segment)
    log.rolled(log, new_offset)
    return segment


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


def _room_for(log: "Log", size: int, last_offset: int, max_timestamp: int, now_ms: int) -> Segment:
    """The active segment, or a new one if an append does not fit it."""
    segment = log.tail[1]
    if (
        segment.size_bytes + size > log.config.segment_bytes
        or last_offset > segment.offset_max
        or segment.is_index_full
    ):
        return roll(log, now_ms, last_offset - RELATIVE_OFFSET_MAX)
    roll_after_ms = log.roll_after_ms
    if (roll_after_ms is None or max_timestamp > roll_after_ms) and is_old(log, segment, max_timestamp, now_ms):
        return roll(log, now_ms, None)
    return segment


def _repeated(log: "Log", batch: BatchMetadata) -> AppendInfo:
    return AppendInfo(batch.first_offset, batch.last_offset, batch.timestamp, batch.timestamp, log.log_start_offset, 0)


def _continuing(log: "Log", records: Buffer, leader_epoch: int) -> list[Batch]:
    """The whole batches that go on where the log ends."""
    next_offset = log.log_end_offset
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


class _ProducerChanges:
    """What an append of several batches does to the producers, held back until it is written."""

    __slots__ = ("_checks", "_completed", "_log", "_origin")

    def __init__(self, log: "Log", origin: AppendOrigin | None) -> None:
        self._log = log
        self._origin = origin
        self._checks: dict[int, ProducerCheck] = {}
        self._completed: list[CompletedTransaction] = []

    def check(self, batch: Batch, options: AppendOptions) -> BatchMetadata | None:
        """Refuses the batch, or says which it repeats, or takes it in."""
        producers = self._log.producers
        if options.origin is AppendOrigin.CLIENT:
            duplicate = find_duplicate(self._log, batch)
            if duplicate is not None:
                return duplicate
        if batch.is_transactional and options.verify_transactions:
            producers.check_verified(batch, options.verification)
        self.add(batch, options.transaction_version)
        return None

    def add(self, batch: Batch, transaction_version: int) -> None:
        """Takes a batch in."""
        producer_id = batch.producer_id
        check = self._checks.get(producer_id)
        if check is None:
            check = self._log.producers.check_copy(producer_id, self._origin)
            self._checks[producer_id] = check
        completed = check.append(batch, transaction_version)
        if completed is not None:
            self._completed.append(completed)

    def make_ready(self, segment: Segment) -> None:
        """Before the batches are in the segment: an index that they get an entry in has to be whole."""
        if any(completed.is_aborted for completed in self._completed):
            ensure_complete(self._log, segment)
            segment.transaction_index.make_ready()

    def take_effect(self, segment: Segment) -> None:
        """The batches are in the segment."""
        producers = self._log.producers
        producers.update(self._checks.values())
        for completed in self._completed:
            aborted = producers.complete(completed)
            if aborted is not None:
                segment.transaction_index.append(aborted)
