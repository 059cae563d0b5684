"""A seeded run of operations on one log, and what has to be true of the log afterwards, whenever the power went."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.append_info import AppendOptions
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.snapshot import read_snapshot
from ottla.storage.producer_state.state import ProducerState
from tests.unit.storage.append_thread import Thread
from tests.unit.storage.log_builder import (
    FROM_COORDINATOR,
    NOW_MS,
    SMALL,
    UNVERIFIED,
    append,
    data_batch,
    marker,
    open_log,
    placed,
    produced,
)

_DAY_MS = 86_400_000


@dataclass
class Producer:
    """A producer of the workload, with what it will send next."""

    producer_id: int
    epoch: int = 0
    sequence: int = 0
    is_open: bool = False


@dataclass
class Workload:
    """Runs operations on a log and keeps the history that a reader could have seen."""

    disk: SimulatedDisk
    random: Random
    epoch: int = 0
    recovery_point: int = 0
    """As last checkpointed."""
    log_start_offset: int = 0
    """As last checkpointed."""
    config: LogConfig = SMALL
    rolled_offset: int = 0
    """Below it everything is in segments that were closed, and is to be flushed."""
    history: list[bytes] = field(default_factory=list)
    """Every batch that is, or is just being, appended."""
    producers: dict[int, Producer] = field(default_factory=dict)
    thread: Thread | None = None
    """Writes what is appended, some time later; without it that is done at once."""

    def run(self, steps: int) -> None:
        """Does `steps` operations chosen by the seed."""
        self.log = open_log(self.disk, self.config)
        self.log.rolled = self._rolled
        actions = (
            [self.append_plain] * 4 + [self.append_transactional] * 5 + [self.end_transaction] * 3 + [self.flush] * 2
        )
        actions += [self.replicate, self.truncate, self.roll, self.lead, self.restart]
        actions += [self.delete_oldest, self.delete_records, self.flush_rolled, self.flush_rolled]
        for _ in range(steps):
            action = self.random.choice(actions)
            if self.thread is not None:
                self._change_over(self.thread, action)
            action()
        self._write()

    def _change_over(self, thread: Thread, action: Callable[[], None]) -> None:
        """Appends may go through the thread or not; nothing else is done to a log while some are on their way."""
        if action not in (self.append_plain, self.append_transactional, self.end_transaction, self.replicate):
            self._write()
        elif self.random.random() < 0.3:
            thread.defer(self.log)
            self.log.is_deferring = self.random.random() < 0.8

    def _write(self) -> None:
        if self.thread is not None:
            self.thread.run()
            self.disk.check_power()

    def append_plain(self) -> None:
        batch = data_batch(self.random.randint(1, 3), value=self.random.randbytes(self.random.randint(0, 300)))
        self._append(batch, UNVERIFIED)

    def append_transactional(self) -> None:
        producer = self.producers.setdefault(pid := self.random.randint(1, 3), Producer(pid))
        count = self.random.randint(1, 2)
        self._append(produced(pid, producer.epoch, producer.sequence, count, transactional=True), UNVERIFIED)
        producer.sequence += count
        producer.is_open = True

    def end_transaction(self) -> None:
        opened = [producer for producer in self.producers.values() if producer.is_open]
        if opened:
            producer = self.random.choice(opened)
            ending = self.random.choice((ControlRecordType.ABORT, ControlRecordType.COMMIT))
            self._append(marker(producer.producer_id, producer.epoch, ending), FROM_COORDINATOR)
            producer.is_open = False

    def _append(self, batch: bytearray, options: AppendOptions) -> None:
        expected = bytearray(batch)
        Batch(expected).assign(self.log.next_offset, self.epoch)
        self.history.append(bytes(expected))
        append(self.log, batch, self.epoch, options)

    def replicate(self) -> None:
        """Takes a few batches as a follower does."""
        fetched, offset = bytearray(), self.log.next_offset
        for _ in range(self.random.randint(1, 4)):
            batch = placed(data_batch(2, value=bytes(self.random.randint(0, 200))), offset, self.epoch)
            self.history.append(bytes(batch))
            fetched += batch
            offset += 2
        self.log.append_as_follower(fetched, self.epoch, NOW_MS)

    def delete_oldest(self) -> None:
        """What retention does: whole segments, all of which are replicated."""
        if len(self.log.segments) > 1:
            self.log.update_high_watermark(self.log.log_end_offset)
            self.log.delete_segments(self.log.segments.all()[:1], NOW_MS)
            self.log_start_offset = self.log.log_start_offset
            for segment in self.log.take_deleted():
                segment.delete()

    def delete_records(self) -> None:
        self.log.update_high_watermark(self.log.log_end_offset)
        self.log.increment_log_start_offset(min(self.log.log_start_offset + 2, self.log.log_end_offset))
        self.log_start_offset = self.log.log_start_offset

    def flush(self) -> None:
        self.log.flush(NOW_MS)
        self.recovery_point = self.log.recovery_point

    def _rolled(self, log: Log, offset: int) -> None:
        self.rolled_offset = offset

    def flush_rolled(self) -> None:
        """What a worker does some time after a roll: much may have happened to the log meanwhile."""
        self.log.flush(NOW_MS, self.rolled_offset)
        self.recovery_point = self.log.recovery_point

    def roll(self) -> None:
        self.log.roll(NOW_MS)

    def lead(self) -> None:
        self.epoch += 1
        self.log.assign_epoch_start(self.epoch)

    def truncate(self) -> None:
        """Cuts between two batches, and lets every producer begin a new epoch, as it cannot know what is left."""
        kept = max(len(self.history) - self.random.randint(1, 4), 0)
        offset = Batch(self.history[kept]).base_offset if self.history else 0
        if offset > self.log_start_offset:
            # A cut may hit after a part of it is done; both outcomes are prefixes of what was there.
            self.recovery_point = min(self.recovery_point, offset)
            self.log.truncate_to(offset)
            del self.history[kept:]
            state = replayed(self.history)
            self.producers = {
                pid: Producer(
                    pid, entry.producer_epoch, entry.last_sequence + 1, entry.transaction_first_offset is not None
                )
                for pid, entry in state.entries.items()
            }

    @property
    def log_start_seen(self) -> int:
        """How far the log start had come when the power went."""
        return self.log.log_start_offset if hasattr(self, "log") else 0

    def restart(self) -> None:
        self.flush()
        self.log.close(NOW_MS)
        self.log = self.opened()
        self.log.rolled = self._rolled

    def opened(self) -> Log:
        """The log as a start after a crash finds it; what the policy is by now does not matter."""
        policy = frozenset({"compact" if self.recovery_point % 2 else "delete"})
        config = replace(self.config, cleanup_policy=policy)
        return open_log(self.disk, config, recovery_point=self.recovery_point, log_start_offset=self.log_start_offset)


def replayed(history: list[bytes]) -> ProducerState:
    """Producer state from nothing but the batches."""
    state = ProducerState(_DAY_MS)
    for data in history:
        _complete(state, Batch(data))
    return state


def aborted(history: list[bytes]) -> list[AbortedTransaction]:
    """The aborted transactions that the batches tell of."""
    state = ProducerState(_DAY_MS)
    found = [_complete(state, Batch(data)) for data in history]
    return [entry for entry in found if entry is not None]


def _complete(state: ProducerState, batch: Batch) -> AbortedTransaction | None:
    completed = state.replay(batch) if batch.producer_id >= 0 else None
    return None if completed is None else state.complete(completed)


def check_recovered(log: Log, history: list[bytes], recovery_point: int, log_start_offset: int = 0) -> list[bytes]:
    """Raises unless the log is a stretch of the history with all that was flushed, and everything fits together.

    `log_start_offset` is the one before the crash, which need not have been checkpointed: epochs from before it may be
    gone. The log may begin anywhere up to the log start, as a crash may undo the deletion of segments. Answers the
    history up to where the log ends.
    """
    stored = [bytes(batch.data) for segment in log.segments for batch in segment.scan()]
    first = history.index(stored[0]) if stored else 0
    assert stored == history[first : first + len(stored)], "not what was written"
    end = Batch(stored[-1]).next_offset if stored else log.log_start_offset
    assert log.log_end_offset == end
    assert not stored or Batch(stored[0]).base_offset <= log.log_start_offset
    assert end >= recovery_point, f"ends at {end}, but {recovery_point} was flushed"
    _check_indexes(log)
    _check_reads(log, stored)
    if log.segments.first.base_offset == 0:
        _check_producers(log, stored)
        _check_snapshots(log, stored)
        found = [(each.producer_id, each.first_offset, each.last_offset) for each in log.aborted_transactions(0, end)]
        assert found == [(each.producer_id, each.first_offset, each.last_offset) for each in aborted(stored)]
    else:
        _check_last_batches(log, stored)
    begin = max(log.log_start_offset, log_start_offset)
    for batch in map(Batch, stored):
        if batch.base_offset >= begin:
            assert log.epochs.epoch_for(batch.base_offset) == batch.partition_leader_epoch
    return history[: first + len(stored)]


def _check_indexes(log: Log) -> None:
    for segment in log.segments:
        segment.load()
        scan = segment.scan()
        at = dict((scan.batch_position, batch) for batch in scan)  # noqa: C402 - the position moves with the scan
        assert scan.problem is None
        times = {batch.last_offset: batch.max_timestamp for batch in at.values()}
        entries = segment.offset_index.entries
        for slot in range(entries.count):
            relative, position = entries.entry(slot)
            assert at[position].last_offset == segment.base_offset + relative
        entries = segment.time_index.entries
        for slot in range(entries.count):
            timestamp, relative = entries.entry(slot)
            assert times[segment.base_offset + relative] == timestamp


def _check_reads(log: Log, stored: list[bytes]) -> None:
    for data in stored:
        for offset in range(max(Batch(data).base_offset, log.log_start_offset), Batch(data).next_offset):
            found = log.read(offset, 1, log.log_end_offset).records
            assert found is not None
            assert found.read() == data


def _check_producers(log: Log, stored: list[bytes]) -> None:
    expected = replayed(stored)
    assert log.producers.end_offset == log.log_end_offset
    assert {pid: _facts(log.producers, pid) for pid in log.producers.entries} == {
        pid: _facts(expected, pid) for pid in expected.entries
    }
    assert log.producers.transactions.first_undecided == expected.transactions.first_undecided


def _check_snapshots(log: Log, stored: list[bytes]) -> None:
    """Each tells of the producers as they were where it says, whenever it was written."""
    for offset in log.snapshots.offsets:
        expected = replayed([data for data in stored if Batch(data).base_offset < offset])
        state = ProducerState(_DAY_MS)
        state.load(read_snapshot(log.disk, log.snapshots.path(offset)), offset, 0)
        assert {pid: _facts(state, pid) for pid in state.entries} == {
            pid: _facts(expected, pid) for pid in expected.entries
        }


def _check_last_batches(log: Log, stored: list[bytes]) -> None:
    """Where the beginning of the log is gone, what is left still tells each producer's last batch."""
    for producer_id, entry in replayed(stored).entries.items():
        if entry.batches:
            assert log.producers.entries[producer_id].batches[-1] == entry.batches[-1]


def _facts(state: ProducerState, producer_id: int) -> tuple[object, ...]:
    """What a snapshot keeps of a producer."""
    entry = state.entries[producer_id]
    return (
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.last_timestamp,
        entry.transaction_first_offset,
        entry.batches[-1:],
    )
