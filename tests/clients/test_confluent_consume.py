"""confluent-kafka (librdkafka) as a consumer with partitions assigned by hand: positions, ends, times, limits."""

import pytest
from confluent_kafka import OFFSET_END, KafkaError, TopicPartition

from tests.clients.client import confluent
from tests.clients.record import Record
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client(confluent.NAME)


def fill(server: Server, topic: str, count: int = 100) -> list[Record]:
    """A topic with records one second apart."""
    create(server, topic)
    records = [Record(b"%d" % number, b"value %d" % number, (), 1_000 * (number + 1)) for number in range(count)]
    confluent.write(server.bootstrap, topic, records)
    return records


def test_watermarks(server: Server, topic: str) -> None:
    """get_watermark_offsets tells where a partition begins and ends"""
    fill(server, topic)
    client = confluent.consumer(server.bootstrap)
    assert client.get_watermark_offsets(TopicPartition(topic, 0), timeout=30) == (0, 100)
    client.close()


def test_offsets_for_times(server: Server, topic: str) -> None:
    """offsets_for_times finds the first record at or after a time, and the end beyond the last"""
    fill(server, topic)
    client = confluent.consumer(server.bootstrap)
    asked = [TopicPartition(topic, 0, 42_500)]
    assert [found.offset for found in client.offsets_for_times(asked, timeout=30)] == [42]
    beyond = client.offsets_for_times([TopicPartition(topic, 0, 1_000_000)], timeout=30)
    assert [found.offset for found in beyond] == [OFFSET_END]
    client.close()


def test_seek(server: Server, topic: str) -> None:
    """seek moves a running consumer back and forth"""
    fill(server, topic)
    client = confluent.consumer(server.bootstrap)
    client.assign([TopicPartition(topic, 0, 90)])
    assert client.poll(30).offset() == 90
    for offset in (10, 99, 0):
        client.seek(TopicPartition(topic, 0, offset))
        message = client.poll(30)
        assert (message.offset(), message.value()) == (offset, b"value %d" % offset)
    client.close()


def test_end_of_partition(server: Server, topic: str) -> None:
    """the end of a partition is reported, and records that come later still arrive"""
    fill(server, topic, 3)
    client = confluent.consumer(server.bootstrap, enable_partition_eof=True)
    client.assign([TopicPartition(topic, 0, OFFSET_END)])
    assert client.poll(30).error().code() == KafkaError._PARTITION_EOF
    confluent.write(server.bootstrap, topic, [Record(b"late", b"record", (), 5)])
    assert client.poll(30).value() == b"record"
    client.close()


def test_offset_out_of_range(server: Server, topic: str) -> None:
    """an offset beyond the end resets as auto.offset.reset says, or is an error"""
    fill(server, topic)
    [message] = confluent.messages(server.bootstrap, topic, 1, offset=5_000)
    assert message.offset() == 0
    client = confluent.consumer(server.bootstrap, auto_offset_reset="error")
    client.assign([TopicPartition(topic, 0, 5_000)])
    assert client.poll(30).error().code() == KafkaError._AUTO_OFFSET_RESET
    client.close()


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_small_fetches(server: Server, topic: str, isolation: str) -> None:
    """fetch limits smaller than a batch still make progress, in both isolation levels"""
    records = fill(server, topic)
    settings = {"fetch_message_max_bytes": 64, "fetch_max_bytes": 1_000_000, "isolation_level": isolation}
    assert confluent.read(server.bootstrap, topic, len(records), **settings) == records


def test_long_poll(server: Server, topic: str) -> None:
    """a consumer that waits gets a new record at once, not at the end of its wait"""
    fill(server, topic, 1)
    client = confluent.consumer(server.bootstrap, fetch_wait_max_ms=20_000, enable_partition_eof=True)
    client.assign([TopicPartition(topic, 0, 1)])
    # The end of the partition is known once a fetch was parked and answered.
    client.poll(1)
    confluent.write(server.bootstrap, topic, [Record(b"k", b"v", (), 5)])
    message = client.poll(15)
    while message is not None and message.error():
        message = client.poll(15)
    assert message is not None, "the record waited for the end of the long poll"
    assert message.value() == b"v"
    client.close()


def test_two_consumers_and_many_topics(server: Server, topic: str) -> None:
    """one consumer reads ten topics in one fetch session while another reads the same"""
    topics = [f"{topic}-{number}" for number in range(10)]
    for name in topics:
        create(server, name)
        confluent.write(server.bootstrap, name, [Record(None, name.encode(), (), 1)] * 10)
    readers = [confluent.consumer(server.bootstrap) for _ in range(2)]
    for reader in readers:
        reader.assign([TopicPartition(name, 0, 0) for name in topics])
    for reader in readers:
        found: list[bytes] = []
        while len(found) < 100:
            batch = reader.consume(100 - len(found), timeout=30)
            assert batch
            found += [message.value() for message in batch]
        assert sorted(found) == sorted(name.encode() for name in topics for _ in range(10))
        reader.close()
