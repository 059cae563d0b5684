"""The minutes of a million customers: their state lies on disk, and sessions that fell silent end by punctuation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.host.application import Application
from ottla.streams.host.batch_run import BatchRun
from ottla.streams.state.local_state import LocalState
from tests.unit.streams.example import example

SOURCE = "reports"
BATCH = 100_000


class Evening:
    """An application with one partition, and its state."""

    def __init__(self, path: Path) -> None:
        topology = example("tv_minutes").topology()
        self._application = Application.planned(topology, {"application.id": "tv"}, {SOURCE: 1})
        self._inputs = self._application.inputs
        self.state = LocalState(path, "tv", is_synced=False)
        self.state.restore().commit(dict.fromkeys(self._inputs, 0), {})
        self._offset = 0

    def report(self, customers: range, event: bytes, minute: int) -> Iterator[OutputRecord]:
        """These customers' boxes report the same; what leaves but for changelogs."""
        for first in range(customers.start, customers.stop, BATCH):
            numbers = range(first, min(first + BATCH, customers.stop))
            start = {topic: self._offset if topic == SOURCE else 0 for topic in self._inputs}
            batch = self.state.begin(start)
            run = BatchRun(self._application, 0, batch)
            records = [
                InputRecord(SOURCE, 0, self._offset + number - first, minute * 60_000, b"customer %d" % number, event)
                for number in numbers
            ]
            for written in run.outputs({SOURCE: iter(records)}):
                yield from (record for columns in written if columns.topic == "watched" for record in columns.records())
            self._offset += len(numbers)
            batch.commit({**start, SOURCE: self._offset}, run.times)


def stored(state: LocalState, store: str) -> int:
    reading = state.read()
    try:
        return sum(1 for _ in reading.map(store).scan(b"", None))
    finally:
        reading.abort()


@pytest.mark.parametrize("customers", [2_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_those_who_fell_silent_are_ended_and_no_others(tmp_path: Path, customers: int) -> None:
    evening, loyal = Evening(tmp_path), customers // 10
    with evening.state:
        assert not list(evening.report(range(customers), b'{"event": "tune", "channel": "news"}', 0))
        assert stored(evening.state, "watching") == customers
        assert not list(evening.report(range(loyal), b'{"event": "on"}', 25))
        # Minute 31: all but the loyal ones have been silent for more than half an hour.
        ended = [record.key for record in evening.report(range(1), b'{"event": "on"}', 31)]
        assert len(ended) == customers - loyal
        assert set(ended) == {b"customer %d" % number for number in range(loyal, customers)}
        assert stored(evening.state, "watching") == stored(evening.state, "silent") == loyal
        values = {record.value for record in evening.report(range(loyal), b'{"event": "off"}', 40)}
        assert values == {b'{"channel":"news","minutes":40,"next":null}'}
        assert stored(evening.state, "watching") == stored(evening.state, "silent") == 0
