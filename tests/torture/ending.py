"""How a run ended: what is in the partitions when everything is over, and whether everything got over at all."""

import time
from collections.abc import Callable, Iterable, Mapping

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.clients.client import confluent

PATIENCE_SECONDS = 60.0
_QUIET = {"log_level": 0, "socket.timeout.ms": 5_000}


def admin_client(bootstrap: str) -> AdminClient:
    """One that does not complain about a broker that is gone."""
    return AdminClient({"bootstrap.servers": bootstrap} | _QUIET)


def end_transactions(bootstrap: str, transactional_ids: Iterable[str]) -> None:
    """Takes every transactional id over, which aborts what is open."""
    for transactional_id in transactional_ids:
        client = Producer({"bootstrap.servers": bootstrap, "transactional.id": transactional_id} | _QUIET)
        client.init_transactions(PATIENCE_SECONDS)


def undecided(bootstrap: str, topic: str, partitions: int) -> dict[str, int]:
    """Partitions in which a transaction stays open, with their last stable offsets."""
    admin = admin_client(bootstrap)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        ends = _ends(admin, topic, partitions, IsolationLevel.READ_UNCOMMITTED)
        stable = _ends(admin, topic, partitions, IsolationLevel.READ_COMMITTED)
        stuck = {f"{topic}-{index}": stable[index] for index in range(partitions) if stable[index] != ends[index]}
        if not stuck or time.monotonic() > deadline:
            return stuck
        time.sleep(0.1)


def _ends(admin: AdminClient, topic: str, partitions: int, isolation: IsolationLevel) -> list[int]:
    asked = {TopicPartition(topic, index): OffsetSpec.latest() for index in range(partitions)}
    futures = admin.list_offsets(asked, isolation_level=isolation, request_timeout=30)
    found = {partition.partition: int(future.result(30).offset) for partition, future in futures.items()}
    return [found[index] for index in range(partitions)]


def read_all(bootstrap: str, topic: str, partitions: int) -> dict[str, dict[int, str]]:
    """Everything that a read_committed reader finds."""
    client = confluent.consumer(bootstrap, isolation_level="read_committed", enable_partition_eof=True)
    client.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    found: dict[str, dict[int, str]] = {f"{topic}-{index}": {} for index in range(partitions)}
    unread = set(found)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while unread:
        assert time.monotonic() < deadline, f"{unread} could not be read to the end"
        for message in client.consume(10_000, timeout=0.1):
            name = f"{topic}-{message.partition()}"
            if message.error() is None:
                found[name][message.offset()] = message.value().decode()
            elif message.error().code() == KafkaError._PARTITION_EOF:
                unread.discard(name)
    client.close()
    return found


def behind(
    bootstrap: str, groups: Iterable[str], logs: Mapping[str, Mapping[int, str]], tend: Callable[[], None]
) -> dict[tuple[str, str], int]:
    """Groups that get no further, short of the end, with the partition and where they stay.

    Meanwhile `tend` looks after the members, again and again.
    """
    admin = admin_client(bootstrap)
    left: dict[tuple[str, str], int] = {}
    waiting = sorted(groups)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while waiting and time.monotonic() < deadline:
        before = left
        left = {
            (group, partition): committed.get(partition, 0)
            for group in waiting
            for committed in [_committed(admin, group)]
            for partition, log in logs.items()
            if log and committed.get(partition, 0) <= max(log)
        }
        if left != before:
            # Slow is not stuck.
            deadline = time.monotonic() + PATIENCE_SECONDS
        waiting = sorted({group for group, _ in left})
        tend()
        time.sleep(0.2)
    return left


def _committed(admin: AdminClient, group: str) -> dict[str, int]:
    try:
        asked = ConsumerGroupTopicPartitions(group)
        found = admin.list_consumer_group_offsets([asked], require_stable=True)[group].result(30)
    except KafkaException:
        return {}
    return {f"{entry.topic}-{entry.partition}": entry.offset for entry in found.topic_partitions}
