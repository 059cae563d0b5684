"""confluent-kafka (librdkafka) as a producer: acknowledgements, idempotence, limits, and errors as it shows them."""

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from tests.clients.client import confluent
from tests.clients.record import CODECS, Record
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client(confluent.NAME)
MEGABYTE = 1 << 20


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acknowledgements(server: Server, topic: str, acks: str) -> None:
    """produce with acks 0, 1 and all: every record arrives, in order"""
    create(server, topic)
    # A record that is acknowledged shows that the leader serves: until then acks=0 may lose some, with Kafka too.
    records = [Record(None, b"%d" % number, (), number + 1) for number in range(5_000)]
    confluent.write(server.bootstrap, topic, records[:1], acks="1")
    confluent.write(server.bootstrap, topic, records[1:], acks=acks, linger_ms=1)
    assert confluent.read(server.bootstrap, topic, len(records)) == records


@pytest.mark.parametrize("codec", CODECS)
def test_idempotent_producer(server: Server, topic: str, codec: str) -> None:
    """idempotent producer, 20,000 records in many batches: offsets without gaps, no doubles"""
    create(server, topic)
    records = [Record(b"%d" % number, b"%d" % number * 20, (), number + 1) for number in range(20_000)]
    offsets = confluent.write(
        server.bootstrap, topic, records, enable_idempotence=True, compression_codec=codec, batch_num_messages=500
    )
    assert offsets == list(range(len(records)))
    assert confluent.read(server.bootstrap, topic, len(records)) == records


def test_large_messages(server: Server, topic: str) -> None:
    """messages of 5 MB where the topic allows them"""
    create(server, topic, max_message_bytes=str(10 * MEGABYTE))
    records = [Record(b"%d" % number, bytes([number]) * 5 * MEGABYTE, (), number + 1) for number in range(3)]
    confluent.write(server.bootstrap, topic, records, message_max_bytes=10 * MEGABYTE)
    assert confluent.read(server.bootstrap, topic, len(records)) == records


def test_too_large_messages(server: Server, topic: str) -> None:
    """a message above the topic's limit is refused with MSG_SIZE_TOO_LARGE"""
    create(server, topic, max_message_bytes="1000")
    with pytest.raises(KafkaException) as refused:
        confluent.write(server.bootstrap, topic, [Record(None, bytes(2_000))])
    assert refused.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE


def test_auto_creation(server: Server, topic: str) -> None:
    """producing to a topic that does not exist creates it with the default number of partitions"""
    confluent.write(server.bootstrap, topic, [Record(b"k", b"v", (), 1)])
    described = AdminClient({"bootstrap.servers": server.bootstrap}).list_topics(topic, timeout=30).topics[topic]
    assert sorted(described.partitions) == [0, 1]
    assert described.error is None


def test_unknown_partition(server: Server, topic: str) -> None:
    """producing to a partition that does not exist fails with UNKNOWN_PARTITION"""
    create(server, topic)
    failures: list[KafkaError] = []
    client = confluent.producer(server.bootstrap)
    client.produce(topic, b"v", partition=7, on_delivery=lambda error, _: failures.append(error))
    client.flush(30)
    assert [error.code() for error in failures] == [KafkaError._UNKNOWN_PARTITION]


def test_invalid_topic_name(server: Server) -> None:
    """producing to a topic with an impossible name fails with TOPIC_EXCEPTION"""
    failures: list[KafkaError] = []
    client = confluent.producer(server.bootstrap, message_timeout_ms=10_000)
    client.produce("not/a/topic", b"v", on_delivery=lambda error, _: failures.append(error))
    client.flush(30)
    assert [error.code() for error in failures] == [KafkaError.TOPIC_EXCEPTION]


def test_missing_key_on_a_compacted_topic(server: Server, topic: str) -> None:
    """a record without a key is refused by a compacted topic with INVALID_RECORD"""
    create(server, topic, cleanup_policy="compact")
    with pytest.raises(KafkaException) as refused:
        confluent.write(server.bootstrap, topic, [Record(None, b"v")])
    assert refused.value.args[0].code() == KafkaError.INVALID_RECORD


def test_time_of_arrival(server: Server, topic: str) -> None:
    """message.timestamp.type=LogAppendTime replaces the producer's timestamps"""
    create(server, topic, message_timestamp_type="LogAppendTime")
    confluent.write(server.bootstrap, topic, [Record(b"k", b"v", (), 1)])
    [message] = confluent.messages(server.bootstrap, topic, 1)
    kind, timestamp_ms = message.timestamp()
    assert kind == 2
    assert timestamp_ms > 1_600_000_000_000


def test_time_bounds(server: Server, topic: str) -> None:
    """message.timestamp.before.max.ms refuses old records with INVALID_TIMESTAMP"""
    create(server, topic, message_timestamp_before_max_ms="1000")
    with pytest.raises(KafkaException) as refused:
        confluent.write(server.bootstrap, topic, [Record(b"k", b"v", (), 1)])
    assert refused.value.args[0].code() == KafkaError.INVALID_TIMESTAMP


@pytest.mark.parametrize("stored", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
def test_recompression(server: Server, topic: str, stored: str) -> None:
    """compression.type of the topic recompresses what producers send"""
    create(server, topic, compression_type=stored)
    records = [Record(b"%d" % number, b"value" * 50, (("h", b"1"),), number + 1) for number in range(500)]
    codec = "gzip" if stored == "uncompressed" else "none"
    confluent.write(server.bootstrap, topic, records, compression_codec=codec)
    assert confluent.read(server.bootstrap, topic, len(records)) == records


def test_many_partitions(server: Server, topic: str) -> None:
    """keys spread over 20 partitions by the client's hash, all read back"""
    create(server, topic, partitions=20)
    client = confluent.producer(server.bootstrap)
    for number in range(2_000):
        client.produce(topic, b"%d" % number, b"%d" % number)
    assert client.flush(60) == 0
    reader = confluent.consumer(server.bootstrap)
    reader.assign([confluent.TopicPartition(topic, index, confluent.OFFSET_BEGINNING) for index in range(20)])
    found = set()
    while len(found) < 2_000:
        batch = reader.consume(min(500, 2_000 - len(found)), timeout=30)
        assert batch, f"only {len(found)} of 2,000 records"
        found.update(message.value() for message in batch)
    reader.close()
    assert found == {b"%d" % number for number in range(2_000)}
