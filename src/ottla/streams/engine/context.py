"""The context of a node in a task, and the state that all nodes of a task share."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from ottla.streams.engine.error_handler import (
    DEAD_LETTER_TOPIC,
    ErrorContext,
    ErrorHandler,
    InputRecord,
    OutputRecord,
    log_and_fail,
)
from ottla.streams.engine.input_column import InputColumns
from ottla.streams.engine.punctuation import PunctuationQueue, Schedule, following
from ottla.streams.engine.store.opening import view_of
from ottla.streams.engine.store.spec import LoggedChange, SerdeRole, StoreSpec
from ottla.streams.engine.store.state_map import StateMap
from ottla.streams.errors import ProcessingError, StreamsError
from ottla.streams.processor import PunctuationType
from ottla.streams.record import Headers, RecordMetadata
from ottla.streams.serde import Serde

PROCESSING_HANDLER: Final = "processing.exception.handler"
PRODUCTION_HANDLER: Final = "production.exception.handler"
DESERIALIZATION_HANDLER: Final = "deserialization.exception.handler"


class TaskHost(Protocol):
    """The services that a task needs of its process: storage, topics to write to, a clock."""

    def state_map(self, store: StoreSpec) -> StateMap:
        """The bytes of a store of this task."""
        ...

    def log_change(self, store: str, change: LoggedChange) -> None:
        """Writes to a store's changelog."""
        ...

    def send(self, record: OutputRecord) -> None:
        """Sends a record to its topic."""
        ...

    def partition_count(self, topic: str) -> int:
        """The number of partitions of a topic, for the user's partitioners."""
        ...

    def wall_clock_ms(self) -> int:
        """The process's clock."""
        ...

    def request_commit(self) -> None:
        """Asks for a commit soon, as a processor does."""
        ...


class TaskState:
    """The state that the nodes of a task share while a record is processed."""

    def __init__(self, application_id: str, task_id: str, configuration: Mapping[str, Any], host: TaskHost) -> None:
        self.application_id = application_id
        self.task_id = task_id
        self.configuration = configuration
        self.host = host
        self.columns: InputColumns | None = None
        self.number = 0
        """Which record of the columns is being processed."""
        self._record: InputRecord | None = None
        self.timestamp = -1
        self.stream_time = -1
        self.dropped_records = 0
        self.stores: dict[str, Any] = {}
        self.specs: dict[str, StoreSpec] = {}
        self.shared: dict[int, Any] = {}
        self.by_stream_time = PunctuationQueue()
        self.by_clock = PunctuationQueue()

    @property
    def source(self) -> InputRecord | None:
        """The record that is being processed; None in a punctuation."""
        return self._record if self.columns is None else self.columns.record_at(self.number)

    @source.setter
    def source(self, record: InputRecord | None) -> None:
        self._record = record
        self.columns = None

    @property
    def metadata(self) -> RecordMetadata | None:
        """Topic, partition and offset of the record that is being processed; None in a punctuation."""
        if self.columns is not None:
            return self.columns.metadata_at(self.number)
        record = self._record
        return None if record is None else RecordMetadata(record.topic, record.partition, record.offset)

    def state_map(self, store: str) -> StateMap:
        """The bytes of a store."""
        return self.host.state_map(self.specs[store])

    def log_change(self, store: str, change: LoggedChange) -> None:
        """Writes a change to the store's changelog."""
        self.host.log_change(store, change)

    def now(self) -> int:
        """The timestamp of the record that is being processed."""
        return max(self.timestamp, 0)

    def resumes(
        self,
        setting: str,
        node: str,
        error: Exception,
        timestamp: int,
        source: InputRecord | None = None,
    ) -> bool:
        """Asks the handler of a setting, and writes its dead letters; True: the task goes on without the record.

        The timestamp is that of the record as it came to the node.
        """
        handler: ErrorHandler = self.configuration.get(setting) or log_and_fail
        topic = self.configuration.get(DEAD_LETTER_TOPIC)
        context = ErrorContext(source or self.source, node, self.task_id, topic, timestamp)
        try:
            resumes, dead_letters = handler(context, error)
        except Exception as failure:
            kind = setting.partition(".")[0]
            raise ProcessingError(f"Fatal user code error in {kind} error callback: {failure!r}") from failure
        for letter in dead_letters:
            self.host.send(letter)
        self.dropped_records += resumes
        return resumes

    def where(self) -> str:
        """Which record is being processed, for messages of errors; nothing in a punctuation."""
        source = self.source
        return (
            "" if source is None else f" on the record of {source.topic}-{source.partition} at offset {source.offset}"
        )

    def default_serde(self, of_key: SerdeRole) -> Serde[Any] | None:
        """The serde that the configuration names for keys or values."""
        serde: Serde[Any] | None = self.configuration.get(f"default.{of_key.value}.serde")
        return serde


class NodeContext:
    """A node's view of its task."""

    def __init__(self, node: str, connected: frozenset[str], state: TaskState) -> None:
        self.node = node
        self._connected = connected
        self._state = state
        self.application_id = state.application_id
        self.task_id = state.task_id
        self.configuration = state.configuration
        self.wall_clock_ms = state.host.wall_clock_ms
        self.request_commit = state.host.request_commit

    def store(self, name: str) -> Any:
        """An open store."""
        return self._state.stores[name]

    def connected_store(self, name: str) -> Any:
        """A store for the user's processor; it must be connected, unless it is global."""
        if name not in self._state.stores:
            raise StreamsError(f"there is no store {name} in this task")
        if name in self._state.specs and name not in self._connected:
            raise StreamsError(
                f"Processor {self.node} has no access to StateStore {name} as the store is not connected to the "
                f"processor: name it in process(…, stores=[…]) or with connect_processor_and_state_stores"
            )
        return view_of(self._state.stores[name])

    def drop(self) -> None:
        """Counts a record that is left out."""
        self._state.dropped_records += 1

    def partition(self) -> int:
        """The partition of the current record."""
        metadata = self._state.metadata
        return 0 if metadata is None else metadata.partition

    def topic(self) -> str:
        """The topic of the current record."""
        metadata = self._state.metadata
        return "" if metadata is None else metadata.topic

    def encode_key(self, serde: Serde[Any] | None, key: Any) -> bytes | None:
        """Bytes of a key that belongs to no topic."""
        return self._encoded(serde, SerdeRole.KEY, key)

    def encode_value(self, serde: Serde[Any] | None, value: Any) -> bytes | None:
        """Bytes of a value that belongs to no topic."""
        return self._encoded(serde, SerdeRole.VALUE, value)

    def shared(self, identity: int, make: Callable[[], Any]) -> Any:
        """Something that several nodes of the task share."""
        return self._state.shared.setdefault(identity, make())

    def schedule(
        self, interval_ms: int, punctuation: PunctuationType, callback: Callable[[int], None], start_ms: int | None
    ) -> Schedule:
        """Calls back by stream time from 0 on, or by the clock from now on; with a start only on its grid."""

        def punctuate(time: int) -> None:
            state = self._state
            before = state.columns
            state.source = None
            state.timestamp = time
            try:
                callback(time)
            except StreamsError:
                raise
            except Exception as error:
                if not state.resumes(PROCESSING_HANDLER, self.node, error, time):
                    raise ProcessingError(f"{self.node} failed in its punctuation at {time}: {error!r}") from error
            state.columns = before

        schedule = Schedule(interval_ms, punctuate)
        if punctuation is PunctuationType.STREAM_TIME:
            queue, now, first = self._state.by_stream_time, self._state.stream_time, 0
        else:
            queue, now = self._state.by_clock, self._state.host.wall_clock_ms()
            first = now + interval_ms
        if start_ms is not None:
            first = start_ms if start_ms >= now else following(start_ms, interval_ms, now)
        queue.add(first, schedule)
        return schedule

    def metadata(self) -> RecordMetadata | None:
        """Where the current record came from."""
        return self._state.metadata

    def stream_time(self) -> int:
        """The largest timestamp of the task so far."""
        return self._state.stream_time

    def _encoded(self, serde: Serde[Any] | None, role: SerdeRole, value: Any) -> bytes | None:
        if value is None:
            return None
        serde = serde or self._state.default_serde(role)
        if serde is None:
            raise StreamsError(f"{self.node} has no {role.value} serde")
        topic = f"{self.application_id}-{self.node}"
        headers: Headers = ()
        return serde.serialize(topic, headers, value)
