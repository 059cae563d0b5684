"""A task: the nodes of a sub-topology at work on one partition of each of its topics.

Records of several partitions are taken by the smallest timestamp at the head; within a partition by offset. All
outputs of a record are made before the next one is looked at. What a task does is a function of its stores and
its input alone; it never asks a clock on its own.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

from ottla.streams.engine.context import DESERIALIZATION_HANDLER, NodeContext, TaskHost, TaskState
from ottla.streams.engine.endpoint import Sink, Source
from ottla.streams.engine.error_handler import InputRecord
from ottla.streams.engine.input_column import InputColumns
from ottla.streams.engine.store.opening import open_store, view_of
from ottla.streams.engine.store.spec import LoggedChange
from ottla.streams.engine.topology import Topology
from ottla.streams.engine.wiring import wire
from ottla.streams.errors import ProcessingError, RecordDecodeError, StreamsError
from ottla.streams.serde import Serde

_BY_STREAM_TIME: Final = "@stream time"
_BY_CLOCK: Final = "@clock"


@dataclass(frozen=True)
class TaskPlan:
    """Which nodes run in a task, and with what settings."""

    topology: Topology
    nodes: Sequence[str]
    application_id: str
    task_id: str
    configuration: Mapping[str, Any] = field(default_factory=dict)
    global_stores: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Partition:
    """The records of a partition that wait, decoded, with their times."""

    records: deque[tuple[int, InputRecord, tuple[Any, Any]]] = field(default_factory=deque)
    time: int = -1


class Task:
    """Processes records."""

    def __init__(self, plan: TaskPlan, host: TaskHost) -> None:
        self._plan = plan
        self._state = TaskState(plan.application_id, plan.task_id, plan.configuration, host)
        self._sources: dict[str, Source] = {}
        self._partitions: dict[tuple[str, int], _Partition] = {}
        self._open_stores()
        self._operators = wire(plan, self._state)
        for operator in self._operators.values():
            if isinstance(operator, Source):
                self._sources |= dict.fromkeys(operator.node.topics, operator)
        self.sinks: Final = [operator for operator in self._operators.values() if isinstance(operator, Sink)]
        self._patterns = [op for op in self._operators.values() if isinstance(op, Source) and op.node.pattern]

    @property
    def stream_time(self) -> int:
        """The largest timestamp so far; -1 before the first record."""
        return self._state.stream_time

    @property
    def dropped_records(self) -> int:
        """Records that were left out: null keys, late ones, undecodable ones."""
        return self._state.dropped_records

    def open(self) -> None:
        """Opens the operators; to be called when the stores have their content."""
        for name, operator in self._operators.items():
            connected = frozenset(self._plan.topology.connections.get(name, ()))
            operator.open(NodeContext(name, connected, self._state))

    def close(self) -> None:
        """Closes the operators."""
        for operator in self._operators.values():
            operator.close()

    def store(self, name: str) -> Any:
        """A store as readers see it; None if the task has none of this name."""
        store = self._state.stores.get(name)
        return None if store is None else view_of(store)

    def raw_store(self, name: str) -> Any:
        """A store as operators see it."""
        return self._state.stores[name]

    def restore(self, store: str, changes: Iterable[LoggedChange]) -> None:
        """Takes records of a changelog, before `open`."""
        target = self._state.stores[store]
        for change in changes:
            target.restore(change)

    def times(self) -> dict[str, tuple[int, ...]]:
        """The numbers that must be kept with the stores, by node; "" has the task's stream time."""
        state = self._state
        times = {name: operator.times() for name, operator in self._operators.items()}
        times |= {_BY_STREAM_TIME: state.by_stream_time.times(), _BY_CLOCK: state.by_clock.times()}
        times |= {_partition_name(*place): (part.time,) for place, part in self._partitions.items() if part.time >= 0}
        return {"": (state.stream_time,)} | {name: numbers for name, numbers in times.items() if numbers}

    def set_times(self, times: Mapping[str, tuple[int, ...]]) -> None:
        """Restores the result of `times` at the last write of the stores; to be called after `open` and `assign`."""
        state = self._state
        for name, numbers in times.items():
            if name == "":
                state.stream_time = numbers[0]
            elif name in self._operators:
                self._operators[name].set_times(tuple(numbers))
        state.by_stream_time.set_times(times.get(_BY_STREAM_TIME, ()))
        state.by_clock.set_times(times.get(_BY_CLOCK, ()))
        for place, partition in self._partitions.items():
            partition.time = times.get(_partition_name(*place), (-1,))[0]

    def assign(self, places: Iterable[tuple[str, int]]) -> None:
        """Makes partitions known. Of heads with the same time the one of the partition assigned first is next."""
        for place in places:
            self._partitions.setdefault(place, _Partition())

    def lacks(self, topic: str, partition: int) -> bool:
        """Whether no record of a partition waits: hosts that merge partitions enqueue more before they continue."""
        return not self._partitions[topic, partition].records

    def enqueue(self, record: InputRecord) -> None:
        """Decodes a record and lets it wait; one without a valid time, or that cannot be decoded, is left out."""
        source = self._source(record.topic)
        partition = self._partitions.setdefault((record.topic, record.partition), _Partition())
        try:
            pair = source.decoded(record)
        except Exception as error:  # noqa: BLE001  # a user's serde may raise anything; the handler decides
            self._refuse(record, source.node.name, error)
            return
        timestamp = source.time_of(record, pair, partition.time)
        if timestamp < 0:
            self._state.dropped_records += 1
            return
        partition.records.append((timestamp, record, pair))

    def process_next(self) -> bool:
        """Processes the waiting record with the smallest time; false: none waits."""
        waiting = [partition for partition in self._partitions.values() if partition.records]
        if not waiting:
            return False
        partition = waiting[0] if len(waiting) == 1 else min(waiting, key=lambda one: one.records[0][0])
        timestamp, record, pair = partition.records.popleft()
        partition.time = max(partition.time, timestamp)
        self._forward(self._source(record.topic), record, pair, timestamp)
        return True

    def process_one(self, record: InputRecord) -> None:
        """Decodes and processes a record at once, and fires what it reaches: for a task of one partition."""
        source = self._source(record.topic)
        partition = self._partitions[record.topic, record.partition]
        try:
            pair = source.decoded(record)
        except Exception as error:  # noqa: BLE001  # a user's serde may raise anything; the handler decides
            self._refuse(record, source.node.name, error)
            return
        timestamp = source.time_of(record, pair, partition.time)
        if timestamp < 0:
            self._state.dropped_records += 1
            return
        if timestamp > partition.time:
            partition.time = timestamp
        self._forward(source, record, pair, timestamp)
        self.punctuate_stream_time()

    def process(self, records: Iterable[InputRecord]) -> None:
        """Processes records of one partition in their order; the short way for a task with one input."""
        for record in records:
            self.enqueue(record)
            while self.process_next():
                self.punctuate_stream_time()

    def serdes_of(self, topic: str) -> tuple[Serde[Any], Serde[Any]] | None:
        """With what a host decodes the columns of a topic for `process_columns`; None: it takes single records."""
        return self._source(topic).column_serdes

    def process_columns(self, columns: InputColumns) -> None:
        """Processes decoded records of the task's one partition; the shortest way."""
        state, source = self._state, self._source(columns.topic)
        partition = self._partitions[columns.topic, columns.partition]
        forward, by_stream_time = source.forward, state.by_stream_time
        headers = columns.headers or repeat(())
        number = -1
        try:
            for key, value, time, found in zip(columns.keys, columns.values, columns.timestamps, headers, strict=False):
                number += 1
                state.columns, state.number, state.timestamp = columns, number, time
                if time > state.stream_time:
                    state.stream_time = time
                forward(key, value, time, found)
                if by_stream_time.next_due <= state.stream_time:
                    by_stream_time.fire(state.stream_time)
        except StreamsError:
            raise
        except Exception as error:
            raise self._failed(source, error) from error
        partition.time = max(partition.time, max(columns.timestamps, default=-1))

    def punctuate_stream_time(self) -> bool:
        """Fires what stream time has reached; hosts call it after each record."""
        state = self._state
        return state.stream_time >= 0 and state.by_stream_time.fire(state.stream_time)

    def punctuate_clock(self, now_ms: int) -> bool:
        """Fires what the clock has reached."""
        return self._state.by_clock.fire(now_ms)

    def next_clock_punctuation(self) -> int | None:
        """The next time at which `punctuate_clock` has a punctuation to fire."""
        return self._state.by_clock.next_time()

    def _forward(self, source: Source, record: InputRecord, pair: tuple[Any, Any], timestamp: int) -> None:
        state = self._state
        state.source = record
        state.timestamp = timestamp
        state.stream_time = max(state.stream_time, timestamp)
        try:
            source.forward(*pair, timestamp, record.headers)
        except StreamsError:
            raise
        except Exception as error:
            raise self._failed(source, error) from error

    def _failed(self, source: Source, error: Exception) -> ProcessingError:
        node = _node_of(error, source.node.name)
        return ProcessingError(f"{node} failed{self._state.where()}: {error!r}")

    def _refuse(self, record: InputRecord, node: str, error: Exception) -> None:
        self._state.timestamp = record.timestamp
        if not self._state.resumes(DESERIALIZATION_HANDLER, node, error, record.timestamp, record):
            where = f"{record.topic}-{record.partition} at offset {record.offset}"
            raise RecordDecodeError(
                f"{node} cannot decode the record of {where} ({error}); set {DESERIALIZATION_HANDLER} to "
                f"log_and_continue to go on without it"
            ) from error

    def _source(self, topic: str) -> Source:
        source = self._sources.get(topic)
        if source is None:
            source = next((one for one in self._patterns if self._plan.topology.source_of(topic) is one.node), None)
            if source is None:
                raise StreamsError(f"no source of this task reads the topic {topic}")
            self._sources[topic] = source
        return source

    def _open_stores(self) -> None:
        plan, state = self._plan, self._state
        state.stores.update(plan.global_stores)
        for node in plan.nodes:
            for name in plan.topology.connections.get(node, ()):
                if name not in state.stores:
                    state.specs[name] = plan.topology.stores[name]
                    state.stores[name] = open_store(state.specs[name], state)


def _partition_name(topic: str, partition: int) -> str:
    """Under which name a partition's time is kept; no node is called so."""
    return f"@time of {topic} {partition}"


def _node_of(error: BaseException, default: str) -> str:
    """The innermost node in the error's traceback."""
    found, trace = default, error.__traceback__
    while trace is not None:
        operator = trace.tb_frame.f_locals.get("self")
        found = getattr(operator, "node_name", found)
        trace = trace.tb_next
    return found
