"""confluent-kafka, that is librdkafka: the C client below most of the world's other languages."""

import importlib.metadata
from collections.abc import Iterable
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.clients.record import Record

NAME = f"confluent-kafka {importlib.metadata.version('confluent-kafka')}"


def producer(bootstrap: str, **settings: object) -> Producer:
    """A producer; underscores stand for dots."""
    return Producer(_settings(bootstrap, settings))


def consumer(bootstrap: str, **settings: object) -> Consumer:
    """A consumer that is given its partitions and commits nothing."""
    # The group's name is demanded, and never used.
    defaults = {"group_id": "unused", "enable_auto_commit": False, "auto_offset_reset": "earliest"}
    return Consumer(_settings(bootstrap, defaults | settings))


def _settings(bootstrap: str, settings: dict[str, object]) -> dict[str, Any]:
    return {"bootstrap.servers": bootstrap} | {name.replace("_", "."): value for name, value in settings.items()}


def write(bootstrap: str, topic: str, records: Iterable[Record], **settings: object) -> list[int]:
    """Writes records into partition 0; their offsets."""
    offsets: list[int] = []
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Any) -> None:
        if error is None:
            offsets.append(message.offset())
        else:
            failures.append(error)

    client = producer(bootstrap, **settings)
    for record in records:
        client.produce(
            topic,
            record.value,
            record.key,
            partition=0,
            timestamp=record.timestamp_ms,
            headers=list(record.headers),
            on_delivery=delivered,
        )
        client.poll(0)
    left = client.flush(60)
    if failures:
        raise KafkaException(failures[0])
    assert not left, f"{left} records were not delivered"
    return offsets


def read(bootstrap: str, topic: str, count: int, **settings: object) -> list[Record]:
    """The first `count` records of partition 0."""
    return [_record(message) for message in messages(bootstrap, topic, count, **settings)]


def messages(
    bootstrap: str, topic: str, count: int, *, offset: int = OFFSET_BEGINNING, **settings: object
) -> list[Any]:
    """`count` messages of partition 0 from an offset on, as the client gives them."""
    client = consumer(bootstrap, **settings)
    client.assign([TopicPartition(topic, 0, offset)])
    found: list[Any] = []
    try:
        while len(found) < count:
            batch = client.consume(count - len(found), timeout=30)
            assert batch, f"{len(found)} of {count} records, then nothing for 30 s"
            for message in batch:
                if message.error():
                    raise KafkaException(message.error())
            found.extend(batch)
    finally:
        client.close()
    return found


def _record(message: Any) -> Record:
    return Record(message.key(), message.value(), tuple(message.headers() or ()), message.timestamp()[1])
