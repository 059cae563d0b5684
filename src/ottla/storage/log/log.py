"""One partition's log: appends, reads, and where it begins and ends.

    log start offset ≤ last stable offset ≤ high watermark ≤ log end offset;   recovery point ≤ log end offset

Below the recovery point everything is on the disk. Reads go up to where the caller says, which is the high watermark
or the last stable offset for consumers and the log end for followers.

One thread at a time changes a log (append, roll, truncate, delete); `flush` may run beside appends on another;
`read` and the lookups may run on any. A `StorageError` takes the log offline: it answers nothing but that error until
it is opened again, because what is on the disk is no longer known.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ottla.base.buffer import Buffer
from ottla.protocol.errors import OffsetOutOfRangeError
from ottla.protocol.records.batch import Batch
from ottla.storage.disk.port import Disk
from ottla.storage.errors import LogOfflineError, StorageError
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log import deletion, lookup, read, truncation
from ottla.storage.log.append_info import FROM_CLIENT, AppendInfo, AppendOptions
from ottla.storage.log.appending.append import append_as_follower, append_as_leader
from ottla.storage.log.appending.backlog import WrittenDone
from ottla.storage.log.appending.write import promise_snapshot, roll
from ottla.storage.log.fetch_data import FetchData, TimestampOffset
from ottla.storage.log.flush import flush, flush_names
from ottla.storage.log.loader import LoadOptions, load
from ottla.storage.log.state import LogState
from ottla.storage.log.truncation import Truncation
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.verification import VerificationEntry
from ottla.storage.segment.segment import Segment


class Log(LogState):
    """The log of one partition. `open` makes one; the attributes are for reading."""

    __slots__ = ()

    @classmethod
    def open(cls, disk: Disk, directory: str, config: LogConfig, options: LoadOptions) -> "Log":
        """Loads the log in a directory, recovering what a crash left; makes an empty one if there is none."""
        return cls(disk, config, load(disk, directory, config, options), options)

    # What it is

    @property
    def active_segment(self) -> Segment:
        """The segment that is appended to."""
        return self.segments.active

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments, indexes not counted."""
        return sum(segment.size_bytes for segment in self.segments)

    @property
    def unflushed_messages(self) -> int:
        """Offsets between the recovery point and the log end, for `flush.messages`."""
        return self.log_end_offset - self.recovery_point

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the oldest transaction that is open or whose marker is not replicated."""
        return self.producers.transactions.first_unstable_offset

    @property
    def last_stable_offset(self) -> int:
        """The offset up to which read_committed consumers may read."""
        # In this order: a transaction that begins in between, on another thread, begins above this high watermark.
        high_watermark = self.high_watermark
        unstable = self.producers.transactions.first_unstable_offset
        if unstable is None or unstable > high_watermark:
            return high_watermark
        return max(unstable, self.log_start_offset)

    # Writing

    def append_as_leader(
        self, records: bytearray | memoryview, leader_epoch: int, now_ms: int, options: AppendOptions = FROM_CLIENT
    ) -> AppendInfo:
        """Checks the batches, gives them offsets, and writes them, or has them written (see `when_written`).

        `records` is changed in place: base offsets, leader epoch, and timestamps on topics that use LogAppendTime;
        on topics with a codec of their own a changed copy is written.
        Raises the `ApiError` that Kafka answers; nothing is written then.
        """
        if self.offline_error is not None:
            self.check_online()
        try:
            info = self.append_plain(records, leader_epoch, now_ms) if options is FROM_CLIENT else None
            return info or append_as_leader(self, records, leader_epoch, now_ms, options)
        except StorageError as error:
            self.go_offline(error, is_repeatable=True)
            raise

    def append_as_follower(self, records: Buffer, leader_epoch: int, now_ms: int) -> AppendInfo | None:
        """Writes batches as the leader has them; a batch that is cut short at the end is left out.

        So are batches from an epoch above the one that this follower fetches in: they are of a leader that it has
        not heard of yet. None if nothing is left.
        """
        self.check_online()
        with self._io(is_repeatable=True):
            return append_as_follower(self, records, leader_epoch, now_ms)

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """Ends the active segment and begins a new one at the log end, or at `base_offset` beyond it.

        An active segment that is empty and begins there already stays.
        """
        with self._io(is_repeatable=True):
            return roll(self, now_ms, base_offset)

    def when_written(self, offset: int, done: WrittenDone) -> None:
        """Calls back, on the loop, once everything below an offset is in the file, or cannot be written.

        Within this call unless a thread is still writing it; `append_as_leader` and `append_as_follower` leave that to
        a thread where the disk is not well.
        """
        backlog = self.backlog
        if backlog is None or offset <= self.log_end_offset:
            done(None)
        else:
            backlog.when_written(offset, done)

    def start_verification(self, batch: Batch, now_ms: int, *, supports_epoch_bump: bool) -> VerificationEntry | None:
        """The receipt to bring along once the coordinator has confirmed the batch's transaction; None: no need."""
        return self.producers.start_verification(batch, now_ms, supports_epoch_bump=supports_epoch_bump)

    # Reading

    def read(self, offset: int, bytes_max: int, end_offset: int, *, may_wait: bool = True) -> FetchData:
        """Batches from an offset on that lie wholly below `end_offset`; the first whole, even beyond `bytes_max`.

        `OffsetOutOfRangeError` outside of log start and log end. A caller that may not wait for a disk gets
        `ColdReadError` where it would have to.
        """
        if self.offline_error is not None:
            self.check_online()
        if not may_wait:
            read.check_cached(self, offset, bytes_max)
        return read.read(self, offset, bytes_max, end_offset)

    def read_ahead(self, offset: int, bytes_max: int, *, is_committed: bool) -> None:
        """Brings into memory what such a read is going to need; on a thread that may wait."""
        read.read_ahead(self, offset, bytes_max, is_committed=is_committed)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions that a reader of these offsets has to know of, oldest marker first."""
        return lookup.aborted_transactions(self, start_offset, end_offset)

    def aborted_in(self, found: FetchData, offset: int, end_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions that a reader of what was found from `offset` on has to know of, and few others."""
        return lookup.aborted_in(self, found, offset, end_offset)

    def offset_for_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first record that is not older than the timestamp; None if all are."""
        return lookup.offset_for_timestamp(self, timestamp)

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """The first record with the largest timestamp."""
        return lookup.offset_of_max_timestamp(self)

    def end_offset_for_epoch(self, epoch: int) -> EpochEntry:
        """The end of the epoch, or of the largest one below it; (-1, -1) if that is not known."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    # Moving the bounds

    def assign_epoch_start(self, epoch: int) -> None:
        """A leader begins its epoch where the next batch goes. Waits for no disk: see `LeaderEpochCache`."""
        self.epochs.note(epoch, self.next_offset)

    def increment_log_start_offset(self, offset: int) -> bool:
        """Forgets everything before an offset (DeleteRecords, retention); answers whether anything changed.

        Whole segments stay until retention takes them. `OffsetOutOfRangeError` beyond the high watermark.
        """
        if offset > self.high_watermark:
            raise OffsetOutOfRangeError(
                f"Cannot increment the log start offset to {offset} of partition {self.topic}-{self.partition} "
                f"since it is larger than the high watermark {self.high_watermark}"
            )
        if offset <= self.log_start_offset:
            return False
        with self._io():
            deletion.move_log_start(self, offset)
        return True

    def truncate_to(self, offset: int) -> bool:
        """Drops everything from an offset on; answers whether there was any.

        Checkpoint the recovery point afterwards: it may have gone back.
        """
        self.check_online()
        self._flushing.without_line.acquire()
        begun = self.begin_truncation(offset)
        self.finish_truncation(begun)
        return begun.is_cut

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drops everything; the log is empty and begins at the offset."""
        self.check_online()
        # Also the loop comes here, with a copy that begins anew: it waits for no reservation.
        self._flushing.without_line.acquire()
        self.finish_truncation(self.begin_restart(offset))

    def begin_truncation(self, offset: int) -> Truncation:
        """The part of `truncate_to` that waits for no disk, after `claim`; `finish_truncation` before the next append.

        From now on readers get nothing behind the offset.
        """
        with self._io(is_claimed=True):
            begun = truncation.begin(self, offset)
        self.is_half_cut = True
        return begun

    def begin_restart(self, offset: int) -> Truncation:
        """The part of `truncate_fully_and_start_at` that waits for no disk."""
        with self._io(is_claimed=True):
            begun = truncation.begin_restart(self, offset)
        self.is_half_cut = True
        return begun

    def finish_truncation(self, begun: Truncation) -> None:
        """Returns once a truncation is on the disk, and gives the claim back; on any thread."""
        try:
            with self._io():
                truncation.finish(self, begun)
        finally:
            self.is_half_cut = False
            self.release_claim()

    # Housekeeping

    def claim(self) -> bool:
        """Has flushes and other changes of files wait for `release_claim`, on any thread; False if one is under way.

        The thread that appends must wait for none of them, nor for a disk that does not answer just now.
        """
        if self.backlog is not None or self.pace.is_stuck:
            return False
        return self._flushing.try_acquire()

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Has threads that flush or append wait for as long as the block lasts, so that `claim_closed` succeeds.

        For a thread that has the loop change the log. Without it a log that is always written to would never be free
        when its turn comes, and a disk would fill up with what retention never gets to.
        """
        with self._flushing.reserved(), self.writing.reserved():
            yield

    def claim_closed(self) -> bool:
        """`claim` for changes to closed segments alone, while another thread has the log `reserved`.

        Appends may be on their way to the active segment; False only if the disk does not answer just now.
        """
        return not self.pace.is_stuck and self._flushing.try_acquire()

    @property
    def is_busy(self) -> bool:
        """Whether `claim` would fail."""
        return self.backlog is not None or self.is_flushing or self.pace.is_stuck

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """A claim for as long as the block lasts, for threads that may wait for it."""
        with self._flushing:
            yield

    def release_claim(self) -> None:
        """Ends what `claim` began."""
        self._flushing.release()

    def flush_claimed(self) -> None:
        """Flushes everything, names and the snapshot of the log's end too, for the one who claimed the log."""
        with self._io(is_repeatable=True):
            end_offset = self.log_end_offset
            flush(self, end_offset)
            if self.snapshots.flush(end_offset, end_offset):
                flush_names(self)

    def take_over_producers(self, source: "Log", now_ms: int) -> None:
        """A copy that holds what its log does, and ends where it does, takes the log's producers as they are.

        A log remembers producers whose records were deleted, and what is being asked of the transaction coordinator.
        The copy only knows what its own records say. Where that is less, a snapshot keeps the rest over a crash.
        """
        mine, others = self.producers.entries, source.producers.entries
        lacks = any(
            producer_id not in mine or mine[producer_id].batches[-1:] != entry.batches[-1:]
            for producer_id, entry in others.items()
        )
        self.producers = source.producers
        if lacks:
            with self._io():
                roll(self, now_ms, None)
                promise_snapshot(self, self.log_end_offset)

    @property
    def is_flushing(self) -> bool:
        """Whether a flush runs on another thread, which those who change segments would have to wait for."""
        return self._flushing.is_taken

    def wait_for_flush(self) -> None:
        """Returns once the flush is over that runs now, if one does; for threads that may wait."""
        with self._flushing:
            pass

    def flush(self, now_ms: int, offset: int | None = None) -> None:
        """Returns once everything below the offset (the log end if not given) is on the disk; it becomes the
        recovery point. A log that was discarded is left alone."""
        self.check_online()
        with self._flushing, self._io(is_repeatable=True):
            if not self.is_discarded:
                self.last_flush_ms = now_ms
                with self.pace.under_way():
                    flush(self, self.log_end_offset if offset is None else min(offset, self.log_end_offset))

    def write_snapshots(self) -> None:
        """Writes the snapshots that rolls have promised, so that no thread that may not wait has to."""
        if self.snapshots.is_promised:
            self.check_online()
            with self._flushing, self._io(is_repeatable=True):
                if not self.is_discarded:
                    self.snapshots.keep_promises(self.log_end_offset)

    def remove_expired_producers(self, now_ms: int) -> Iterator[None]:
        """Forgets producers that were silent for `producer.id.expiration.ms`, some at each step."""
        return self.producers.remove_expired(now_ms)

    def delete_segments(self, segments: Sequence[Segment], now_ms: int) -> None:
        """Drops the oldest segments, which `segments` must be, after `claim`; the log start offset moves with them.

        Their files are renamed to `.deleted`, and `take_deleted` hands them over. If all go, a new one is begun first;
        a claim of closed segments is not enough for that. Snapshots that were promised are written: see
        `write_snapshots`.
        `flush_names` before the files are removed: a thread that serves others need not wait for that.
        """
        with self._io():
            deletion.delete_oldest(self, segments, now_ms)

    def flush_names(self) -> None:
        """Returns once it is on the disk which files there are; on any thread, also when the log was just deleted."""
        with self._flushing, self._io(is_repeatable=True):
            if self.disk.status(self.directory) is not None:
                flush_names(self)

    def begin_swap(self, new: Sequence[Segment]) -> None:
        """Decides, after `claim`, that cleaned segments take the place of those they were made of.

        That holds once `flush_names` has returned. `new` have the suffix `.cleaned` and are sealed and flushed. What
        changes the old ones before `finish_swap` takes the decision back.
        """
        with self._io():
            deletion.begin_swap(self, new)

    def finish_swap(self, old: Sequence[Segment]) -> None:
        """Puts the segments of `begin_swap` in the place of `old`, which are consecutive, after `claim`.

        `flush_names` before their files are removed.
        """
        with self._io():
            deletion.finish_swap(self, old)

    def abandon_swap(self) -> None:
        """Takes a swap back that was begun and not finished, if there is one; after `claim`."""
        with self._io():
            deletion.abandon_swap(self)

    def expect_gaps_below(self, offset: int) -> None:
        """Before segments below an offset are swapped: on the disk when it returns, for threads that may wait."""
        with self._flushing, self._io():
            if self.contiguity.raise_to(offset):
                self.disk.flush_directory(self.directory)

    def take_deleted(self) -> list[Segment]:
        """Segments dropped since the last call; the caller deletes their files after `file.delete.delay.ms`."""
        deleted, self._deleted = self._deleted, []
        return deleted

    def relocate(self, directory: str) -> None:
        """Renames the log's directory; open reads go on."""
        with self._flushing.without_line, self.writing.without_line, self._io():
            self.disk.rename(self.directory, directory)
            deletion.take_directory(self, directory)

    def discard(self, directory: str) -> None:
        """Relocates a log that is to be deleted: later requests for a flush have no effect."""
        self.is_discarded = True
        self.relocate(directory)

    def close(self, now_ms: int) -> None:
        """Brings everything to the disk, with a snapshot of the producers and trimmed indexes, and lets go of files."""
        self.check_online()
        with self._flushing, self._io(), self.pace.under_way():
            self.last_flush_ms = now_ms
            deletion.close(self)

    def delete(self) -> None:
        """Removes the directory and all in it."""
        with self._flushing:
            deletion.delete_directory(self)

    # Failing

    def check_online(self) -> None:
        """Raises if an earlier error took the log offline."""
        if self.offline_error is not None:
            raise LogOfflineError(f"offline since: {self.offline_error}", self.directory)

    @contextmanager
    def _io(self, *, is_claimed: bool = False, is_repeatable: bool = False) -> Iterator[None]:
        try:
            yield
        except StorageError as error:
            self.go_offline(error, is_repeatable=is_repeatable)
            if is_claimed:
                self.release_claim()
            raise
