"""The log against a model in ten lines: a list of records, of which a prefix may go and a suffix may be cut."""

import os
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.protocol.errors import OffsetOutOfRangeError
from ottla.protocol.records.reader import ReadOptions, read_tuples
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.loader import Shutdown
from tests.unit.storage.log_builder import NOW_MS, append, data_batch, open_log, placed, records

EXAMPLES = int(os.environ.get("OTTLA_STORAGE_EXAMPLES", "40"))


@dataclass
class ModelLog:
    """What a log is."""

    start: int = 0
    end: int = 0
    batches: list[tuple[int, int, bytes, int]] = field(default_factory=list)

    def append(self, count: int, value: bytes, timestamp: int) -> None:
        self.batches.append((self.end, self.end + count, value, timestamp))
        self.end += count

    def truncate(self, offset: int) -> None:
        self.end = min([offset, *(first for first, end, _, _ in self.batches if end > offset)])
        self.batches = [batch for batch in self.batches if batch[1] <= offset]
        self.start = min(self.start, self.end)

    def records(self) -> list[tuple[int, bytes, int]]:
        found = [(offset, value, time) for first, end, value, time in self.batches for offset in range(first, end)]
        return [record for record in found if record[0] >= self.start]


class LogMachine(RuleBasedStateMachine):
    """Appends, rolls, reads, truncations and restarts in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = SimulatedDisk()
        self.disk.make_directory("/data")
        self.model = ModelLog()
        self.epoch = 0

    @initialize()
    def begin(self) -> None:
        self.log = open_log(self.disk)

    @rule(count=st.integers(1, 5), size=st.integers(0, 300), timestamp=st.integers(0, 50))
    def append_as_leader(self, count: int, size: int, timestamp: int) -> None:
        value = bytes(size)
        info = append(self.log, data_batch(count, value=value, timestamp=NOW_MS - timestamp), self.epoch)
        assert info.first_offset == self.model.end
        self.model.append(count, value, NOW_MS - timestamp)

    @rule(sizes=st.lists(st.integers(0, 200), min_size=1, max_size=6), cut=st.integers(0, 60))
    def append_as_follower(self, sizes: list[int], cut: int) -> None:
        fetched, end = bytearray(), self.model.end
        for size in sizes:
            fetched += placed(data_batch(2, value=bytes(size)), end, self.epoch)
            end += 2
            self.model.append(2, bytes(size), NOW_MS)
        fetched += placed(data_batch(), end, self.epoch)[:cut]
        assert self.log.append_as_follower(fetched, self.epoch, NOW_MS) is not None

    @rule()
    def new_leader_epoch(self) -> None:
        self.epoch += 1
        self.log.assign_epoch_start(self.epoch)

    @rule()
    def roll(self) -> None:
        self.log.roll(NOW_MS)

    @rule()
    def flush(self) -> None:
        self.log.flush(NOW_MS)
        assert self.log.recovery_point == self.model.end

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        offset = max(self.model.end - back, self.model.start)
        if self.log.truncate_to(offset):
            self.model.truncate(offset)

    @rule(offset=st.integers(0, 100))
    def start_over(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset)
        self.model = ModelLog(offset, offset)

    @rule(forward=st.integers(0, 10))
    def delete_records(self, forward: int) -> None:
        offset = min(self.model.start + forward, self.model.end)
        self.log.update_high_watermark(self.model.end)
        self.log.increment_log_start_offset(offset)
        self.model.start = max(self.model.start, offset)

    @precondition(lambda self: len(self.log.segments) > 1)
    @rule()
    def delete_oldest_segment(self) -> None:
        self.log.update_high_watermark(self.model.end)
        self.log.delete_segments(self.log.segments.all()[:1], NOW_MS)
        self.model.start = max(self.model.start, self.log.segments.first.base_offset)
        for segment in self.log.take_deleted():
            segment.delete()

    @rule()
    def restart(self) -> None:
        self.log.close(NOW_MS)
        self._reopen(Shutdown.CLEAN)

    @rule()
    def restart_without_closing(self) -> None:
        self._reopen(Shutdown.UNCLEAN)

    def _reopen(self, shutdown: Shutdown) -> None:
        old = self.log
        self.log = open_log(
            self.disk, shutdown=shutdown, recovery_point=old.recovery_point, log_start_offset=self.model.start
        )
        before, now = (
            [entry for entry in log.epochs.entries if entry.start_offset < self.model.end] for log in (old, self.log)
        )
        assert before == now

    @invariant()
    def bounds_are_the_models(self) -> None:
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.model.start, self.model.end)
        assert self.log.recovery_point <= self.log.log_end_offset
        assert self.log.offline_error is None

    @rule()
    def read_everything(self) -> None:
        assert [(record[0], record[3], record[1]) for record in records(self.log)] == self.model.records()

    @rule(data=st.data())
    def read_somewhere(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.model.start, self.model.end))
        end = data.draw(st.integers(offset, self.model.end))
        bytes_max = data.draw(st.integers(0, 2_000))
        fetched = self.log.read(offset, bytes_max, end)
        expected = [record for record in self.model.records() if offset <= record[0]]
        raw = b"" if fetched.records is None else fetched.records.read()
        found = [record[0] for record in read_tuples(raw, ReadOptions(from_offset=offset))]
        assert found == [record[0] for record in expected[: len(found)]]
        assert bool(found) == any(offset < last <= end for _, last, _, _ in self.model.batches)
        assert all(found_offset < end for found_offset in found)

    @rule(ago=st.integers(-1, 51))
    def find_by_time(self, ago: int) -> None:
        timestamp = NOW_MS - ago
        expected = next(((time, offset) for offset, _, time in self.model.records() if time >= timestamp), None)
        found = self.log.offset_for_timestamp(timestamp)
        assert (None if found is None else (found.timestamp, found.offset)) == expected

    @rule(beyond=st.integers(1, 5))
    def read_outside(self, beyond: int) -> None:
        with pytest.raises(OffsetOutOfRangeError):
            self.log.read(self.model.end + beyond, 100, self.model.end)
        if self.model.start:
            with pytest.raises(OffsetOutOfRangeError):
                self.log.read(self.model.start - 1, 100, self.model.end)


LogMachine.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLogAgainstModel = LogMachine.TestCase
