"""Feeds a partition's log into the shard on top of it, after an election or a restart.

One shard after the other, so that only one stretch of a log is in memory. Files are read by a thread; records are
replayed on the loop in slices of a few milliseconds, because a shard belongs to the loop's thread, and others want
their turn; a slice may end within a batch, for one may hold ten thousand records. An empty log, as most of fifty are,
is done within the call. A shard that was closed meanwhile is let go. A shard whose log can't be read answers
NOT_COORDINATOR rather than run on half a state, and is loaded again after a pause that doubles up to a minute.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from ottla.base.clock import Clock
from ottla.base.collector import collector_off
from ottla.coordinator.runtime.loading import LoadError, StoredBatch, StoredMarker
from ottla.coordinator.runtime.shard import Shard, ShardStatus
from ottla.protocol.errors import ApiError, DecodeError
from ottla.protocol.records.batch import batches
from ottla.protocol.records.control import ControlRecordType, read_end_marker
from ottla.protocol.records.reader import decode_batch
from ottla.storage.segment.slice import FileSlice

if TYPE_CHECKING:
    from ottla.protocol.records.batch import Batch
    from ottla.replication.partition.partition import Partition
    from ottla.replication.ports import EventLoop
    from ottla.replication.replica_manager import ReplicaManager

S = TypeVar("S")

_log = logging.getLogger(__name__)

_SLICE_SECONDS: Final = 0.003
_PIECE_RECORDS: Final = 100
"""After so many records of a batch, about a millisecond, the time is looked at."""
_PROGRESS_MS: Final = 5_000
"""How often a long load says how far it is."""
RETRY_MS_MIN: Final = 1_000
RETRY_MS_MAX: Final = 60_000


ReadInThread: TypeAlias = Callable[[Callable[[], bytes], Callable[[bytes | Exception], None]], None]
"""Reads bytes off the loop, and hands them over on it, never within the call; an exception if they can't be read."""


class LoadSettings(NamedTuple):
    """The settings and callbacks for loading the shards of one internal topic."""

    topic: str
    buffer_bytes: int
    """Read at once (`offsets.load.buffer.size`, `transaction.state.log.load.buffer.size`)."""
    when_led: Callable[[Callable[[], None]], None]
    """Calls back when what the metadata says now has been done, so that the partition is led."""
    read: "ReadInThread"
    loaded: Callable[[int], None]
    """Hears of each partition whose shard is active, to follow its high watermark."""
    reload: Callable[[Shard[Any]], bool]
    """Opens the partition of a shard that could not be loaded anew; False if another shard has its place, or none."""


class ShardLoader:
    """Loads the shards of one internal topic. Loop thread only."""

    def __init__(self, replicas: "ReplicaManager", loop: "EventLoop", clock: Clock, settings: LoadSettings) -> None:
        self._replicas: Final = replicas
        self._loop: Final = loop
        self._clock: Final = clock
        self._settings: Final = settings
        self._queue: deque[Shard[Any]] = deque()
        self._failures: dict[int, int] = {}
        """By partition, how often its load has failed since it last succeeded."""
        self._is_busy = False
        self._is_closed = False

    def load(self, shard: Shard[S]) -> None:
        """Has a shard loaded as soon as its partition is led, and those before it are loaded."""
        self._settings.when_led(partial(self._begin, shard))

    def _begin(self, shard: Shard[Any]) -> None:
        self._queue.append(shard)
        if not self._is_busy:
            self._next()

    @property
    def failed_count(self) -> int:
        """The number of partitions that wait for another attempt."""
        return len(self._failures)

    def close(self) -> None:
        """Loads nothing more."""
        self._is_closed = True
        self._queue.clear()

    def _next(self) -> None:
        self._is_busy = True
        while self._queue and not self._is_closed:
            load = _Load(self._queue.popleft(), self._clock.monotonic_ms())
            if not self._advance(load):
                return
        self._is_busy = False

    def _advance(self, load: "_Load") -> bool:
        """Goes on with a load; False if it has to wait for the disk or for its next turn."""
        shard = load.shard
        if self._is_closed or shard.status is not ShardStatus.LOADING:
            return True
        try:
            partition = self._replicas.leader(self._settings.topic, shard.partition)
            if load.pieces is not None:
                if not self._replay(load):
                    self._loop.call_soon(partial(self._resume, load))
                    return False
                load.pieces = None
            found = self._read(load, partition)
            if found is not None:
                self._settings.read(found.read, partial(self._was_read, load))
                return False
            if partition.log.next_offset > partition.log.log_end_offset:
                # Placed by this broker as a follower, and still on its way to the file.
                partition.log.when_written(partition.log.next_offset, lambda error: self._resume(load))
                return False
            self._finish(load, partition)
        except (ApiError, LoadError, DecodeError) as error:
            self._fail(load, error)
        return True

    def _read(self, load: "_Load", partition: "Partition") -> FileSlice | None:
        """The next stretch of the log; None at its end."""
        log = partition.log
        if load.offset is None:
            load.offset = log.log_start_offset
        if load.offset >= log.log_end_offset:
            return None
        return log.read(load.offset, self._settings.buffer_bytes, log.log_end_offset).records

    def _was_read(self, load: "_Load", read: bytes | Exception) -> None:
        if isinstance(read, bytes):
            load.pieces = load.pieces_of(read)
        else:
            self._fail(load, read)
        self._resume(load)

    def _resume(self, load: "_Load") -> None:
        if self._advance(load):
            self._next()

    def _replay(self, load: "_Load") -> bool:
        """Replays records for a slice of time; whether all that was read is replayed."""
        until = self._loop.time() + _SLICE_SECONDS
        assert load.pieces is not None
        with collector_off():
            for piece in load.pieces:
                load.shard.load(piece)
                load.offset = piece.end_offset
                if self._loop.time() >= until:
                    self._tell(load)
                    return False
        return True

    def _tell(self, load: "_Load") -> None:
        now_ms = self._clock.monotonic_ms()
        if now_ms - load.told_ms < _PROGRESS_MS:
            return
        load.told_ms = now_ms
        partition = self._replicas.get(self._settings.topic, load.shard.partition)
        end_offset = -1 if partition is None else partition.log.log_end_offset
        _log.info(
            "[%s-%d] Loading: at offset %s of %d", self._settings.topic, load.shard.partition, load.offset, end_offset
        )

    def _finish(self, load: "_Load", partition: "Partition") -> None:
        shard = load.shard
        summary = shard.finish_load(partition.log.log_end_offset, self._clock.now_ms())
        self._failures.pop(shard.partition, None)
        if summary.records:
            _log.info(
                "[%s-%d] Loaded %d records in %d ms%s",
                self._settings.topic,
                shard.partition,
                summary.records,
                self._clock.monotonic_ms() - load.begun_ms,
                f", {summary.unknown_records} of them of unknown types" if summary.unknown_records else "",
            )
        self._settings.loaded(shard.partition)

    def _fail(self, load: "_Load", error: Exception) -> None:
        shard = load.shard
        shard.unload()
        failures = self._failures[shard.partition] = self._failures.get(shard.partition, 0) + 1
        pause_ms = min(RETRY_MS_MIN << min(failures - 1, 10), RETRY_MS_MAX)
        _log.error(
            "[%s-%d] Not loaded (try %d), so its groups or transactions are not served; next try in %d s: %s",
            self._settings.topic,
            shard.partition,
            failures,
            pause_ms // 1000,
            error,
        )
        self._loop.call_at(self._loop.time() + pause_ms / 1000, partial(self._try_again, shard))

    def _try_again(self, shard: Shard[Any]) -> None:
        if not self._is_closed and not self._settings.reload(shard):
            self._failures.pop(shard.partition, None)


class _Load:
    """The progress of one shard."""

    __slots__ = ("begun_ms", "offset", "pieces", "shard", "told_ms")

    def __init__(self, shard: Shard[Any], now_ms: int) -> None:
        self.shard = shard
        self.begun_ms = self.told_ms = now_ms
        self.offset: int | None = None
        """The next offset to replay; None before the first read."""
        self.pieces: Iterator[StoredBatch | StoredMarker] | None = None
        """Batches that were read and are not replayed yet."""

    def pieces_of(self, read: bytes) -> "Iterator[StoredBatch | StoredMarker]":
        """The batches from the next offset on, those with many records in pieces; decoded one by one."""
        for batch in batches(read):
            if self.offset is None or batch.last_offset >= self.offset:
                stored = _stored(batch)
                if isinstance(stored, StoredMarker) or len(stored.records) <= _PIECE_RECORDS:
                    yield stored
                else:
                    yield from _split(stored)


def _split(batch: StoredBatch) -> "Iterator[StoredBatch]":
    """Ends each piece behind its last record; the last one, where the batch ends, which may be further."""
    records = batch.records
    for start in range(0, len(records), _PIECE_RECORDS):
        piece = records[start : start + _PIECE_RECORDS]
        is_last = start + _PIECE_RECORDS >= len(records)
        yield batch._replace(end_offset=batch.end_offset if is_last else piece[-1][0] + 1, records=piece)


def _stored(batch: "Batch") -> StoredBatch | StoredMarker:
    """A batch as a shard takes it; one whose checksum is wrong is a `LoadError`."""
    if not batch.crc_matches():
        raise LoadError(f"the batch at offset {batch.base_offset} does not match its checksum")
    end_offset = batch.last_offset + 1
    records = decode_batch(batch)
    if batch.is_control:
        for record in records:
            marker = read_end_marker(record)
            if marker is not None:
                committed = marker.control_type is ControlRecordType.COMMIT
                return StoredMarker(end_offset, batch.producer_id, batch.producer_epoch, committed)
        return StoredBatch(end_offset, ())
    found = [(offset, key or b"", value) for offset, _, key, value, _ in records]
    if not batch.is_transactional:
        return StoredBatch(end_offset, found)
    return StoredBatch(end_offset, found, batch.producer_id, batch.producer_epoch)
