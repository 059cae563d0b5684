"""One batch of one partition number: records in, what they give out, from the state before it to the state after.

The tasks of all sub-topologies with this number run one after the other. What comes out is a function of the state
and the records alone, so that a batch that is repeated gives the same again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Protocol

from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.engine.input_column import InputColumns
from ottla.streams.engine.store.spec import LoggedChange, StoreSpec
from ottla.streams.engine.store.state_map import StateMap
from ottla.streams.engine.task import Task, TaskPlan
from ottla.streams.host.application import Application, Stage
from ottla.streams.host.output_column import OutputColumns
from ottla.streams.serde import Serde
from ottla.streams.state.local_state import StateBatch, Times

CHUNK_RECORDS: Final = 8_192
"""After how many outputs a caller gets them."""
_LOOK_RECORDS: Final = 64
"""After how many records it is looked whether there are so many."""


def _clock() -> int:
    return 0


@dataclass(frozen=True)
class BatchTerms:
    """The surroundings of a batch beside state and records."""

    global_stores: Mapping[str, Any] = field(default_factory=dict)
    wall_clock_ms: Callable[[], int] = _clock
    partition_count: Callable[[str], int] = lambda topic: 1
    fires_clock: bool = False


class ColumnFeed(Protocol):
    """The records of a topic, from a host that has whole columns."""

    def __iter__(self) -> Iterator[InputRecord]:
        """One by one."""
        ...

    def pieces(self, serdes: tuple[Serde[Any], Serde[Any]]) -> Iterator[InputColumns | Iterable[InputRecord]]:
        """Piece by piece; records where a piece cannot be decoded as columns."""
        ...


Feeds = Mapping[str, Iterable[InputRecord] | ColumnFeed]
"""The records of each topic in the order of their offsets."""


class _Host:
    """The engine's host, which collects the outputs."""

    def __init__(self, application: Application, partition: int, state: StateBatch, terms: BatchTerms) -> None:
        self._partition = partition
        self._state = state
        self._terms = terms
        self._changelogs = {name: OutputColumns(plan.name, partition) for name, plan in application.changelogs.items()}
        self._topics: dict[str, OutputColumns] = {}

    def state_map(self, store: StoreSpec) -> StateMap:
        """The bytes of a store."""
        return self._state.map(store.name)

    def log_change(self, store: str, change: LoggedChange) -> None:
        """A change goes to the changelog's partition of the same number."""
        self._changelogs[store].add_change(change)

    def send(self, record: OutputRecord) -> None:
        """A record goes to its topic."""
        self.columns_of(record.topic).add_record(record)

    def columns_of(self, topic: str) -> OutputColumns:
        """The outputs for a topic."""
        found = self._topics.get(topic)
        if found is None:
            found = self._topics[topic] = OutputColumns(topic)
        return found

    def waiting(self) -> int:
        """The number of collected records."""
        return sum(map(len, self._topics.values())) + sum(map(len, self._changelogs.values()))

    def taken(self) -> list[OutputColumns]:
        """The collected outputs; collecting begins anew."""
        return [one.taken() for one in (*self._topics.values(), *self._changelogs.values()) if len(one)]

    def partition_count(self, topic: str) -> int:
        return self._terms.partition_count(topic)

    def wall_clock_ms(self) -> int:
        """The time at which the batch began."""
        return self._terms.wall_clock_ms()

    def request_commit(self) -> None:
        """The end of the batch commits."""


class BatchRun:
    """The run of one batch; `outputs` does the work, `times` is what to commit with the state."""

    def __init__(
        self, application: Application, partition: int, state: StateBatch, terms: BatchTerms | None = None
    ) -> None:
        self._application = application
        self._partition = partition
        self._state = state
        self._terms = terms or BatchTerms()
        self._host = _Host(application, partition, state, self._terms)
        self.times: Times = {}
        self.dropped_records = 0

    def outputs(self, feeds: Feeds) -> Iterator[list[OutputColumns]]:
        """Processes all records; what they give, piece by piece."""
        kept = self._state.times
        times: dict[str, Mapping[str, tuple[int, ...]]] = dict(kept)
        for stage in self._application.stages:
            if self._partition >= stage.partitions:
                continue
            task_id = f"{stage.number}_{self._partition}"
            task = self._opened(stage, task_id, kept.get(task_id, {}))
            for _ in self._processed(task, stage, feeds):
                if self._host.waiting() >= CHUNK_RECORDS:
                    yield self._host.taken()
            times[task_id] = task.times()
            self.dropped_records += task.dropped_records
            task.close()
        yield self._host.taken()
        self.times = times

    def _opened(self, stage: Stage, task_id: str, times: Mapping[str, tuple[int, ...]]) -> Task:
        application = self._application
        plan = TaskPlan(
            application.topology,
            stage.nodes,
            application.application_id,
            task_id,
            application.configuration,
            self._terms.global_stores,
        )
        task = Task(plan, self._host)
        task.assign((topic, self._partition) for topic in stage.topics)
        for sink in task.sinks:
            if sink.topic is not None:
                sink.write_to(self._host.columns_of(sink.topic).add)
        task.open()
        task.set_times(times)
        return task

    def _processed(self, task: Task, stage: Stage, feeds: Feeds) -> Iterator[None]:
        """Does all that there is to do, and comes up now and then."""
        fed = [topic for topic in stage.topics if topic in feeds]
        if len(stage.topics) == 1 and fed:
            yield from _in_order(task, fed[0], feeds[fed[0]])
        else:
            yield from self._by_time(task, {topic: iter(feeds[topic]) for topic in fed})
        if self._terms.fires_clock:
            task.punctuate_clock(self._terms.wall_clock_ms())

    def _by_time(self, task: Task, left: dict[str, Iterator[InputRecord]]) -> Iterator[None]:
        """Takes the record with the smallest time among the heads of all topics, until none is left."""
        for number in count(1):
            for topic in list(left):
                while task.lacks(topic, self._partition):
                    record = next(left[topic], None)
                    if record is None:
                        del left[topic]
                        break
                    task.enqueue(record)
            if not task.process_next():
                return
            task.punctuate_stream_time()
            if not number % _LOOK_RECORDS:
                yield


def _in_order(task: Task, topic: str, feed: "Iterable[InputRecord] | ColumnFeed") -> Iterator[None]:
    """A stage with one topic: its records in the order of their offsets."""
    pieces: Iterable[InputColumns | Iterable[InputRecord]] = (feed,)
    serdes = task.serdes_of(topic)
    if serdes is not None and hasattr(feed, "pieces"):
        pieces = feed.pieces(serdes)
    for piece in pieces:
        if isinstance(piece, InputColumns):
            task.process_columns(piece)
            yield
            continue
        for number, record in enumerate(piece):
            task.process_one(record)
            if not number % _LOOK_RECORDS:
                yield


def restored(application: Application, partition: int, state: StateBatch) -> dict[str, Callable[[LoggedChange], None]]:
    """The functions that fill the stores of a partition number, by changelog topic."""
    host = _Host(application, partition, state, BatchTerms())
    found: dict[str, Callable[[LoggedChange], None]] = {}
    for stage in application.stages:
        if partition >= stage.partitions:
            continue
        plan = TaskPlan(
            application.topology, stage.nodes, application.application_id, f"{stage.number}_{partition}",
            application.configuration,
        )  # fmt: skip
        task = Task(plan, host)
        for name in stage.stores:
            if name in application.changelogs:
                found[application.changelogs[name].name] = task.raw_store(name).restore
    return found
