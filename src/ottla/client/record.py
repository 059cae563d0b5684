"""The small values that all clients exchange with their users: where something lies, and what is known about it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ottla.protocol.topic_partition import TopicPartition as TopicPartition

Header: TypeAlias = tuple[str, bytes | None]
"""A record's header: its name, which may occur more than once, and its value."""

Headers: TypeAlias = Sequence[tuple[str, bytes | str | None]] | Mapping[str, bytes | str | None]
"""Headers as `send` takes them: pairs, or a mapping; text is sent in UTF-8."""


class OffsetAndMetadata(NamedTuple):
    """A committed offset: the next one to be read, what the committer noted, and the epoch of the record before."""

    offset: int
    metadata: str = ""
    leader_epoch: int | None = None


class OffsetAndTimestamp(NamedTuple):
    """The first record at or after a time that was asked for."""

    offset: int
    timestamp_ms: int
    leader_epoch: int | None = None


class RecordMetadata(NamedTuple):
    """The place of a written record; offset -1 if the broker was not asked for it (`acks=0`)."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int = -1
    serialized_key_size: int = -1
    serialized_value_size: int = -1

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition as one value."""
        return TopicPartition(self.topic, self.partition)
