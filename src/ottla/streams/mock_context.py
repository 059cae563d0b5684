"""MockProcessorContext: what a processor asks of its task, for unit tests of the processor alone.

It keeps what was forwarded, scheduled and committed; its stores are real ones, in memory. Topologies are tested with
`TopologyTestDriver`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from ottla.streams.duration import Duration, signed_milliseconds
from ottla.streams.engine.context_setting import ContextSettings
from ottla.streams.engine.store.opening import open_store, view_of
from ottla.streams.engine.store.spec import LoggedChange, SerdeRole, StoreSpec
from ottla.streams.engine.store.state_map import MemoryMap, StateMap
from ottla.streams.errors import StreamsError
from ottla.streams.processor import Cancellable, KOut, PunctuationType, VOut
from ottla.streams.record import Record, RecordMetadata
from ottla.streams.serde import Serde


class CapturedForward(NamedTuple):
    """A record that was forwarded, to all children or to one."""

    record: Record[Any, Any]
    child_name: str | None = None


@dataclass
class CapturedPunctuator:
    """A punctuation that was scheduled; the test calls `callback` itself."""

    interval_ms: int
    type: PunctuationType
    callback: Callable[[int], None]
    start_time: int | None = None
    cancelled: bool = False

    def cancel(self) -> None:
        """It was called off."""
        self.cancelled = True


class MockProcessorContext(ContextSettings, Generic[KOut, VOut]):
    """A context that keeps what its processor does.

    >>> from ottla.streams import Processor
    >>> class Upper(Processor[str, str, str, str]):
    ...     def process(self, record):
    ...         self.context.forward(record.with_value(record.value.upper()))
    >>> context = MockProcessorContext()
    >>> upper = Upper()
    >>> upper.init(context)
    >>> upper.process(Record("k", "hello", 5))
    >>> context.forwarded()[0].record.value
    'HELLO'
    """

    def __init__(self, config: Mapping[str, Any] | None = None, task_id: str = "0_0") -> None:
        configuration = dict(config or {})
        super().__init__(configuration, str(configuration.get("application.id", "")), task_id)
        self._stores: dict[str, Any] = {}
        self._forwards: list[CapturedForward] = []
        self._punctuators: list[CapturedPunctuator] = []
        self._metadata: RecordMetadata | None = None
        self._system_time_ms: int | None = None
        self._stream_time_ms: int | None = None
        self._committed = False

    def forward(self, record: Record[KOut, VOut], child_name: str | None = None) -> None:
        """Captures the record."""
        self._forwards.append(CapturedForward(record, child_name))

    def forwarded(self, child_name: str | None = None) -> list[CapturedForward]:
        """The captured records, or with a name those that this child gets."""
        if child_name is None:
            return list(self._forwards)
        return [one for one in self._forwards if one.child_name in (None, child_name)]

    def reset_forwards(self) -> None:
        """Forgets the captured records."""
        self._forwards.clear()

    def add_state_store(self, spec: StoreSpec) -> Any:
        """Opens a store of `Stores.…_builder` in memory; the processor finds it by its name."""
        self._stores[spec.name] = view_of(open_store(spec, _StoreContext(self)))
        return self._stores[spec.name]

    def get_state_store(self, name: str) -> Any:
        """A store that was added; None if there is none of this name."""
        return self._stores.get(name)

    def schedule(
        self,
        interval: Duration,
        punctuation: PunctuationType,
        callback: Callable[[int], None],
        start_time: int | None = None,
    ) -> Cancellable:
        """Captures the punctuation, which fires only when the test calls it."""
        captured = CapturedPunctuator(signed_milliseconds(interval), punctuation, callback, start_time)
        self._punctuators.append(captured)
        return captured

    def scheduled_punctuators(self) -> list[CapturedPunctuator]:
        """The captured punctuations, in the order in which they were scheduled."""
        return list(self._punctuators)

    def commit(self) -> None:
        """Notes the request for a commit."""
        self._committed = True

    def committed(self) -> bool:
        """Whether the processor has asked for a commit."""
        return self._committed

    def reset_commit(self) -> None:
        """Forgets the request for a commit."""
        self._committed = False

    def set_record_metadata(self, topic: str, partition: int, offset: int) -> None:
        """Sets topic, partition and offset of the current record."""
        self._metadata = RecordMetadata(topic, partition, offset)

    def record_metadata(self) -> RecordMetadata | None:
        """The metadata that `set_record_metadata` has set."""
        return self._metadata

    def set_current_system_time_ms(self, time: int) -> None:
        """Sets the clock."""
        self._system_time_ms = time

    def current_system_time_ms(self) -> int:
        """The clock, once it was set."""
        if self._system_time_ms is None:
            raise StreamsError("System time must be set before use via set_current_system_time_ms().")
        return self._system_time_ms

    def set_current_stream_time_ms(self, time: int) -> None:
        """Sets stream time."""
        self._stream_time_ms = time

    def current_stream_time_ms(self) -> int:
        """Stream time, once it was set."""
        if self._stream_time_ms is None:
            raise StreamsError("Stream time must be set before use via set_current_stream_time_ms().")
        return self._stream_time_ms


class _StoreContext:
    """The context of a store in memory, without a changelog."""

    def __init__(self, context: MockProcessorContext[Any, Any]) -> None:
        self._context = context
        self.application_id = context.application_id()

    def state_map(self, store: str) -> StateMap:
        """A new map."""
        return MemoryMap()

    def log_change(self, store: str, change: LoggedChange) -> None:
        """Drops the change: there is no changelog."""

    def now(self) -> int:
        """Always 0: only changelogs need the time."""
        return 0

    def default_serde(self, of_key: SerdeRole) -> Serde[Any] | None:
        """The serde that the configuration names."""
        return self._context.key_serde() if of_key is SerdeRole.KEY else self._context.value_serde()
