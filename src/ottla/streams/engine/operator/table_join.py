"""Joins with tables: of a stream with a table (global ones too), and of two tables by their keys."""

from collections.abc import Callable
from enum import Enum
from typing import Any

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.operator.table import Getter, TableDefinition, View
from ottla.streams.engine.store.buffer import Waiting
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.record import Change, Headers

Joiner = Callable[[Any, Any, Any], Any]


class StreamTableJoin(Operator):
    """Joins each record of a stream with the table's row as it is now, or as it was then if the table is versioned.

    With a grace period the records wait, by stream time, for the versioned table to be complete.
    """

    def __init__(
        self, view: View, joiner: Joiner, key_mapper: Callable[[Any, Any], Any] | None = None, *, left: bool
    ) -> None:
        self._view = view
        self._joiner = joiner
        self._key_mapper = key_mapper
        self._left = left
        self._buffer: Any = None
        self._stream_time = -1
        self.buffer_spec: StoreSpec | None = None
        self.grace_ms = 0

    def open(self, context: OperatorContext) -> None:
        """Finds the table."""
        self._context = context
        self._getter = self._view.open(context)
        if self.buffer_spec is not None:
            self._buffer = context.store(self.buffer_spec.name)

    def times(self) -> tuple[int, ...]:
        """Stream time."""
        return (self._stream_time,)

    def set_times(self, times: tuple[int, ...]) -> None:
        self._stream_time = times[0]

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """An inner join leaves out records without a key, a left join only those without a value.

        Only records that wait move the time that ends the waiting.
        """
        table_key = key if self._key_mapper is None else self._key_mapper(key, value)
        if value is None or (table_key is None and not self._left):
            self._context.drop()
            return
        if self._buffer is None or key is None or timestamp < self._stream_time - self.grace_ms:
            self._join(key, table_key, (value, timestamp, headers))
            return
        self._stream_time = max(self._stream_time, timestamp)
        self._buffer.put(timestamp, Waiting(timestamp, key, Change(value), timestamp, headers))
        for place, waiting in self._buffer.oldest():
            if waiting.time > self._stream_time - self.grace_ms:
                break
            self._join(waiting.key, waiting.key, (waiting.change.new, waiting.timestamp, waiting.headers))
            self._buffer.remove(place)

    def _join(self, key: Any, table_key: Any, record: tuple[Any, int, Headers]) -> None:
        value, timestamp, headers = record
        if table_key is None:
            found = None
        elif self._getter.versioned:
            found = self._getter.get_as_of(table_key, timestamp)
        else:
            found = self._getter.get(table_key)
        if found is not None or self._left:
            row = None if found is None else found[0]
            self.forward(key, self._joiner(key, value, row), timestamp, headers)


class Side(Enum):
    """Which rows of a side must be there for a result: of an inner join both, and so on."""

    INNER = "inner"
    LEFT = "the left side of a left join"
    RIGHT = "the right side of a left join"
    OUTER = "outer"


class TableJoinHalf(Operator):
    """One half of a table–table join: an update of this side meets the other side's row."""

    def __init__(self, definition: TableDefinition, other: View, joiner: Callable[[Any, Any], Any], side: Side) -> None:
        self._definition = definition
        self._view = other
        self._joiner = joiner
        self._side = side

    def open(self, context: OperatorContext) -> None:
        """Finds the other table."""
        self._context = context
        self._getter = self._view.open(context)
        self._send_old = self._definition.send_old

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """The result's time is the later of the two rows'."""
        if key is None:
            self._context.drop()
            return
        new, old, latest = value
        if self._definition.versioned_semantics and not latest:
            self._context.drop()
            return
        found = self._getter.get(key)
        row = None if found is None else found[0]
        if found is None:
            if self._side in (Side.INNER, Side.RIGHT) or (new is None and old is None):
                return
        else:
            timestamp = max(timestamp, found[1])
        joined_old = self._joined(old, row) if self._send_old else None
        self.forward(key, Change(self._joined(new, row), joined_old, latest), timestamp, headers)

    def _joined(self, value: Any, row: Any) -> Any:
        if self._side in (Side.INNER, Side.LEFT):
            return None if value is None else self._joiner(value, row)
        return None if value is None and row is None else self._joiner(value, row)


class JoinedGetter:
    """Looks into a join that has no store: joins the two rows when it is asked."""

    versioned = False

    def __init__(self, left: Getter, right: Getter, joiner: Callable[[Any, Any], Any], side: Side) -> None:
        self._left = left
        self._right = right
        self._joiner = joiner
        self._side = side

    def get(self, key: Any) -> tuple[Any, int] | None:
        """The joined row and the later of the two times."""
        left, right = self._left.get(key), self._right.get(key)
        if left is None and (right is None or self._side is not Side.OUTER):
            return None
        if right is None and self._side is Side.INNER:
            return None
        times = [found[1] for found in (left, right) if found is not None]
        return self._joiner(left and left[0], right and right[0]), max(times)

    def get_as_of(self, key: Any, timestamp: int) -> tuple[Any, int] | None:
        """A join has no versions."""
        return self.get(key)


def joined_view(left: View, right: View, joiner: Callable[[Any, Any], Any], side: Side) -> View:
    """The view of a join that has no store."""

    def open_getter(context: OperatorContext) -> Getter:
        return JoinedGetter(left.open(context), right.open(context), joiner, side)

    return View(tuple(dict.fromkeys(left.stores + right.stores)), open_getter)
