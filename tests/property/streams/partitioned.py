"""An application on topics in memory with several partitions, its tasks run as either host runs them.

A step takes some records of each topic of one partition number, whichever the caller draws; what comes out is appended
to the topics at once. So the same draws are the same schedule on both hosts.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.engine.topology import Topology
from ottla.streams.host.application import Application, wanted_topics
from ottla.streams.host.batch_run import BatchRun, BatchTerms
from ottla.streams.host.task_share import TaskId
from ottla.streams.local.record_sender import RecordSender
from ottla.streams.local.task_run import TaskPorts, TaskRun
from ottla.streams.local.task_store import COMMIT, TaskStores
from ottla.streams.state.local_state import LocalState

Content = dict[str, list[tuple[bytes, bytes]]]
Choose = Callable[[int], int]


class Topics:
    """The records of all partitions."""

    def __init__(self, partitions: int) -> None:
        self._partitions: Final = partitions
        self.logs: Final[dict[TopicPartition, list[InputRecord]]] = {}

    def append(self, record: OutputRecord) -> int:
        """Adds a record where its key belongs, or where it says; its offset."""
        number = record.partition
        if number is None:
            number = partition_of_key(record.key, self._partitions) if record.key is not None else 0
        place = TopicPartition(record.topic, number)
        log = self.logs.setdefault(place, [])
        log.append(InputRecord(*place, len(log), record.timestamp, record.key, record.value, record.headers))
        return len(log) - 1

    def log(self, place: TopicPartition) -> list[InputRecord]:
        return self.logs.get(place, [])


class Host(ABC):
    """The tasks of all partition numbers."""

    def __init__(self, topology: Topology, partitions: int) -> None:
        counts = dict.fromkeys(wanted_topics(topology), partitions)
        self.application: Final = Application.planned(topology, {"application.id": "app"}, counts)
        self.topics: Final = Topics(partitions)
        self.partitions: Final = partitions
        self._next: Final = {
            TopicPartition(topic, number): 0 for topic in self.application.inputs for number in range(partitions)
        }

    def waiting(self, number: int) -> int:
        """How many records a partition number has not taken."""
        return sum(len(self.topics.log(place)) - at for place, at in self._next.items() if place.partition == number)

    def has_work(self) -> bool:
        return any(self.waiting(number) for number in range(self.partitions))

    def step(self, number: int, choose: Choose) -> None:
        """Takes as many records of each topic as `choose` says of the number that waits."""
        taken = {}
        for place, at in self._next.items():
            if place.partition == number:
                log = self.topics.log(place)
                taken[place] = log[at : at + choose(len(log) - at)]
        self._process(number, taken)
        for place, records in taken.items():
            self._next[place] += len(records)

    def position(self, number: int) -> dict[str, int]:
        return {place.topic: at for place, at in self._next.items() if place.partition == number}

    @abstractmethod
    def _process(self, number: int, taken: Mapping[TopicPartition, list[InputRecord]]) -> None:
        """Has the tasks of a partition number process these, and makes what they have done durable."""

    @abstractmethod
    def content(self) -> Content:
        """What the stores hold, over all partitions."""

    @abstractmethod
    def close(self) -> None:
        """Ends it."""


class SparkHost(Host):
    """As a task of Spark's does it: a batch for all sub-topologies of a partition number."""

    def __init__(self, topology: Topology, partitions: int, directory: Path) -> None:
        super().__init__(topology, partitions)
        self._terms: Final = BatchTerms(partition_count=lambda topic: partitions)
        self._states: Final = [
            LocalState(directory / str(number), self.application.identity(number), is_synced=False)
            for number in range(partitions)
        ]
        for number, state in enumerate(self._states):
            state.restore().commit(self.position(number), {})

    def _process(self, number: int, taken: Mapping[TopicPartition, list[InputRecord]]) -> None:
        start = self.position(number)
        batch = self._states[number].begin(start)
        run = BatchRun(self.application, number, batch, self._terms)
        feeds = {place.topic: iter(records) for place, records in taken.items()}
        outputs = [record for piece in run.outputs(feeds) for columns in piece for record in columns.records()]
        end = {topic: at + len(taken[TopicPartition(topic, number)]) for topic, at in start.items()}
        batch.commit(end, run.times)
        for record in outputs:
            self.topics.append(record)

    def content(self) -> Content:
        found: Content = {}
        for number, state in enumerate(self._states):
            reading = state.read()
            for _, spec in self.application.stores_of(number):
                found.setdefault(spec.name, []).extend(reading.map(spec.name).scan(b"", None))
            reading.abort()
        return {name: sorted(pairs) for name, pairs in found.items()}

    def close(self) -> None:
        for state in self._states:
            state.close()


class _Delivered(NamedTuple):
    offset: int


class _Future(NamedTuple):
    """A record that is there."""

    delivered: _Delivered

    def result(self, timeout_s: float) -> _Delivered:
        return self.delivered


class _Producer:
    """What `RecordSender` wants of a producer, with topics that take records at once."""

    def __init__(self, topics: Topics) -> None:
        self._topics: Final = topics

    def send_now(
        self, topic: str, value: Any, key: Any, partition: int | None, timestamp: int, headers: Any
    ) -> _Future:
        return _Future(
            _Delivered(self._topics.append(OutputRecord(topic, key, value, timestamp, headers or (), partition)))
        )

    def watch_failures(self, failed: Any) -> None:
        """None fails."""


class LocalHost(Host):
    """As one process does it: a task for each sub-topology and partition, which may move to another process."""

    def __init__(self, topology: Topology, partitions: int, directory: Path, moves: Callable[[], bool]) -> None:
        """`moves` is drawn after each commit: a task then ends and begins again with what is on its disk."""
        super().__init__(topology, partitions)
        self._directory: Final = directory
        self._moves: Final = moves
        sender: Any = RecordSender(_Producer(self.topics), {})  # type: ignore[arg-type]  # it has what is asked for
        self._sender: Final = sender
        self._ports: Final = TaskPorts(self.application, sender, {}, lambda topic: partitions, lambda place: 0, -1)
        self._commits: Final[dict[TaskId, int]] = {}
        self._runs: Final[dict[TaskId, TaskRun]] = {}
        for stage in self.application.stages:
            for number in range(stage.partitions):
                self._open(TaskId(stage.number, number), {})

    def _open(self, task: TaskId, times: Any) -> None:
        stores = TaskStores(self.application, task, self._directory)
        stores.open()
        start = {COMMIT: self._commits.get(task, -1)}
        wanted = stores.begin(start, dict.fromkeys(stores.changelogs.values(), 0))
        run = TaskRun(task, stores, self._ports)
        if task in self._commits:
            # Nothing that is on the disk needs to be read again.
            assert not wanted - {name for name, spec in self._specs(task).items() if not spec.persistent}
        for name in wanted if task in self._commits else ():
            for record in self.topics.log(stores.changelogs[name]):
                run.engine.raw_store(name).restore(_change(record))
        run.start(times)
        self._runs[task] = run

    def _specs(self, task: TaskId) -> dict[str, Any]:
        stage = next(one for one in self.application.stages if one.number == task.stage)
        return {name: self.application.topology.stores[name] for name in stage.stores}

    def _process(self, number: int, taken: Mapping[TopicPartition, list[InputRecord]]) -> None:
        for stage in self.application.stages:
            task = TaskId(stage.number, number)
            run = self._runs.get(task)
            if run is None:
                continue
            for place in run.places:
                run.add(place, taken[place])
            while run.process(100):
                pass
            self._commit(task, run, {place: self._next[place] + len(taken[place]) for place in run.places})

    def _commit(self, task: TaskId, run: TaskRun, ends: dict[TopicPartition, int]) -> None:
        commit = self._commits.get(task, 0) + 1
        offsets: dict[TopicPartition, OffsetAndMetadata] = run.offsets(ends, commit)
        if not offsets:
            return
        assert {place: found.offset for place, found in offsets.items()} == ends
        logged = {place.topic: len(self.topics.log(place)) for place in run.stores.changelogs.values()}
        times = run.times()
        run.stores.commit({**{place.topic: at for place, at in ends.items()}, COMMIT: commit}, times, logged)
        run.committed(offsets)
        self._commits[task] = commit
        if self._moves():
            run.close()
            self._open(task, times)

    def content(self) -> Content:
        found: Content = {}
        for task, run in self._runs.items():
            for name, spec in self._specs(task).items():
                found.setdefault(name, []).extend(run.stores.state_map(spec).scan(b"", None))
        return {name: sorted(pairs) for name, pairs in found.items()}

    def close(self) -> None:
        for run in self._runs.values():
            run.close()


def _change(record: InputRecord) -> Any:
    from ottla.streams.engine.store.spec import LoggedChange

    return LoggedChange(record.key or b"", record.value, record.timestamp, record.headers)
