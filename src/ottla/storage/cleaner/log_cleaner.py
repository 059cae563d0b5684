"""Chooses a log, has it cleaned, and swaps in what comes back.

The work is done by a child process; here are only the decisions and the renames, which run on the log's writer thread.
A round that is stopped or fails leaves the log as the swaps up to then made it, which is always whole. A log whose
files cannot be read is not tried again until the broker restarts, and is listed as uncleanable.
"""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Protocol

from ottla.base.shared_map import SharedMap
from ottla.storage.cleaner.child import CleanerChild
from ottla.storage.cleaner.cleanable import Cleanable, examine
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.cleaning_state import Ticket
from ottla.storage.cleaner.work_order import CleanedGroup, Failed, Finished, Report, WorkOrder
from ottla.storage.closed_segment_change import change_closed_segments
from ottla.storage.errors import CorruptFileError, StorageError
from ottla.storage.log.log import Log
from ottla.storage.log_directory import LogDirectory
from ottla.storage.log_manager import LogManager
from ottla.storage.segment import file_name
from ottla.storage.segment.segment import Segment
from ottla.storage.topic_partition import TopicPartition

_TRIES: Final = 10
"""How often a disk is asked that does not answer, before the round looks whether it is still wanted."""

_log = logging.getLogger(__name__)


class Worker(Protocol):
    """Carries out an order."""

    def reports(self) -> Iterator[Report]:
        """Its replies until it ends."""
        ...

    def stop(self) -> None:
        """Ends it early."""
        ...

    def close(self) -> None:
        """Lets go of it."""
        ...


class LogCleaner:
    """The cleaner of one broker. `clean_filthiest` is one round; call it from as many threads as rounds may overlap."""

    def __init__(
        self, manager: LogManager, config: CleanerConfig, start: Callable[[WorkOrder], Worker] = CleanerChild
    ) -> None:
        self._manager: Final = manager
        self._start: Final = start
        self.config = config
        self.uncleanable: Final = SharedMap[TopicPartition, None]()
        """Partitions that failed in a way that trying again would not mend."""

    def clean_filthiest(self, now_ms: int) -> Finished | None:
        """Cleans the log that needs it most; None if none does, or if the round did not come to its end."""
        for candidate in self.due(now_ms):
            partition = candidate.partition
            home = self._manager.directories.home_of(partition)
            if home is None:
                continue
            round_ = _Round(self._manager, home, partition, candidate.log)
            ticket = self._manager.cleaning.begin(partition, round_.stop)
            if ticket is not None:
                try:
                    return self._clean(round_, ticket, now_ms)
                finally:
                    self._manager.cleaning.end(ticket)
        return None

    def due(self, now_ms: int) -> list[Cleanable]:
        """The logs that should be cleaned, dirtiest first."""
        found = []
        for partition in self.uncleanable:
            if self._manager.get(partition) is None:
                self.uncleanable.pop(partition)
        for home in self._manager.directories.online():
            compacted = [(partition, log) for partition, log in home.logs.items() if log.config.compact]
            clean_offsets = home.cleaner_offsets.read() if compacted else {}
            for partition, log in compacted:
                if partition not in self.uncleanable and not self._manager.cleaning.is_busy(partition):
                    try:
                        found.append(examine(partition, log, clean_offsets.get(partition), now_ms))
                    except CorruptFileError as error:
                        self._give_up(partition, home, error)
        return sorted((log for log in found if log.is_due), key=lambda log: log.dirty_ratio, reverse=True)

    def _clean(self, round_: "_Round", ticket: Ticket, now_ms: int) -> Finished | None:
        try:
            # Checked again now that no other cleaner works on it.
            cleanable = round_.examine(now_ms)
            if not cleanable.is_due:
                return None
            round_.tidy(ticket)
            worker = self._start(self._order(cleanable, now_ms))
            outcome = round_.run(cleanable, worker, ticket, now_ms)
        except StorageError as error:
            if ticket.is_void:
                pass  # Files that were looked for may have been cut off or renamed: that says nothing of the disk.
            elif isinstance(error, CorruptFileError):
                self._give_up(round_.partition, round_.home, error)
            else:
                round_.home.note(error)
            return None
        if isinstance(outcome, Failed):
            _log.error("[%s] cleaning failed: %s: %s", round_.partition, outcome.path, outcome.reason)
            if outcome.is_corrupt:
                self.uncleanable[round_.partition] = None
            return None
        return outcome

    def _give_up(self, partition: TopicPartition, home: LogDirectory, error: CorruptFileError) -> None:
        """The log cannot be read where cleaning has to: the others are cleaned without it."""
        self.uncleanable[partition] = None
        home.note(error)

    def _order(self, cleanable: Cleanable, now_ms: int) -> WorkOrder:
        log, config = cleanable.log, cleanable.log.config
        segments = cleanable.segments()
        return WorkOrder(
            directory=log.directory,
            segments=tuple(segment.base_offset for segment in segments),
            first_dirty_offset=cleanable.first_dirty_offset,
            end_offset=cleanable.end_offset,
            now_ms=now_ms,
            keys_max=self.config.keys_max,
            io_buffer_bytes=self.config.io_buffer_bytes,
            io_max_bytes_per_second=self.config.io_max_bytes_per_second / max(self.config.threads, 1),
            segment_bytes=config.segment_bytes,
            segment_index_bytes=config.segment_index_bytes,
            index_interval_bytes=config.index_interval_bytes,
            delete_retention_ms=config.delete_retention_ms,
            aborted=tuple(log.aborted_transactions(segments[0].base_offset, cleanable.end_offset)),
            producers=self._producers(log),
        )

    def _producers(self, log: Log) -> tuple[tuple[int, int | None, int], ...]:
        """The producers that are still known, whose last batch must stay; asked where they are changed."""
        found: tuple[tuple[int, int | None, int], ...] = ()

        def ask() -> None:
            nonlocal found
            found = tuple(
                (entry.producer_id, entry.batches[-1].last_offset if entry.batches else None, entry.producer_epoch)
                for entry in log.producers.entries.values()
            )

        self._manager.run_on_writer(ask)
        return found


class _Round:
    """One log being cleaned."""

    def __init__(self, manager: LogManager, home: LogDirectory, partition: TopicPartition, log: Log) -> None:
        self._manager = manager
        self.home = home
        self.partition = partition
        self._log = log
        self._worker: Worker | None = None
        self._segments: dict[int, Segment] = {}

    def examine(self, now_ms: int) -> Cleanable:
        """Measures the dirty part of the log."""
        return examine(self.partition, self._log, self.home.cleaner_offsets.read().get(self.partition), now_ms)

    def tidy(self, ticket: Ticket) -> None:
        """Removes what a round left that was stopped.

        After a crash a `.cleaned` file says that no swap from its offset on was whole. One that is left over would
        have swaps undone whose originals are gone.
        """
        self._change(ticket, partial(_remove_leftovers, self._log))

    def stop(self) -> None:
        """Ends the work early."""
        if self._worker is not None:
            self._worker.stop()

    def run(self, cleanable: Cleanable, worker: Worker, ticket: Ticket, now_ms: int) -> Finished | Failed | None:
        """Swaps in what the worker hands over until it is done; None if it was told to stop."""
        self._segments = {segment.base_offset: segment for segment in cleanable.segments()}
        self._worker = worker
        outcome: Finished | Failed | None = None
        try:
            self._log.expect_gaps_below(cleanable.end_offset)
            for report in worker.reports():
                if ticket.is_void:
                    break
                if isinstance(report, CleanedGroup):
                    self._swap(report, ticket, now_ms)
                else:
                    outcome = report
        finally:
            worker.close()
        if isinstance(outcome, Finished):
            self._checkpoint(outcome, ticket)
        else:
            self._change(ticket, partial(_remove_leftovers, self._log))
        return None if ticket.is_void else outcome

    def _change(self, ticket: Ticket, change: Callable[[], None]) -> None:
        """Changes the log on its writer's thread, unless the round was called off meanwhile."""

        def unless_void() -> None:
            if not ticket.is_void:
                change()

        while not change_closed_segments(self._log, self._manager.run_on_writer, unless_void, _TRIES):
            if ticket.is_void:
                break

    def _swap(self, group: CleanedGroup, ticket: Ticket, now_ms: int) -> None:
        """Renames on the writer's thread, and waits for the disk on this one: first until it is decided, then until
        it is done, before the old files may go."""
        log = self._log
        old = [self._segments[base_offset] for base_offset in group.sources]

        def begin() -> None:
            new = Segment.open(log.disk, log.directory, old[0].base_offset, log.config, suffix=file_name.CLEANED)
            log.begin_swap([new])

        self._change(ticket, begin)
        log.flush_names()
        self._change(ticket, partial(log.finish_swap, old))
        log.flush_names()
        self._manager.run_on_writer(partial(self._manager.maintenance.collect_deleted, log, now_ms))

    def _checkpoint(self, outcome: Finished, ticket: Ticket) -> None:
        """Writes the new clean offset, unless the ticket is void.

        The thread that voids a ticket lowers the offset afterwards where needed; the file's lock orders the two.
        """
        done = {self.partition: outcome.clean_offset}
        self.home.cleaner_offsets.update(lambda offsets: offsets if ticket.is_void else offsets | done)
        if not ticket.is_void:
            _log.info("[%s] cleaned up to offset %d: %s", self.partition, outcome.clean_offset, outcome)


def _remove_leftovers(log: Log) -> None:
    log.abandon_swap()
    for name in log.disk.list(log.directory):
        parsed = file_name.parse(name)
        if parsed is not None and parsed.transient == file_name.CLEANED:
            log.disk.remove(f"{log.directory}/{name}")
