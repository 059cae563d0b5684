"""A processor of the user's as an operator, and the context that it sees."""

from collections.abc import Callable
from typing import Any

from ottla.streams.duration import Duration, signed_milliseconds
from ottla.streams.engine.context_setting import ContextSettings
from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.errors import StreamsError
from ottla.streams.processor import Cancellable, Processor, PunctuationType, uses_fixed_key
from ottla.streams.record import Headers, Record, RecordMetadata


class UserProcessor(Operator):
    """Calls the user's processor with records, and forwards what it sends."""

    def __init__(self, processor: Processor[Any, Any, Any, Any]) -> None:
        self._processor = processor
        self._fixed_key = uses_fixed_key(processor)
        self._key: Any = None
        self.children: dict[str, Operator] = {}

    def open(self, context: OperatorContext) -> None:
        """Opens the user's processor."""
        self._processor.init(UserContext(self, context))

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Hands over the record."""
        self._key = key
        self._processor.process(Record(key, value, timestamp, headers))

    def close(self) -> None:
        """Closes the user's processor."""
        self._processor.close()

    def send(self, record: Record[Any, Any], child_name: str | None) -> None:
        """Forwards a record of the user's."""
        if record.timestamp < 0:
            raise StreamsError(f"Malformed Record: its timestamp {record.timestamp} is negative")
        if self._fixed_key and record.key != self._key:
            raise StreamsError(f"a FixedKeyProcessor may not change the key {self._key!r} to {record.key!r}")
        if child_name is None:
            self.forward(record.key, record.value, record.timestamp, record.headers)
            return
        child = self.children.get(child_name)
        if child is None:
            raise StreamsError(f"Unknown downstream node: {child_name} either does not exist or is not connected")
        child.process(record.key, record.value, record.timestamp, record.headers)


class UserContext(ContextSettings):
    """The `ProcessorContext` of a processor."""

    def __init__(self, operator: UserProcessor, context: Any) -> None:
        super().__init__(context.configuration, context.application_id, context.task_id)
        self._operator = operator
        self._context = context

    def forward(self, record: Record[Any, Any], child_name: str | None = None) -> None:
        """Sends a record to all children, or to one."""
        self._operator.send(record, child_name)

    def get_state_store(self, name: str) -> Any:
        """A store that the processor was connected with."""
        return self._context.connected_store(name)

    def schedule(
        self,
        interval: Duration,
        punctuation: PunctuationType,
        callback: Callable[[int], None],
        start_time: int | None = None,
    ) -> Cancellable:
        """Calls `callback(time)` every `interval` of stream time or of the clock."""
        interval_ms = signed_milliseconds(interval)
        if interval_ms < 1:
            raise ValueError("The minimum supported scheduling interval is 1 millisecond.")
        if start_time is not None and start_time < 0:
            raise ValueError("The minimum supported start time is Instant.EPOCH.")
        cancellable: Cancellable = self._context.schedule(interval_ms, punctuation, callback, start_time)
        return cancellable

    def record_metadata(self) -> RecordMetadata | None:
        """Where the current record came from; None in a punctuation."""
        metadata: RecordMetadata | None = self._context.metadata()
        return metadata

    def current_stream_time_ms(self) -> int:
        """The largest timestamp of the task so far."""
        return int(self._context.stream_time())

    def current_system_time_ms(self) -> int:
        """The host's clock."""
        return int(self._context.wall_clock_ms())

    def commit(self) -> None:
        """Asks for a commit as soon as possible."""
        self._context.request_commit()
