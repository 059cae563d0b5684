"""Topics for tests: made with confluent-kafka, and waited for.

A created topic is not yet served by its leaders when the answer comes, on Apache Kafka too: a produce may be answered
with NOT_LEADER_OR_FOLLOWER, and a producer that is not idempotent may then swap records by its retry.
"""

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from tests.clients.patience import until
from tests.kafka.server import Server


def create(server: Server, topic: str, partitions: int = 1, **config: str) -> None:
    """Creates a topic; underscores in the names of settings stand for dots."""
    settings = {name.replace("_", "."): value for name, value in config.items()}
    client = AdminClient({"bootstrap.servers": server.bootstrap})
    create_with(client, NewTopic(topic, partitions, 1, config=settings))


def create_with(client: AdminClient, wanted: NewTopic) -> None:
    """Creates a topic and waits until its leaders serve."""
    client.create_topics([wanted])[wanted.topic].result(30)
    until(wanted.num_partitions, lambda: _led_partitions(client, wanted.topic))
    until(wanted.num_partitions, lambda: _serving_partitions(client, wanted))


def _led_partitions(client: AdminClient, topic: str) -> int:
    # Of all topics: to ask for one that is not there would create it.
    described = client.list_topics(timeout=30).topics.get(topic)
    if described is None or described.error is not None:
        return 0
    return sum(partition.leader >= 0 and partition.error is None for partition in described.partitions.values())


def _serving_partitions(client: AdminClient, wanted: NewTopic) -> int:
    asked = {TopicPartition(wanted.topic, index): OffsetSpec.latest() for index in range(wanted.num_partitions)}
    return sum(future.exception(30) is None for future in client.list_offsets(asked).values())
