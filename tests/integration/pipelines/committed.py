"""Reads what a reader of `read_committed` sees, with a client that is not ours."""

import time

import confluent_kafka

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.record import TopicPartition


def wait_for_markers(admin: Admin, topic: str, *, timeout_s: float = 60) -> None:
    """Until no transaction is open: a commit is answered before its markers are in all partitions."""
    [description] = admin.describe_topics([topic]).values()
    asked = {TopicPartition(topic, part.partition): OffsetSpec.LATEST for part in description.partitions}
    deadline = time.monotonic() + timeout_s
    while True:
        ends = admin.list_offsets(asked)
        stable = admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED)
        if all(ends[place].offset == stable[place].offset for place in asked):
            return
        assert time.monotonic() < deadline, f"{topic} has an open transaction after {timeout_s} s"
        time.sleep(0.05)


def committed_values(bootstrap: str, topic: str, *, timeout_s: float = 60) -> list[bytes | None]:
    """The values of all committed records, up to the first transaction that is open."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "committed", "enable.partition.eof": True,
         "enable.auto.commit": False, "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    )  # fmt: skip
    found: list[bytes | None] = []
    try:
        numbers = consumer.list_topics(topic, timeout=timeout_s).topics[topic].partitions
        consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in numbers])
        at_end: set[int] = set()
        deadline = time.monotonic() + timeout_s
        while len(at_end) < len(numbers):
            message = consumer.poll(1)
            assert time.monotonic() < deadline, f"{topic} is not read within {timeout_s} s"
            if message is None:
                continue
            error = message.error()
            if error is None:
                at_end.discard(message.partition())
                found.append(message.value())
            elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                at_end.add(message.partition())
    finally:
        consumer.close()
    return found
