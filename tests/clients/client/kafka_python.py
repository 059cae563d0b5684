"""kafka-python: the classic client in plain Python."""

import importlib.metadata
from collections.abc import Iterable

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from tests.clients.record import Record

NAME = f"kafka-python {importlib.metadata.version('kafka-python')}"


def can_write(record: Record) -> bool:
    """This client refuses headers without a value."""
    return all(value is not None for _, value in record.headers)


def write(
    bootstrap: str, topic: str, records: Iterable[Record], *, codec: str = "none", **settings: object
) -> list[int]:
    """Writes records into partition 0; their offsets."""
    compression = None if codec == "none" else codec
    client = KafkaProducer(bootstrap_servers=bootstrap, compression_type=compression, linger_ms=5, **settings)
    try:
        futures = [
            client.send(
                topic,
                record.value,
                record.key,
                partition=0,
                timestamp_ms=record.timestamp_ms,
                headers=list(record.headers),
            )
            for record in records
        ]
        client.flush(60)
        return [future.get(60).offset for future in futures]
    finally:
        client.close(timeout=10)


def member(bootstrap: str, group: str, topic: str, **settings: object) -> KafkaConsumer:
    """A member of a group that knows the topic's partitions before it joins.

    A leader that does not know them yet assigns nothing to anybody, and may never look again.
    """
    client = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, **settings)
    assert client.partitions_for_topic(topic)
    client.subscribe([topic])
    return client


def read(bootstrap: str, topic: str, count: int, **settings: object) -> list[Record]:
    """The first `count` records of partition 0."""
    client = KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=30_000, **settings)
    try:
        partition = TopicPartition(topic, 0)
        client.assign([partition])
        client.seek_to_beginning(partition)
        found: list[Record] = []
        for message in client:
            found.append(Record(message.key, message.value, tuple(message.headers), message.timestamp))
            if len(found) == count:
                break
        return found
    finally:
        client.close()
