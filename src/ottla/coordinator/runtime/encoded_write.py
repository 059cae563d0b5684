"""Records that came to a shard decided and encoded, with what they do to its state: the short way of a write.

For writes that come by the ten thousand, whose reader makes the bytes of a record right from those of a request.
"""

from typing import Any, Protocol, TypeVar

from ottla.coordinator.ports import KeyValue

S = TypeVar("S")


class EncodedWrite(Protocol[S]):
    """A write that needs no decision any more. Called with its outcome: None once committed, or the `ApiError`."""

    @property
    def records(self) -> list[KeyValue]:
        """The records to append."""
        ...

    @property
    def size_bytes(self) -> int:
        """The most that the records can take in a batch (`size_bytes_max`)."""
        ...

    def replay(self, state: S, offset: int) -> S:
        """The state after the records, of which the first will be at `offset`."""
        ...

    def __call__(self, outcome: Any, /) -> None:
        """Takes the outcome of the append."""
        ...
