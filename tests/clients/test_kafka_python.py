"""kafka-python: producer, consumer with assigned partitions, admin client, errors as it shows them."""

from collections.abc import Iterator

import kafka.errors
import pytest
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from tests.clients.client import kafka_python
from tests.clients.patience import until
from tests.clients.record import Record
from tests.kafka.server import Server

pytestmark = pytest.mark.client(kafka_python.NAME)


@pytest.fixture
def admin(server: Server) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(bootstrap_servers=server.bootstrap)
    yield client
    client.close()


@pytest.fixture
def consumer(server: Server) -> Iterator[KafkaConsumer]:
    client = KafkaConsumer(bootstrap_servers=server.bootstrap, consumer_timeout_ms=20_000)
    yield client
    client.close()


def fill(server: Server, topic: str, count: int = 50) -> None:
    kafka_python.write(
        server.bootstrap,
        topic,
        [Record(b"%d" % number, b"v%d" % number, (), 1_000 * (number + 1)) for number in range(count)],
    )


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_acknowledgements(server: Server, topic: str, acks: int | str) -> None:
    """produce with acks 0, 1 and all"""
    records = [Record(None, b"%d" % number, (), number + 1) for number in range(1_000)]
    # A record that is acknowledged shows that the leader serves: until then acks=0 may lose some, with Kafka too.
    kafka_python.write(server.bootstrap, topic, records[:1], acks=1, enable_idempotence=False)
    kafka_python.write(server.bootstrap, topic, records[1:], acks=acks, enable_idempotence=False)
    assert kafka_python.read(server.bootstrap, topic, len(records)) == records


def test_idempotent_producer(server: Server, topic: str) -> None:
    """idempotent producer: offsets without gaps"""
    records = [Record(b"%d" % number, b"%d" % number, (), number + 1) for number in range(2_000)]
    offsets = kafka_python.write(server.bootstrap, topic, records, enable_idempotence=True)
    assert offsets == list(range(len(records)))


def test_too_large_message(server: Server, admin: KafkaAdminClient, topic: str) -> None:
    """a message above the topic's limit is refused"""
    admin.create_topics([NewTopic(topic, 1, 1, topic_configs={"max.message.bytes": "500"})])
    with pytest.raises(kafka.errors.MessageSizeTooLargeError):
        kafka_python.write(server.bootstrap, topic, [Record(b"k", bytes(1_000), (), 1)])


def test_offsets(server: Server, consumer: KafkaConsumer, topic: str) -> None:
    """beginning_offsets, end_offsets, offsets_for_times, seek, position"""
    fill(server, topic)
    partition = TopicPartition(topic, 0)
    assert consumer.beginning_offsets([partition]) == {partition: 0}
    assert consumer.end_offsets([partition]) == {partition: 50}
    assert consumer.offsets_for_times({partition: 10_500})[partition].offset == 10
    consumer.assign([partition])
    consumer.seek(partition, 42)
    assert (next(consumer).offset, consumer.position(partition)) == (42, 43)


def test_offset_out_of_range(server: Server, topic: str) -> None:
    """an offset out of range is an error where nothing says how to reset"""
    fill(server, topic)
    client = KafkaConsumer(bootstrap_servers=server.bootstrap, auto_offset_reset="none")
    partition = TopicPartition(topic, 0)
    client.assign([partition])
    client.seek(partition, 5_000)
    with pytest.raises(kafka.errors.OffsetOutOfRangeError):
        client.poll(20_000)
    client.close()


def test_metadata(server: Server, consumer: KafkaConsumer, topic: str) -> None:
    """topics and partitions of the cluster"""
    fill(server, topic, 1)
    assert topic in consumer.topics()
    assert consumer.partitions_for_topic(topic) == {0, 1}


def test_bootstrap_and_versions(server: Server) -> None:
    """the newest broker version that the client knows is recognised"""
    client = KafkaProducer(bootstrap_servers=server.bootstrap)
    assert client.config["api_version"] >= (4, 0)
    client.close()


def test_topics(admin: KafkaAdminClient, topic: str) -> None:
    """admin: create, list, describe, add partitions, delete topics"""
    admin.create_topics([NewTopic(topic, 2, 1)])
    until(True, lambda: topic in admin.list_topics())
    admin.create_partitions({topic: NewPartitions(5)})
    until(5, lambda: len(admin.describe_topics([topic])[0]["partitions"]))
    with pytest.raises(kafka.errors.TopicAlreadyExistsError):
        admin.create_topics([NewTopic(topic, 2, 1)])
    admin.delete_topics([topic])
    until(False, lambda: topic in admin.list_topics())
    with pytest.raises(kafka.errors.UnknownTopicOrPartitionError):
        admin.delete_topics([topic])


def test_configs(admin: KafkaAdminClient, topic: str) -> None:
    """admin: describe and alter configs of a topic"""
    admin.create_topics([NewTopic(topic, 1, 1)])
    until(True, lambda: topic in admin.list_topics())
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs={"retention.ms": "4321"})])

    def retention() -> object:
        found = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        return found["topic"][topic]["retention.ms"]["value"]

    until("4321", retention)


def test_delete_records(server: Server, admin: KafkaAdminClient, consumer: KafkaConsumer, topic: str) -> None:
    """admin: delete_records moves the beginning"""
    fill(server, topic)
    partition = TopicPartition(topic, 0)
    admin.delete_records({partition: 20})
    assert consumer.beginning_offsets([partition]) == {partition: 20}


def test_cluster(server: Server, admin: KafkaAdminClient) -> None:
    """admin: describe_cluster, describe_log_dirs"""
    cluster = admin.describe_cluster()
    assert [(node["broker_id"], node["host"], node["port"]) for node in cluster["brokers"]] == [(1, *server.address)]
    assert str(server.log_directory) in str(admin.describe_log_dirs())
