"""Errors that only consumers raise; the others are in `ottla.client.errors`."""

from ottla.client.errors import ClientError, InvalidStateError, SerializationError
from ottla.client.record import TopicPartition


class RecordDeserializationError(SerializationError):
    """A deserializer raised, which is the `__cause__`; the position stays in front of the record."""

    def __init__(self, topic: str, partition: int, offset: int) -> None:
        super().__init__(
            f"the record at offset {offset} of {topic}-{partition} can't be deserialized: "
            f"correct the deserializer, or seek() to {offset + 1} to leave the record out"
        )
        self.partition = TopicPartition(topic, partition)
        self.offset = offset


class FetchBrokenError(ClientError):
    """Fetching met with something unforeseen, which is the `__cause__`; it goes on with the next poll."""


class ConcurrentModificationError(InvalidStateError):
    """Two threads or tasks used one consumer at the same time; only `wakeup()` may be called from elsewhere."""

    def __init__(self, owner: str) -> None:
        super().__init__(f"the consumer is being used by {owner}: give each thread or task a consumer of its own")


class RecordsLostError(ClientError):
    """Records of a range that was to be read are gone: deleted, cut off, or with their topic."""
