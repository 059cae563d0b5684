"""What can go wrong in a topology, from its construction to a record that a function refuses.

Each error says which node, store or topic it concerns. Errors of users' functions arrive as the cause of a
`ProcessingError`.
"""

from typing import TypeVar

from ottla.base.errors import OttlaError

T = TypeVar("T")


class StreamsError(OttlaError):
    """The root of this package's errors."""


class TopologyError(StreamsError):
    """The topology contradicts itself: a name used twice, a parent or a store that does not exist."""

    def __str__(self) -> str:
        return f"Invalid topology: {super().__str__()}"


class ProcessingError(StreamsError):
    """A node failed on a record; the cause is what its function raised."""


class RecordDecodeError(StreamsError):
    """A source could not decode a record."""


class RecordEncodeError(StreamsError):
    """A sink or store could not encode a value."""


def required(given: T | None, complaint: str) -> T:
    """What a caller must give; `TypeError` in Kafka Streams' words where it is None, when the step is made."""
    if given is None:
        raise TypeError(complaint)
    return given
