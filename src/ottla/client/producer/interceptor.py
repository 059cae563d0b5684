"""The user's interceptors: they see, and may change, each record before it is sent, and hear what became of it.

What they raise is logged and counts for nothing, as in Kafka: an observer must not break what it observes.
"""

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from ottla.client.producer.append import OnDelivery
from ottla.client.record import Headers, RecordMetadata

_log = logging.getLogger(__name__)


class ProducerRecord(NamedTuple):
    """A record as the user sent it; `_replace` makes a changed one."""

    topic: str
    value: object = None
    key: object = None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: Headers = ()


class ProducerInterceptor(Protocol):
    """Any object with these methods, or one of them."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """The record to send instead; called in the thread that sends, before serializers and partitioner."""
        ...

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Called when the record was acknowledged or failed, before its own callback, in the producer's loop; for a
        record that is refused at once in the thread that sends."""
        ...


class Interceptors:
    """All interceptors of a producer, in their order."""

    def __init__(self, interceptors: Sequence[object]) -> None:
        self._all: Final = tuple(interceptors)

    def __bool__(self) -> bool:
        return bool(self._all)

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """The record after all of them."""
        for interceptor in self._all:
            call = getattr(interceptor, "on_send", None)
            if call is None:
                continue
            try:
                record = call(record)
            except Exception:  # noqa: BLE001 - the user's code; the next one gets what the last good one gave
                _log.exception("interceptor %r failed in on_send for topic %s", interceptor, record.topic)
        return record

    def acknowledged(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Tells all of them."""
        for interceptor in self._all:
            call = getattr(interceptor, "on_acknowledgement", None)
            if call is None:
                continue
            try:
                call(metadata, error)
            except Exception:  # noqa: BLE001 - the user's code; the others hear all the same
                _log.exception("interceptor %r failed in on_acknowledgement", interceptor)

    def around(self, on_delivery: OnDelivery | None) -> OnDelivery | None:
        """The callback of a record, with the interceptors before it."""
        if not self._all:
            return on_delivery

        def told(metadata: RecordMetadata | None, error: Exception | None) -> None:
            self.acknowledged(metadata, error)
            if on_delivery is not None:
                on_delivery(metadata, error)

        return told

    def close(self) -> None:
        """Tells those that want to know."""
        for interceptor in self._all:
            call = getattr(interceptor, "close", None)
            if call is None:
                continue
            try:
                call()
            except Exception:  # noqa: BLE001 - the user's code; the producer closes all the same
                _log.exception("interceptor %r failed in close", interceptor)
