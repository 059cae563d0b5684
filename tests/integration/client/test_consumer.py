"""The blocking consumer without a group's help: reading, moving, pausing, asking, on a real server."""

import threading
import time

import pytest
from confluent_kafka import Producer

from ottla.client.consumer.consumer import Consumer
from ottla.client.consumer.errors import ConcurrentModificationError, RecordDeserializationError
from ottla.client.consumer.fetch.arrow_columns import COLUMNS
from ottla.client.consumer.fetch.record import Record
from ottla.client.errors import (
    ClosedError,
    InvalidStateError,
    NoBrokersAvailableError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    WakeupError,
)
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.errors import InvalidTopicError
from ottla.protocol.records.timestamp import TimestampType
from tests.clients.patience import until
from tests.clients.topic import create
from tests.kafka.port import free_port
from tests.kafka.server import Server

PATIENCE_S = 30.0


def fill(server: Server, topic: str, values: list[bytes], partition: int = 0, **settings: object) -> None:
    """Writes values, in order, at times 1000, 1001, …"""
    producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": True, **settings})
    for number, value in enumerate(values):
        producer.produce(topic, value, key=b"key", partition=partition, timestamp=1000 + number, headers=[("n", b"1")])
    assert producer.flush(PATIENCE_S) == 0


def read(consumer: Consumer, count: int) -> list[Record]:
    """Polls until that many records came."""
    found: list[Record] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        found += consumer.poll(0.5)
    return found


def offsets(records: list[Record]) -> list[int]:
    return [record.offset for record in records]


@pytest.fixture
def filled(server: Server, topic: str) -> TopicPartition:
    """A partition with 100 records."""
    create(server, topic, 2, message_timestamp_type="CreateTime")
    fill(server, topic, [b"value-%d" % number for number in range(100)])
    return TopicPartition(topic, 0)


def test_all_that_a_record_says(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([filled])
        first = read(consumer, 100)[0]
    assert (first.topic, first.partition, first.offset) == (*filled, 0)
    assert (first.key, first.value, first.headers) == (b"key", b"value-0", (("n", b"1"),))
    assert (first.timestamp, first.timestamp_type) == (1000, TimestampType.CREATE_TIME)
    assert first.leader_epoch == 0


def test_polls_are_bounded_and_in_order(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer({"bootstrap.servers": bootstrap, "auto.offset.reset": "earliest"}, max_poll_records=30) as consumer:
        consumer.assign([filled])
        polls = [consumer.poll(PATIENCE_S) for _ in range(4)]
        assert [len(poll) for poll in polls] == [30, 30, 30, 10]
        assert offsets([record for poll in polls for record in poll]) == list(range(100))
        assert polls[0].by_partition() == {filled: list(polls[0])}
        assert consumer.position(filled) == 100
        assert consumer.current_lag(filled) == 0
        assert consumer.poll(0) == []


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches(server: Server, topic: str, codec: str) -> None:
    create(server, topic)
    fill(server, topic, [b"v" * 100] * 50, **{"compression.type": codec, "linger.ms": 100})
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        assert [record.value for record in read(consumer, 50)] == [b"v" * 100] * 50


def test_the_seek_family(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="latest") as consumer:
        consumer.assign([filled])
        assert consumer.position(filled) == 100
        consumer.seek(filled, 95)
        assert offsets(read(consumer, 5)) == [95, 96, 97, 98, 99]
        consumer.seek_to_beginning([filled])
        assert consumer.position(filled) == 0
        assert offsets(read(consumer, 100)) == list(range(100))
        consumer.seek(filled, OffsetAndMetadata(98, leader_epoch=0))
        assert offsets(read(consumer, 2)) == [98, 99]
        consumer.seek(filled, 10)
        consumer.seek_to_end()
        assert consumer.poll(0.2) == []
        assert consumer.position(filled) == 100
        with pytest.raises(ValueError, match="negative"):
            consumer.seek(filled, -1)


def test_a_seek_drops_what_was_fetched_ahead(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", max_poll_records=10) as consumer:
        consumer.assign([filled])
        assert offsets(consumer.poll(PATIENCE_S)) == list(range(10))
        consumer.seek(filled, 50)
        assert offsets(consumer.poll(PATIENCE_S)) == list(range(50, 60))


def test_offsets_are_looked_up(bootstrap: str, filled: TopicPartition) -> None:
    empty = TopicPartition(filled.topic, 1)
    with Consumer(bootstrap_servers=bootstrap) as consumer:
        assert consumer.beginning_offsets([filled, empty]) == {filled: 0, empty: 0}
        assert consumer.end_offsets([filled, empty]) == {filled: 100, empty: 0}
        found = consumer.offsets_for_times({filled: 1042, empty: 0})
        assert found[filled] is not None
        assert found[filled][:2] == (42, 1042)
        assert found[empty] is None
        assert consumer.offsets_for_times({filled: 5000}) == {filled: None}
        assert sorted(consumer.partitions_for(filled.topic).partitions) == [0, 1]
        assert filled.topic in consumer.list_topics()


def test_paused_partitions_keep_what_was_fetched(server: Server, filled: TopicPartition) -> None:
    other = TopicPartition(filled.topic, 1)
    fill(server, filled.topic, [b"other"] * 10, partition=1)
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest", max_poll_records=5) as consumer:
        consumer.assign([filled, other])
        consumer.poll(PATIENCE_S)
        consumer.pause([filled])
        assert consumer.paused() == {filled}
        position = consumer.position(filled)
        rest = 10 - consumer.position(other)
        assert {record.partition for record in read(consumer, rest)} <= {1}
        assert consumer.poll(0.2) == []
        consumer.resume([filled])
        assert offsets(read(consumer, 100 - position)) == list(range(position, 100))


def test_without_an_offset_and_without_a_reset(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="none") as consumer:
        consumer.assign([filled])
        with pytest.raises(NoOffsetForPartitionError, match=str(filled)):
            consumer.poll(PATIENCE_S)
        consumer.seek(filled, 99)
        assert offsets(read(consumer, 1)) == [99]
        consumer.seek(filled, 1000)
        with pytest.raises(OffsetOutOfRangeError) as raised:
            consumer.poll(PATIENCE_S)
        assert raised.value.positions == {filled: 1000}


def test_out_of_range_is_reset(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([filled])
        consumer.seek(filled, 1000)
        assert offsets(read(consumer, 100)) == list(range(100))


def test_a_start_by_duration(server: Server, topic: str) -> None:
    create(server, topic)
    fill(server, topic, [b"old"] * 3)
    producer = Producer({"bootstrap.servers": server.bootstrap})
    producer.produce(topic, b"new", partition=0)
    producer.flush(PATIENCE_S)
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="by_duration:PT1H") as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        assert [record.value for record in read(consumer, 1)] == [b"new"]


def test_a_topic_that_comes_later(server: Server, topic: str) -> None:
    settings = {"bootstrap.servers": server.bootstrap, "auto.offset.reset": "earliest"}
    with Consumer(settings, allow_auto_create_topics=False) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        assert consumer.poll(0.1) == []
        create(server, topic)
        fill(server, topic, [b"late"])
        assert [record.value for record in read(consumer, 1)] == [b"late"]


def test_a_topic_that_no_broker_can_have_is_told(bootstrap: str, filled: TopicPartition) -> None:
    group = f"told-{filled.topic}"
    with Consumer(bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest") as consumer:
        consumer.subscribe(["no such name", filled.topic])
        with pytest.raises(InvalidTopicError, match="no such name: "):
            read(consumer, 1)
        # The others are still there for whoever goes on.
        assert read(consumer, 1)


def test_values_are_deserialized(server: Server, topic: str) -> None:
    create(server, topic)
    fill(server, topic, [b"1", b"2", b"three", b"4"])
    partition = TopicPartition(topic, 0)
    settings = {"bootstrap.servers": server.bootstrap, "auto.offset.reset": "earliest"}
    with Consumer(settings, value_deserializer=lambda data: int(data), key_deserializer="string") as consumer:
        consumer.assign([partition])
        assert [(record.key, record.value) for record in read(consumer, 2)] == [("key", 1), ("key", 2)]
        for _ in range(2):
            with pytest.raises(RecordDeserializationError, match="offset 2 of") as raised:
                consumer.poll(PATIENCE_S)
            assert (raised.value.partition, raised.value.offset) == (partition, 2)
            assert isinstance(raised.value.__cause__, ValueError)
        consumer.seek(partition, 3)
        assert [record.value for record in read(consumer, 1)] == [4]


def test_iteration(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([filled])
        found = []
        for record in consumer:
            found.append(record.offset)
            if len(found) == 100:
                break
    assert found == list(range(100))


def test_arrow_has_the_same_records(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", max_poll_records=7) as consumer:
        consumer.assign([filled])
        first = consumer.poll(PATIENCE_S)
        assert len(first) == 7
        rows = []
        while len(rows) < 93:
            rows += consumer.poll_arrow(PATIENCE_S).to_pylist()
        assert [row["offset"] for row in rows] == list(range(7, 100))
        assert tuple(rows[0]) == COLUMNS
        assert (rows[0]["topic"], rows[0]["partition"], rows[0]["timestampType"]) == (*filled, 0)
        assert (rows[0]["key"], rows[0]["value"]) == (b"key", b"value-7")
        assert rows[0]["headers"] == [{"key": "n", "value": b"1"}]
        assert rows[0]["timestamp"].timestamp() == 1.007
        consumer.seek_to_beginning()
        assert consumer.poll_arrow(PATIENCE_S, ["value", "partition"]).schema.names == ["value", "partition"]
        assert consumer.poll_arrow(0) is None or consumer.position(filled) == 100


def test_wakeup_ends_a_poll_that_waits(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="latest") as consumer:
        consumer.assign([filled])
        consumer.poll(0.1)
        timer = threading.Timer(0.2, consumer.wakeup)
        timer.start()
        with pytest.raises(WakeupError):
            consumer.poll(PATIENCE_S)
        timer.join()
        assert consumer.poll(0.1) == []


def test_two_threads_are_told_apart(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="latest") as consumer:
        consumer.assign([filled])
        consumer.poll(0.1)
        errors: list[BaseException] = []

        def poll() -> None:
            try:
                consumer.poll(PATIENCE_S)
            except WakeupError as error:
                errors.append(error)

        thread = threading.Thread(target=poll, name="the first")
        thread.start()
        until(True, lambda: consumer._access.is_entered)
        with pytest.raises(ConcurrentModificationError, match="the first"):
            consumer.position(filled)
        consumer.wakeup()
        thread.join()
        assert len(errors) == 1


def test_what_does_not_fit_is_refused(bootstrap: str, filled: TopicPartition) -> None:
    consumer = Consumer(bootstrap_servers=bootstrap)
    with pytest.raises(InvalidStateError, match=r"subscribe\(\) to topics or assign"):
        consumer.poll(0)
    with pytest.raises(InvalidStateError, match=r"set group\.id"):
        consumer.subscribe(["any"])
    with pytest.raises(InvalidStateError, match="not assigned"):
        consumer.seek(filled, 0)
    consumer.assign([filled])
    with pytest.raises(TypeError, match="not by bytes"):
        consumer.assign([TopicPartition(b"orders", 0)])  # type: ignore[arg-type]
    assert consumer.assignment() == {filled}
    with pytest.raises(InvalidStateError, match=r"set group\.id"):
        consumer.commit()
    consumer.close()
    consumer.close()
    with pytest.raises(ClosedError):
        consumer.poll(0)


def test_nobody_there_is_said_with_the_address() -> None:
    address = f"127.0.0.1:{free_port()}"
    with Consumer(bootstrap_servers=address) as consumer:
        consumer.assign([TopicPartition("any", 0)])
        with pytest.raises(NoBrokersAvailableError, match=address):
            consumer.poll(0.1)


def test_metrics_have_kafkas_names(bootstrap: str, filled: TopicPartition) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", client_id="me") as consumer:
        consumer.assign([filled])
        read(consumer, 100)
        named = {
            (name.name, name.group, dict(name.tags).get("partition")): value
            for name, value in consumer.metrics().items()
        }
        tags = {str(tag) for name in consumer.metrics() for tag in name.tags}
    fetching = "consumer-fetch-manager-metrics"
    assert named["records-consumed-total", fetching, None] == 100
    assert named["records-lag", fetching, "0"] == 0
    assert named["records-lead", fetching, "0"] == 100
    assert named["fetch-total", fetching, None] >= 1
    assert "('client-id', 'me')" in tags


def test_the_server_comes_back(lone_server: object, topic: str) -> None:
    server = lone_server()  # type: ignore[operator]
    create(server, topic)
    fill(server, topic, [b"before"])
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        assert [record.value for record in read(consumer, 1)] == [b"before"]
        server.kill()
        assert consumer.poll(0.3) == []
        server.start()
        fill(server, topic, [b"after"])
        assert [record.value for record in read(consumer, 1)] == [b"after"]


def test_a_seek_does_not_wait_for_a_fetch_that_waits_at_the_broker(bootstrap: str, filled: TopicPartition) -> None:
    empty = TopicPartition(filled.topic, 1)
    with Consumer(bootstrap_servers=bootstrap, fetch_max_wait_ms=10 * 60_000, auto_offset_reset="latest") as consumer:
        consumer.assign([empty, filled])
        assert consumer.poll(0.5) == []
        consumer.seek(filled, 90)
        assert offsets(read(consumer, 10)) == list(range(90, 100))
