"""TopologyTestDriver: a topology in memory, for unit tests in milliseconds. No broker, no threads, no clock but its
own.

All sub-topologies run in one task, as if each topic had one partition. What is written to a topic that the
topology reads is read before `pipe_input` returns.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Generic, cast

from ottla.streams.duration import Duration, milliseconds
from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.engine.store.spec import LoggedChange, StoreKind, StoreSpec
from ottla.streams.engine.store.state_map import MemoryMap, StateMap
from ottla.streams.engine.task import Task, TaskPlan
from ottla.streams.engine.topology import Topology
from ottla.streams.errors import StreamsError
from ottla.streams.record import Headers, K, Record, V
from ottla.streams.serde import Serde


class TestInputTopic(Generic[K, V]):
    """A topic to write to."""

    __test__ = False

    def __init__(
        self, driver: "TopologyTestDriver", topic: str, serdes: tuple[Serde[K], Serde[V]], times: tuple[int, int]
    ) -> None:
        self._driver = driver
        self._topic = topic
        self._serdes = serdes
        self._now, self._advance = times

    def advance_time(self, advance: Duration) -> None:
        """Moves the time of records that are given none: from the driver's time at the making of this topic on."""
        self._now += milliseconds(advance, "advance must be positive")

    def pipe_input(self, key: K | None, value: V | None, timestamp: int | None = None, headers: Headers = ()) -> None:
        """Writes a record, and runs the topology until nothing is left to do. Without a time it has the topic's."""
        at = timestamp
        if at is None:
            at, self._now = self._now, self._now + self._advance
        key_bytes = self._serdes[0].serialize(self._topic, headers, key)
        value_bytes = self._serdes[1].serialize(self._topic, headers, value)
        self._driver.pipe(OutputRecord(self._topic, key_bytes, value_bytes, at, headers))

    def pipe_key_value_list(
        self, pairs: Iterable[tuple[K | None, V]], start: int | None = None, advance: Duration = 0
    ) -> None:
        """Writes pairs, the first at `start`, each `advance` later than the one before; without a start by the topic's
        time.
        """
        step = milliseconds(advance, "advance must be positive")
        for number, (key, value) in enumerate(pairs):
            self.pipe_input(key, value, None if start is None else start + number * step)

    def pipe_value_list(self, values: Iterable[V], start: int | None = None, advance: Duration = 0) -> None:
        """Writes values without keys, with the times of `pipe_key_value_list`."""
        self.pipe_key_value_list(((None, value) for value in values), start, advance)

    def pipe_record_list(self, records: Iterable[Record[K, V]]) -> None:
        """Writes records, each at its own time."""
        for record in records:
            self.pipe_input(record.key, record.value, record.timestamp, record.headers)


class TestOutputTopic(Generic[K, V]):
    """A topic to read from."""

    __test__ = False

    def __init__(self, outputs: dict[str, deque[OutputRecord]], topic: str, serdes: tuple[Serde[K], Serde[V]]) -> None:
        self._outputs = outputs
        self._topic = topic
        self._serdes = serdes

    @property
    def _records(self) -> deque[OutputRecord]:
        return self._outputs.get(self._topic) or deque()

    def read_record(self) -> Record[K, V]:
        """The next record."""
        if self._topic not in self._outputs:
            raise StreamsError(f"Uninitialized topic: {self._topic}")
        if not self._records:
            raise StreamsError(f"Empty topic: {self._topic}")
        record = self._records.popleft()
        key = self._serdes[0].deserialize(self._topic, record.headers, record.key)
        value = self._serdes[1].deserialize(self._topic, record.headers, record.value)
        return Record(cast("K", key), cast("V", value), record.timestamp, record.headers)

    def read_key_value(self) -> tuple[K, V]:
        """Key and value of the next record."""
        record = self.read_record()
        return record.key, record.value

    def read_value(self) -> V:
        """The value of the next record."""
        return self.read_record().value

    def read_records_to_list(self) -> list[Record[K, V]]:
        """All records that are left."""
        return [self.read_record() for _ in range(len(self._records))]

    def read_key_values_to_list(self) -> list[tuple[K, V]]:
        """Keys and values of all records that are left."""
        return [(record.key, record.value) for record in self.read_records_to_list()]

    def read_values_to_list(self) -> list[V]:
        """Values of all records that are left."""
        return [record.value for record in self.read_records_to_list()]

    def read_key_values_to_map(self) -> dict[K, V]:
        """The last value of each key of all records that are left; they all have one."""
        pairs = self.read_key_values_to_list()
        if any(key is None for key, _ in pairs):
            raise StreamsError("Null keys not allowed with read_key_values_to_map")
        return dict(pairs)

    def is_empty(self) -> bool:
        """Whether all records have been read."""
        return not self._records

    def get_queue_size(self) -> int:
        """The number of records that have not been read."""
        return len(self._records)


class _MemoryHost:
    """Bytes in memory, topics as queues, a clock that is moved."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.sent: list[OutputRecord] = []
        self.changelogs: dict[str, list[LoggedChange]] = {}

    def state_map(self, store: StoreSpec) -> StateMap:
        """A new map: a driver begins without state."""
        return MemoryMap()

    def log_change(self, store: str, change: LoggedChange) -> None:
        """Keeps the change: `TopologyTestDriver.changelog` shows it."""
        self.changelogs.setdefault(store, []).append(change)

    def send(self, record: OutputRecord) -> None:
        """Keeps the record until the driver has a look."""
        self.sent.append(record)

    def partition_count(self, topic: str) -> int:
        """Each topic has one partition."""
        return 1

    def wall_clock_ms(self) -> int:
        """The driver's time."""
        return self.now_ms

    def request_commit(self) -> None:
        """Everything is committed at once anyway."""


class TopologyTestDriver:
    """Runs a topology record by record.

    >>> from ottla.streams import Serdes, StreamsBuilder, Consumed, Produced
    >>> builder = StreamsBuilder()
    >>> stream = builder.stream("in", Consumed.with_(Serdes.string(), Serdes.string()))
    >>> stream.map_values(lambda value: value.upper()).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    >>> with TopologyTestDriver(builder.build()) as driver:
    ...     driver.create_input_topic("in", Serdes.string(), Serdes.string()).pipe_input("a", "hello", 5)
    ...     driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_record()
    Record(key='a', value='HELLO', timestamp=5, headers=())
    """

    __test__ = False

    def __init__(
        self, topology: Topology, config: Mapping[str, Any] | None = None, initial_wall_clock_ms: int = 0
    ) -> None:
        configuration = dict(config or {})
        application_id = str(configuration.get("application.id", "test"))
        self._topology = topology
        self._host = _MemoryHost(initial_wall_clock_ms)
        self._outputs: dict[str, deque[OutputRecord]] = {}
        self._offsets: dict[str, int] = {}
        groups = topology.sub_topologies()
        global_nodes = [node for group in groups if group.is_global for node in group.nodes]
        nodes = [node for group in groups if not group.is_global for node in group.nodes]
        self._global = Task(TaskPlan(topology, global_nodes, application_id, "global", configuration), self._host)
        self._global.open()
        stores = {name: self._global.raw_store(name) for name in topology.global_sources.values()}
        plan = TaskPlan(topology, nodes, application_id, "0_0", configuration, stores)
        self._task = Task(plan, self._host)
        self._task.open()
        self._internal = {f"{application_id}-{name}" for name in topology.internal_topics}
        self._global_topics = {
            topic for name in topology.global_sources for topic in getattr(topology.nodes[name], "topics", ())
        }

    def __enter__(self) -> "TopologyTestDriver":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def create_input_topic(
        self,
        topic: str,
        key_serde: Serde[K],
        value_serde: Serde[V],
        start_timestamp: int | None = None,
        auto_advance: Duration = 0,
    ) -> TestInputTopic[K, V]:
        """A topic to write to; records without a time begin at the start, or at the driver's time, and then advance."""
        start = self.wall_clock_ms() if start_timestamp is None else start_timestamp
        step = milliseconds(auto_advance, "autoAdvance must be positive")
        return TestInputTopic(self, topic, (key_serde, value_serde), (start, step))

    def create_output_topic(self, topic: str, key_serde: Serde[K], value_serde: Serde[V]) -> TestOutputTopic[K, V]:
        """A topic to read from."""
        return TestOutputTopic(self._outputs, topic, (key_serde, value_serde))

    def pipe(self, record: OutputRecord) -> None:
        """Takes a record in bytes and runs the topology."""
        if record.topic not in self._global_topics and self._source_of(record.topic) is None:
            raise StreamsError(f"Unknown topic: {record.topic}")
        self._enqueue(record)
        self._run()

    def advance_wall_clock_time(self, duration: Duration) -> None:
        """Moves the clock, and fires what it reaches."""
        self._host.now_ms += milliseconds(duration, "Sleep ms cannot be negative.")
        self._task.punctuate_clock(self._host.now_ms)
        self._capture()
        self._run()

    def wall_clock_ms(self) -> int:
        """The driver's time."""
        return self._host.now_ms

    def get_state_store(self, name: str) -> Any:
        """A store by name, of whichever kind; None if there is none."""
        return self._task.store(name)

    def get_key_value_store(self, name: str) -> Any:
        """A key-value store: the values, without their times. None if there is none, or it is of another kind."""
        return self._store(name, StoreKind.KEY_VALUE, StoreKind.TIMESTAMPED_KEY_VALUE)

    def get_timestamped_key_value_store(self, name: str) -> Any:
        """A key-value store: values with their times."""
        return self._raw_store(name, StoreKind.TIMESTAMPED_KEY_VALUE)

    def get_window_store(self, name: str) -> Any:
        """A window store: the values, without their times."""
        return self._store(name, StoreKind.WINDOW, StoreKind.TIMESTAMPED_WINDOW)

    def get_session_store(self, name: str) -> Any:
        """A session store."""
        return self._store(name, StoreKind.SESSION)

    def get_versioned_key_value_store(self, name: str) -> Any:
        """A versioned store."""
        return self._store(name, StoreKind.VERSIONED)

    def get_all_state_stores(self) -> dict[str, Any]:
        """All stores by name."""
        return {name: self.get_state_store(name) for name in self._topology.stores}

    def get_timestamped_window_store(self, name: str) -> Any:
        """A window store: values with their times."""
        return self._raw_store(name, StoreKind.TIMESTAMPED_WINDOW)

    def produced_topic_names(self) -> set[str]:
        """The topics that something was written to."""
        return set(self._outputs)

    def changelog(self, store: str) -> list[LoggedChange]:
        """The changes that a store has written to its changelog."""
        return list(self._host.changelogs.get(store, ()))

    def dropped_records(self) -> int:
        """The number of records that were left out: null keys, late ones, undecodable ones."""
        return self._task.dropped_records + self._global.dropped_records

    def close(self) -> None:
        """Closes the processors."""
        self._task.close()
        self._global.close()

    def _store(self, name: str, *kinds: StoreKind) -> Any:
        spec = self._topology.stores.get(name)
        return None if spec is None or spec.kind not in kinds else self._task.store(name)

    def _raw_store(self, name: str, kind: StoreKind) -> Any:
        return None if self._store(name, kind) is None else self._task.raw_store(name)

    def _source_of(self, topic: str) -> object:
        return topic in self._internal or self._topology.source_of(topic)

    def _enqueue(self, record: OutputRecord) -> None:
        offset = self._offsets.get(record.topic, 0)
        self._offsets[record.topic] = offset + 1
        taken = InputRecord(record.topic, 0, offset, record.timestamp, record.key, record.value, record.headers)
        if record.topic in self._global_topics:
            self._global.process([taken])
        else:
            self._task.enqueue(taken)

    def _run(self) -> None:
        self._capture()
        while self._task.process_next():
            self._task.punctuate_stream_time()
            self._capture()

    def _capture(self) -> None:
        sent, self._host.sent = self._host.sent, []
        for record in sent:
            self._outputs.setdefault(record.topic, deque()).append(record)
            if self._source_of(record.topic) or record.topic in self._global_topics:
                self._enqueue(record)
