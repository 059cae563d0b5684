"""A producer of `ottla.client` with the calls of confluent-kafka's that the writers of topics make."""

import contextlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError

from ottla.base.errors import OttlaError
from ottla.client import Producer, RecordMetadata

_SETTINGS: Final = {
    "delivery.timeout.ms": 240_000,
    "request.timeout.ms": 10_000,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.max.ms": 200,
}
Delivered = Callable[[KafkaError | None, Any], None]


class Message(NamedTuple):
    """A record that was acknowledged."""

    of_partition: int
    at_offset: int
    of_value: bytes

    def partition(self) -> int:
        """Its partition."""
        return self.of_partition

    def offset(self) -> int | None:
        """Its offset; None where the broker knew the record from an attempt before, and not where."""
        return self.at_offset if self.at_offset >= 0 else None

    def value(self) -> bytes:
        """Its value."""
        return self.of_value


class OwnProducer:
    """Idempotent."""

    def __init__(self, bootstrap: str) -> None:
        self._producer: Final = Producer(_SETTINGS, bootstrap_servers=bootstrap)
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def produce(self, topic: str, value: bytes, key: bytes, on_delivery: Delivered) -> None:
        """Puts a record into its batch."""

        def delivered(metadata: RecordMetadata | None, error: Exception | None) -> None:
            self._waiting -= 1
            if metadata is None:
                on_delivery(KafkaError(KafkaError._FAIL, str(error)), None)
            else:
                on_delivery(None, Message(metadata.partition, metadata.offset, value))

        self._waiting += 1
        self._producer.send(topic, value, key, on_delivery=delivered)

    def poll(self, _timeout: float) -> int:
        """Nothing to do: callbacks come by themselves."""
        return 0

    def flush(self, timeout: float) -> int:
        """How many records are left after so many seconds."""
        with contextlib.suppress(OttlaError):
            self._producer.flush(timeout)
        return self._waiting
