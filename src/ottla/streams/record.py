"""The values that flow through a topology: records, windowed keys, and the two sides of a table's update."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from ottla.client.record import Header

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
KCo = TypeVar("KCo", covariant=True)
VCo = TypeVar("VCo", covariant=True)

Headers: TypeAlias = Sequence[Header]


@dataclass(frozen=True, slots=True)
class Record(Generic[KCo, VCo]):
    """An immutable record; the `with_…` methods return a changed copy.

    >>> Record("a", 1, 5).with_value("x")
    Record(key='a', value='x', timestamp=5, headers=())
    """

    key: KCo
    value: VCo
    timestamp: int
    headers: Headers = ()

    def with_key(self, key: T) -> "Record[T, VCo]":
        """A copy with another key."""
        return Record(key, self.value, self.timestamp, self.headers)

    def with_value(self, value: T) -> "Record[KCo, T]":
        """A copy with another value."""
        return Record(self.key, value, self.timestamp, self.headers)

    def with_timestamp(self, timestamp: int) -> "Record[KCo, VCo]":
        """A copy with another timestamp."""
        return replace(self, timestamp=timestamp)

    def with_headers(self, headers: Headers) -> "Record[KCo, VCo]":
        """A copy with other headers."""
        return replace(self, headers=headers)


class Window(NamedTuple):
    """The bounds of a window in milliseconds; whether the end belongs to it depends on the kind of window."""

    start: int
    end: int


class Windowed(NamedTuple, Generic[K]):
    """The key of a windowed table: the record's key and its window."""

    key: K
    window: Window

    def __str__(self) -> str:
        return f"[{self.key}@{self.window.start}/{self.window.end}]"


class Change(NamedTuple):
    """An update of a table: the new value, the old one (if an operator needs it), and whether it is the latest.

    Only versioned tables have updates that are older than the latest.
    """

    new: Any
    old: Any = None
    latest: bool = True


class RecordMetadata(NamedTuple):
    """Topic, partition and offset of the record that is being processed."""

    topic: str
    partition: int
    offset: int
