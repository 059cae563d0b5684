"""The producer against a real broker: what it sends is what confluent-kafka reads."""

import asyncio
import itertools
import os
import threading
import uuid
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.errors import ClosedError, ForkedError, KafkaTimeoutError, RecordTooLargeError, SerializationError
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.producer.interceptor import ProducerRecord
from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.client.producer.producer import Producer
from ottla.client.record import RecordMetadata
from ottla.client.serde.json_value import JsonSerde
from ottla.protocol.errors import MessageTooLargeError, UnknownTopicOrPartitionError
from ottla.testing import EmbeddedBroker
from tests.clients.client import confluent
from tests.clients.topic import create
from tests.kafka.server import Server

NOW_MS = 1_794_800_000_000


def read(server: Server, topic: str, partition: int = 0, **settings: object) -> list[Any]:
    """All messages of a partition."""
    client = confluent.consumer(server.bootstrap, **settings)
    place = confluent.TopicPartition(topic, partition, 0)
    try:
        _, end = client.get_watermark_offsets(place, timeout=30)
        client.assign([place])
        found: list[Any] = []
        while len(found) < end:
            batch = client.consume(min(10_000, end - len(found)), timeout=30)
            assert batch, f"{len(found)} of {end} records, then nothing for 30 s"
            found += batch
    finally:
        client.close()
    return found


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_is_read_by_others(server: Server, topic: str, codec: str) -> None:
    create(server, topic)
    values = [b"%06d" % number * 20 for number in range(5_000)]
    with Producer(bootstrap_servers=server.bootstrap, compression_type=codec) as producer:
        futures = [producer.send(topic, value, partition=0) for value in values]
        producer.flush(30)
        assert [future.result(0).offset for future in futures] == list(range(len(values)))
    assert [message.value() for message in read(server, topic)] == values


def test_a_topic_that_is_no_name_does_no_harm(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap) as producer:
        for wrong in (None, topic.encode(), 7):
            with pytest.raises(TypeError, match=f"not by {type(wrong).__name__}"):
                producer.send(wrong, b"x")  # type: ignore[arg-type]
        assert producer.send(topic, b"x", partition=0).result(10).offset == 0


def test_a_header_that_is_no_bytes_is_refused(server: Server, topic: str) -> None:
    create(server, topic)
    with (
        Producer(bootstrap_servers=server.bootstrap) as producer,
        pytest.raises(SerializationError, match=r"the header trace is int, not bytes$"),
    ):
        producer.send(topic, b"x", headers=[("trace", 7)])  # type: ignore[list-item]


def test_every_field_arrives(server: Server, topic: str) -> None:
    create(server, topic)
    headers = [("trace", b"1"), ("trace", None), ("grüß", b"")]
    with Producer({"bootstrap.servers": server.bootstrap}) as producer:
        sent = producer.send(topic, b"v", b"k", partition=0, timestamp_ms=NOW_MS, headers=headers).result(10)
        producer.send(topic, None, "text", partition=0, timestamp_ms=NOW_MS).result(10)
    assert sent == RecordMetadata(topic, 0, 0, NOW_MS, 1, 1)
    first, second = read(server, topic)
    assert (first.key(), first.value(), first.headers(), first.timestamp()[1]) == (b"k", b"v", headers, NOW_MS)
    assert (second.key(), second.value()) == (b"text", None)


def test_keys_go_where_javas_client_puts_them(server: Server, topic: str) -> None:
    create(server, topic, partitions=5)
    keys = [b"key-%d" % number for number in range(200)]
    with Producer(bootstrap_servers=server.bootstrap) as producer:
        futures = [producer.send(topic, b"v", key) for key in keys]
        producer.flush(30)
    assert [future.result(0).partition for future in futures] == [partition_of_key(key, 5) for key in keys]
    assert len({future.result(0).partition for future in futures}) == 5


def test_records_without_key_are_spread_a_batch_at_a_time(server: Server, topic: str) -> None:
    create(server, topic, partitions=3)
    with Producer(bootstrap_servers=server.bootstrap, batch_size=1_000) as producer:
        futures = [producer.send(topic, bytes(90)) for _ in range(1_000)]
        producer.flush(30)
    places = [future.result(0).partition for future in futures]
    assert set(places) == {0, 1, 2}
    changes = sum(before != after for before, after in itertools.pairwise(places))
    assert changes < len(places) / 5


def test_callbacks_come_in_order(server: Server, topic: str) -> None:
    create(server, topic, partitions=2)
    heard: dict[int, list[int]] = {0: [], 1: []}

    def delivered(metadata: RecordMetadata | None, error: Exception | None) -> None:
        assert metadata is not None
        assert error is None
        heard[metadata.partition].append(metadata.offset)

    with Producer(bootstrap_servers=server.bootstrap, batch_size=500) as producer:
        for number in range(2_000):
            producer.send(topic, bytes(50), partition=number % 2, on_delivery=delivered)
    assert heard == {0: list(range(1_000)), 1: list(range(1_000))}


def test_done_callback_after_the_fact_is_called_at_once(server: Server, topic: str) -> None:
    create(server, topic)
    heard: list[int] = []
    with Producer(bootstrap_servers=server.bootstrap) as producer:
        future = producer.send(topic, b"v", partition=0)
        future.result(10)
        future.add_done_callback(lambda done: heard.append(done.result().offset))
    assert heard == [0]


def test_serializers_interceptors_and_partitioner(server: Server, topic: str) -> None:
    create(server, topic, partitions=3)
    seen: list[RecordMetadata | None] = []

    class Stamp:
        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            return record._replace(headers=[*record.headers, ("stamp", b"1")])

        def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
            seen.append(metadata)

    class Broken:
        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            raise RuntimeError("an interceptor's own fault")

    class ByPlan:
        def partition(
            self,
            topic: str,
            key: Any,
            key_bytes: bytes | None,
            value: Any,
            value_bytes: bytes | None,
            view: ClusterView,
        ) -> int:
            return len(view.topics[topic].partitions) - 1 if value["plan"] == "premium" else 0

    with Producer(
        bootstrap_servers=server.bootstrap,
        key_serializer="org.apache.kafka.common.serialization.LongSerializer",
        value_serializer=JsonSerde,
        interceptor_classes=[Stamp(), Broken()],
        partitioner_class=ByPlan(),
    ) as producer:
        premium = producer.send(topic, {"plan": "premium"}, 7).result(10)
        assert producer.send(topic, {"plan": "basic"}, 8).result(10).partition == 0
        with pytest.raises(SerializationError, match="long"):
            producer.send(topic, {"plan": "basic"}, "seven")
    assert premium.partition == 2
    assert [metadata.partition for metadata in seen if metadata] == [2, 0]
    [message] = read(server, topic, 2)
    assert (message.key(), message.value()) == ((7).to_bytes(8, "big"), b'{"plan":"premium"}')
    assert message.headers() == [("stamp", b"1")]


def test_interceptors_hear_of_a_record_that_is_refused_at_once(server: Server, topic: str) -> None:
    create(server, topic)
    heard: list[Exception | None] = []

    class Observer:
        def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
            heard.append(error)

    async def send() -> None:
        async with AsyncProducer(settings) as producer:
            with pytest.raises(RecordTooLargeError):
                await producer.enqueue(topic, bytes(2_000))

    settings = {
        "bootstrap.servers": server.bootstrap,
        "max.request.size": 1_000,
        "interceptor.classes": [Observer()],
    }
    with Producer(settings) as producer:
        with pytest.raises(RecordTooLargeError):
            producer.send(topic, bytes(2_000))
        producer.send(topic, b"fine").result(30)
        counts = {name.name: value for name, value in producer.metrics().items() if name.group == "producer-metrics"}
    asyncio.run(send())
    assert [type(error) for error in heard] == [RecordTooLargeError, type(None), RecordTooLargeError]
    assert counts["record-error-total"] == 1


def test_flush_has_patience_for_so_long(ottla_broker: EmbeddedBroker, topic: str) -> None:
    ottla_broker.create_topic(topic)
    servers = ottla_broker.bootstrap_servers

    async def flush() -> None:
        async with AsyncProducer(bootstrap_servers=servers, client_id=topic) as producer:
            ottla_broker.faults.delay("Produce", seconds=3, client_id=topic)
            await producer.enqueue(topic, b"v")
            with pytest.raises(KafkaTimeoutError):
                await producer.flush(0.1)
            await producer.flush(60)

    asyncio.run(flush())
    with Producer(bootstrap_servers=servers, client_id=topic) as producer:
        ottla_broker.faults.delay("Produce", seconds=3, client_id=topic)
        producer.send(topic, b"v")
        with pytest.raises(KafkaTimeoutError):
            producer.flush(0.1)
        producer.flush(60)


def test_acks_0_knows_no_offsets(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, acks=0) as producer:
        assert producer.send(topic, b"v", partition=0).result(10).offset == -1
        producer.send(topic, b"w", partition=0).result(10)
    assert [message.value() for message in read(server, topic)] == [b"v", b"w"]


def test_batch_too_large_for_the_broker_is_split(server: Server, topic: str) -> None:
    create(server, topic, max_message_bytes="3000")
    heard: list[int] = []
    with Producer(bootstrap_servers=server.bootstrap, linger_ms=50, batch_size=100_000) as producer:
        futures = [
            producer.send(
                topic,
                b"%03d" % number + bytes(400),
                partition=0,
                on_delivery=lambda found, _: heard.append(found.offset),
            )
            for number in range(60)
        ]
        assert futures[-1].result(30).offset == 59
        producer.flush(30)
        with pytest.raises(MessageTooLargeError):
            producer.send(topic, bytes(10_000), partition=0).result(30)
        assert producer.send(topic, b"after", partition=0).result(30).offset == 60
        splits = next(value for name, value in producer.metrics().items() if name.name == "batch-split-total")
    assert heard == list(range(60))
    assert splits >= 1
    found = [message.value() for message in read(server, topic)]
    assert [value[:3] for value in found[:60]] == [b"%03d" % number for number in range(60)]


def test_record_too_large_is_refused_at_once(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, max_request_size=2_000) as producer:
        with pytest.raises(RecordTooLargeError, match=r"max\.request\.size"):
            producer.send(topic, b"v", headers=[("h", bytes(2 << 20))])
        with pytest.raises(RecordTooLargeError, match=r"max\.request\.size"):
            producer.send(topic, bytes(2_000), partition=0)
        producer.send(topic, bytes(1_900), partition=0).result(10)


def test_unknown_partition_and_topic(server: Server, topic: str, lone_server: Any) -> None:
    create(server, topic, partitions=2)
    producer = Producer(bootstrap_servers=server.bootstrap, max_block_ms=500)
    with producer, pytest.raises(TimeoutError, match="2 partitions"):
        producer.send(topic, b"v", partition=7)
    strict = lone_server(auto_create_topics_enable="false")
    producer = Producer(bootstrap_servers=strict.bootstrap, max_block_ms=500)
    with producer, pytest.raises(UnknownTopicOrPartitionError, match="absent"):
        producer.send("absent", b"v")


def test_many_threads_share_a_producer(server: Server, topic: str) -> None:
    create(server, topic, partitions=2)
    with Producer(bootstrap_servers=server.bootstrap, batch_size=2_000) as producer:

        def work(thread: int) -> None:
            for number in range(2_000):
                producer.send(topic, b"%d %d" % (thread, number), partition=thread % 2)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        producer.flush(30)
    for partition in range(2):
        found = [message.value().split() for message in read(server, topic, partition)]
        for thread in (partition, partition + 2):
            assert [int(number) for name, number in found if int(name) == thread] == list(range(2_000))


def test_close_delivers_what_is_left_and_ends_everything(server: Server, topic: str) -> None:
    create(server, topic)
    producer = Producer(bootstrap_servers=server.bootstrap, linger_ms=10_000)
    future = producer.send(topic, b"v", partition=0)
    producer.close()
    assert future.result(0).offset == 0
    producer.close()
    with pytest.raises(ClosedError):
        producer.send(topic, b"v", partition=0)


def test_forked_child_is_told(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap) as producer:
        producer.send(topic, b"parent", partition=0).result(10)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                producer.send(topic, b"child", partition=0)
            except ForkedError:
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        producer.send(topic, b"parent again", partition=0).result(10)
    assert [message.value() for message in read(server, topic)] == [b"parent", b"parent again"]


def test_partitions_for_and_metrics(server: Server, topic: str) -> None:
    create(server, topic, partitions=3)
    with Producer(bootstrap_servers=server.bootstrap, client_id="me", compression_type="zstd") as producer:
        assert [view.index for view in producer.partitions_for(topic)] == [0, 1, 2]
        for _ in range(10):
            producer.send(topic, bytes(1_000), partition=1)
        producer.flush(30)
        values = {
            (name.group, name.name, dict(name.tags).get("topic")): value for name, value in producer.metrics().items()
        }
    assert values["producer-metrics", "record-send-total", None] == 10
    assert values["producer-topic-metrics", "record-send-total", topic] == 10
    assert 0 < values["producer-topic-metrics", "compression-rate", topic] < 0.5
    assert values["producer-metrics", "buffer-available-bytes", None] == 32 << 20


def test_asyncio_twice_in_one_process(server: Server, topic: str) -> None:
    create(server, topic)

    async def run(values: Sequence[bytes]) -> list[int]:
        async with AsyncProducer(bootstrap_servers=server.bootstrap) as producer:
            first = await producer.send(topic, values[0], partition=0)
            futures = [await producer.enqueue(topic, value, partition=0) for value in values[1:]]
            return [first.offset, *[(await future).offset for future in futures]]

    assert asyncio.run(run([b"1", b"2", b"3"])) == [0, 1, 2]
    assert asyncio.run(run([b"4", b"5"])) == [3, 4]


def test_arrow_by_key(server: Server, topic: str) -> None:
    create(server, topic, partitions=3)
    keys = [None if number % 10 == 9 else f"k{number % 7}" for number in range(5_000)]
    values = [b"%05d" % number for number in range(5_000)]
    table = pa.table({"id": keys, "body": values, "extra": range(5_000)})
    with Producer(bootstrap_servers=server.bootstrap, compression_type="lz4") as producer:
        sent = producer.send_arrow(topic, table, key="id", value="body", timestamp=NOW_MS)
        sent.result(30)
        assert sent.done()
        assert sent.rows == 5_000
    found = [(partition, message) for partition in range(3) for message in read(server, topic, partition)]
    assert sorted(message.value() for _, message in found) == values
    assert all(message.timestamp()[1] == NOW_MS for _, message in found)
    for partition, message in found:
        if message.key() is not None:
            assert partition == partition_of_key(message.key(), 3)
    in_partition = [message.value() for partition, message in found if partition == 0 and message.key() == b"k1"]
    assert in_partition == sorted(in_partition)


def test_arrow_by_column_and_in_turn(server: Server, topic: str) -> None:
    create(server, topic, partitions=2)
    batch = pa.record_batch({"value": [b"a", b"b", b"c"], "where": [1, 0, 1]})
    with Producer(bootstrap_servers=server.bootstrap) as producer:
        producer.send_arrow(topic, batch, partition_by="where").result(30)
        assert [message.value() for message in read(server, topic, 1)] == [b"a", b"c"]
        producer.send_arrow(topic, pa.table({"value": [bytes(1_000)] * 200})).result(30)
    assert len(read(server, topic, 0)) > 50
    assert len(read(server, topic, 1)) > 50


def test_arrow_and_single_records_keep_their_order(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, linger_ms=50) as producer:
        producer.send(topic, b"first", partition=0)
        producer.send_arrow(topic, pa.table({"value": [b"second", b"third"]}), partition_by=0)
        producer.send(topic, b"fourth", partition=0)
    assert [message.value() for message in read(server, topic)] == [b"first", b"second", b"third", b"fourth"]


def test_uuid_keys(server: Server, topic: str) -> None:
    create(server, topic)
    key = uuid.uuid4()
    with Producer(bootstrap_servers=server.bootstrap, key_serializer="uuid", value_serializer="string") as producer:
        producer.send(topic, "grüß", key, partition=0).result(10)
    [message] = read(server, topic)
    assert (message.key(), message.value()) == (str(key).encode(), "grüß".encode())


def test_callbacks_may_send_but_never_wait(server: Server, topic: str) -> None:
    create(server, topic)
    again: list[Any] = []
    with Producer(bootstrap_servers=server.bootstrap, linger_ms=0) as producer:
        producer.send(
            topic, b"1", partition=0, on_delivery=lambda _, __: again.append(producer.send(topic, b"2", partition=0))
        ).result(10)
        producer.flush(30)
        producer.flush(30)
    assert [message.value() for message in read(server, topic)] == [b"1", b"2"]
    assert again[0].result(0).offset == 1
