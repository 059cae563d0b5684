"""The base of all operators, and the interface to their task.

An operator is a state machine: `process` takes a record and calls `forward` for each output before it returns.
All its state lies in stores and in the few numbers of `times`; it uses neither clock nor threads.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from ottla.streams.record import Headers

Forward: TypeAlias = Callable[[Any, Any, int, Headers], None]
"""Takes key, value, timestamp and headers to the children of a node."""


class OperatorContext(Protocol):
    """The services that a task offers to an operator."""

    @property
    def node(self) -> str:
        """The node's name."""
        ...

    def store(self, name: str) -> Any:
        """An open store."""
        ...

    def drop(self) -> None:
        """Counts a record that is left out: a null key, or too late."""
        ...

    def partition(self) -> int:
        """The partition of the record that is being processed."""
        ...

    def topic(self) -> str:
        """The topic of the record that is being processed; none in a punctuation."""
        ...

    def encode_key(self, serde: Any, key: Any) -> bytes | None:
        """Encodes a key that is not written to a topic."""
        ...

    def encode_value(self, serde: Any, value: Any) -> bytes | None:
        """Encodes a value that is not written to a topic."""
        ...


class Operator:
    """A node's behaviour in one task."""

    forward: Forward

    def open(self, context: OperatorContext) -> None:
        """Called once, before the first record, with all stores open."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Processes a record; forwards it unchanged unless a subclass overrides this."""
        self.forward(key, value, timestamp, headers)

    def close(self) -> None:
        """Called once, after the last record."""

    def times(self) -> tuple[int, ...]:
        """The numbers that a task must store together with its stores: mostly stream time."""
        return ()

    def set_times(self, times: tuple[int, ...]) -> None:
        """Restores the numbers that `times` returned when the stores were last written."""


Definition: TypeAlias = Callable[[], Operator]
"""Makes a node's operator, once per task."""
