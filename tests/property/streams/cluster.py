"""Topics in memory and an application that takes its input in batches: a host without Spark and without brokers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.engine.store.spec import LoggedChange
from ottla.streams.engine.topology import Topology
from ottla.streams.host.application import Application, wanted_topics
from ottla.streams.host.batch_run import BatchRun, restored
from ottla.streams.state.local_state import LocalState, StateBatch

Content = dict[str, list[tuple[bytes, bytes]]]


class Cluster:
    """Topics of one partition, and the state that one partition number of an application has."""

    def __init__(self, topology: Topology, directory: Path) -> None:
        config = {"application.id": "app"}
        self.application: Final = Application.planned(topology, config, dict.fromkeys(wanted_topics(topology), 1))
        self.topics: dict[str, list[InputRecord]] = {}
        self._directory: Final = directory
        self._position = dict.fromkeys(self.application.inputs, 0)
        self._lives = 0
        self._state = self._opened()
        self._state.restore().commit(self._position, {})

    def append(self, topic: str, record: OutputRecord) -> None:
        log = self.topics.setdefault(topic, [])
        taken = (topic, 0, len(log), record.timestamp, record.key, record.value, record.headers)
        log.append(InputRecord(*taken))

    def has_work(self) -> bool:
        return any(at < len(self.topics.get(topic, ())) for topic, at in self._position.items())

    def batch(self, choose: Callable[[int], int], repeats: int, *, gives_up: bool = False) -> None:
        """One batch, of as many records of each topic as `choose` says, run so many times more often than needed."""
        end = {topic: at + choose(len(self.topics.get(topic, ())) - at) for topic, at in self._position.items()}
        first: list[OutputRecord] | None = None
        for turn in range(repeats + 1):
            batch = self._state.begin(self._position)
            run = BatchRun(self.application, 0, batch)
            feeds = {topic: iter(self.topics.get(topic, [])[at : end[topic]]) for topic, at in self._position.items()}
            outputs = [record for piece in run.outputs(feeds) for columns in piece for record in columns.records()]
            assert first is None or outputs == first, "a repeated batch gives something else"
            first = outputs
            if gives_up and turn < repeats:
                batch.abort()
            else:
                batch.commit(end, run.times)
        self._times = run.times
        self._position = end
        for record in first or []:
            self.append(record.topic, record)

    def lose_disk(self) -> None:
        """Another disk: what the changelogs hold, and the numbers that were committed with the offsets."""
        self._state.close()
        self._state = self._opened()
        batch = self._state.restore()
        for topic, restore in restored(self.application, 0, batch).items():
            for record in self.topics.get(topic, ()):
                restore(LoggedChange(record.key or b"", record.value, record.timestamp, record.headers))
        batch.commit(self._position, self._times)

    def content(self) -> Content:
        """What the stores hold."""
        reading: StateBatch = self._state.read()
        found = {spec.name: list(reading.map(spec.name).scan(b"", None)) for _, spec in self.application.stores_of(0)}
        reading.abort()
        return found

    def close(self) -> None:
        self._state.close()

    def _opened(self) -> LocalState:
        self._lives += 1
        path = self._directory / str(self._lives)
        return LocalState(path, self.application.identity(0), is_synced=False)


def records_of(case: dict[str, Any]) -> Iterator[tuple[str, OutputRecord]]:
    for topic, key, value, timestamp in case["input"]:
        encoded = [None if one is None else one.encode() for one in (key, value)]
        yield topic, OutputRecord(topic, encoded[0], encoded[1], timestamp)
