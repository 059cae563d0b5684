"""Suppression: holds a table's updates back until their window closes, or for a time, and then sends the latest one.

An update of a closed window is dropped before it is buffered. Time is stream time: nothing leaves by the clock.
"""

from typing import Any

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.operator.table import Getter, TableDefinition, View
from ottla.streams.engine.store.buffer import TimeOrderedBuffer, Waiting
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.errors import StreamsError
from ottla.streams.record import Change, Headers


class SuppressDefinition(TableDefinition):
    """The limits of a suppression: waiting time, records and bytes."""

    def __init__(self, parent: TableDefinition, buffer: StoreSpec, *, wait_ms: int, until_close: bool) -> None:
        super().__init__(None, (parent,))
        self.buffer = buffer
        self.wait_ms = wait_ms
        self.until_close = until_close
        self.records_max: int | None = None
        self.bytes_max: int | None = None
        self.emits_when_full = True

    def make(self) -> Operator:
        """The operator of a task."""
        return Suppress(self)

    def computed_view(self) -> View:
        """The rows as they were last sent: what is held back is hidden from joins that look the table up."""
        parent = self.parents[0].view()

        def open_getter(context: OperatorContext) -> Getter:
            return SuppressedGetter(context.store(self.buffer.name), parent.open(context))

        return View((self.buffer.name, *parent.stores), open_getter)


class SuppressedGetter:
    """Looks into a suppressed table. The time of a row whose update waits is unknown."""

    versioned = False

    def __init__(self, buffer: TimeOrderedBuffer, parent: Getter) -> None:
        self._buffer = buffer
        self._parent = parent

    def get(self, key: Any) -> tuple[Any, int] | None:
        """The row from before the updates that wait; without any the parent's."""
        if not self._buffer.is_waiting(key):
            return self._parent.get(key)
        prior = self._buffer.prior(key)
        return None if prior is None else (prior, -1)

    def get_as_of(self, key: Any, timestamp: int) -> tuple[Any, int] | None:
        """A suppressed table has no versions."""
        return self.get(key)


class Suppress(Operator):
    """Buffers updates, and emits those that are due."""

    def __init__(self, definition: SuppressDefinition) -> None:
        self._definition = definition
        self._stream_time = -1

    def open(self, context: OperatorContext) -> None:
        """Finds the buffer."""
        self._context = context
        self._buffer = context.store(self._definition.buffer.name)

    def times(self) -> tuple[int, ...]:
        return (self._stream_time,)

    def set_times(self, times: tuple[int, ...]) -> None:
        self._stream_time = times[0]

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Replaces the buffered update of the key, and emits what is due."""
        definition = self._definition
        self._stream_time = max(self._stream_time, timestamp)
        time = key.window.end if definition.until_close else timestamp
        self._buffer.put(time, Waiting(time, key, Change(*value), timestamp, headers, self._context.topic()))
        expiry = self._stream_time - definition.wait_ms
        for place, waiting in self._buffer.oldest():
            if waiting.time > expiry and not self._is_full():
                break
            if waiting.time > expiry and not definition.emits_when_full:
                raise StreamsError(
                    f"{self._context.node} buffer exceeded its max capacity. Currently [{self._buffer.record_count}/"
                    f"{definition.records_max}] records and [{self._buffer.bytes_held}/{definition.bytes_max}] bytes."
                )
            if waiting.change.new is not None or not definition.until_close:
                self.forward(waiting.key, waiting.change, waiting.timestamp, waiting.headers)
            self._buffer.remove(place)

    def _is_full(self) -> bool:
        buffer, definition = self._buffer, self._definition
        too_many = definition.records_max is not None and buffer.record_count > definition.records_max
        return too_many or (definition.bytes_max is not None and buffer.bytes_held > definition.bytes_max)
