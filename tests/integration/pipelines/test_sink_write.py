"""What the sink writes, without a Spark around it: its tasks on a real server, read by a client that is not ours."""

import pickle
from collections.abc import Callable, Iterator

import confluent_kafka
import pyarrow as pa
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.sink.errors import SinkError, SinkSchemaError
from ottla.protocol.errors import InvalidTopicError, MessageTooLargeError
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.pandas.types import from_arrow_schema

from ottla.pipelines.source.data_source import OttlaDataSource

Write = Callable[..., int]
ReadAll = Callable[[str], list[confluent_kafka.Message]]
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@pytest.fixture
def write(broker: Server) -> Write:
    """Writes Arrow batches as a task would; how many rows were written."""

    def rows(*batches: pa.RecordBatch, **options: object) -> int:
        texts = {"kafka.bootstrap.servers": broker.bootstrap, **{name: str(value) for name, value in options.items()}}
        source = OttlaDataSource(CaseInsensitiveDict(texts))
        writer = source.writer(from_arrow_schema(batches[0].schema), overwrite=False)
        return pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(writer)).write(iter(batches)))).rows

    return rows


@pytest.fixture
def read_all(broker: Server) -> ReadAll:
    """All records of a topic, in the order of partitions and offsets."""

    def messages(topic: str) -> list[confluent_kafka.Message]:
        return sorted(_messages(broker.bootstrap, topic), key=lambda message: (message.partition(), message.offset()))

    return messages


def _messages(bootstrap: str, topic: str) -> Iterator[confluent_kafka.Message]:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "none", "enable.partition.eof": True, "enable.auto.commit": False,
         "auto.offset.reset": "earliest", "fetch.max.bytes": 2**30, "max.partition.fetch.bytes": 2**27}
    )  # fmt: skip
    partitions = consumer.list_topics(topic).topics[topic].partitions
    consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in partitions])
    left = len(partitions)
    while left:
        message = consumer.poll(30)
        assert message is not None
        if message.error() is None:
            yield message
        else:
            assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
            left -= 1
    consumer.close()


def test_keys_values_and_headers_arrive_as_they_were(write: Write, read_all: ReadAll, topic: CreateTopic) -> None:
    name = topic()
    rows = pa.record_batch(
        {
            "key": pa.array([b"k", None, b""], pa.binary()),
            "value": pa.array(["züri", None, ""], pa.string()),
            "headers": pa.array([[{"key": "a", "value": b"1"}, {"key": "a", "value": None}], None, []], HEADERS),
        }
    )
    assert write(rows, topic=name) == 3
    found = read_all(name)
    assert [message.key() for message in found] == [b"k", None, b""]
    assert [message.value() for message in found] == ["züri".encode(), None, b""]
    assert [message.headers() for message in found] == [[("a", b"1"), ("a", None)], None, None]


def test_rows_go_to_their_partitions(write: Write, read_all: ReadAll, topic: CreateTopic) -> None:
    name = topic(partitions=5)
    keys = [b"key-%d" % number for number in range(1000)]
    write(pa.record_batch({"key": keys, "value": keys}), topic=name)
    found = read_all(name)
    assert sorted(message.value() for message in found) == sorted(keys)
    assert all(message.partition() == partition_of_key(message.key(), 5) for message in found)
    write(pa.record_batch({"key": keys, "value": keys, "partition": pa.array([3] * 1000, pa.int32())}), topic=name)
    assert [message.value() for message in read_all(name) if message.partition() == 3][-1000:] == keys


def test_a_partition_that_was_added_a_moment_ago_is_written_to(
    write: Write, read_all: ReadAll, topic: CreateTopic, admin: Admin
) -> None:
    name = topic()
    for number in range(2):
        rows = {"value": [b"%d" % number], "partition": pa.array([number], pa.int32())}
        write(pa.record_batch(rows), topic=name)
        admin.create_partitions({name: number + 2})
    assert [(message.partition(), message.value()) for message in read_all(name)] == [(0, b"0"), (1, b"1")]
    rows = {"value": [b"x"], "partition": pa.array([7], pa.int32())}
    with pytest.raises(SinkError, match="has partitions 0 to 2, not 7"):
        write(pa.record_batch(rows), topic=name)


def test_the_topic_column_routes_and_the_option_wins(write: Write, read_all: ReadAll, topic: CreateTopic) -> None:
    first, second, third = topic(), topic(), topic()
    rows = pa.record_batch({"topic": [first, second, first], "value": ["1", "2", "3"]})
    write(rows)
    assert [message.value() for message in read_all(first)] == [b"1", b"3"]
    assert [message.value() for message in read_all(second)] == [b"2"]
    write(rows, topic=third)
    assert [message.value() for message in read_all(third)] == [b"1", b"2", b"3"]


def test_much_more_than_memory_and_requests_hold(write: Write, read_all: ReadAll, topic: CreateTopic) -> None:
    name = topic(partitions=3)
    batches = [
        pa.record_batch({"key": [f"{at}-{row}" for row in range(2000)], "value": [f"{at}".ljust(200)] * 2000})
        for at in range(20)
    ]
    settings = {"kafka.buffer.memory": 400_000, "kafka.batch.size": 50_000, "kafka.compression.type": "lz4"}
    assert write(*batches, topic=name, **settings) == 40_000
    found = read_all(name)
    assert len(found) == 40_000
    order: dict[int, list[int]] = {}
    for message in found:
        order.setdefault(message.partition(), []).append(int(message.value()))
    assert all(numbers == sorted(numbers) for numbers in order.values())


def test_a_thousand_partitions(write: Write, read_all: ReadAll, topic: CreateTopic, admin: Admin) -> None:
    name = topic(partitions=1000)
    keys = [b"%d" % number for number in range(5000)]
    assert write(pa.record_batch({"key": keys, "value": keys}), topic=name) == 5000
    found = read_all(name)
    assert sorted(message.value() for message in found) == sorted(keys)
    assert all(message.partition() == partition_of_key(message.key(), 1000) for message in found)
    admin.delete_topics([name])


def test_values_of_5_mb(write: Write, read_all: ReadAll, topic: CreateTopic) -> None:
    name = topic(configs={"max.message.bytes": "10000000"})
    value = b"x" * 5_000_000
    write(pa.record_batch({"value": [value, b"small", value]}), topic=name)
    assert [message.value() for message in read_all(name)] == [value, b"small", value]


def test_what_a_broker_refuses_is_said_with_the_place(write: Write, topic: CreateTopic) -> None:
    name = topic(configs={"max.message.bytes": "1000"})
    with pytest.raises(MessageTooLargeError, match=f"{name}-0 takes no batch of .*'kafka.batch.size'"):
        write(pa.record_batch({"value": [b"x" * 2000]}), topic=name)
    with pytest.raises(SinkError, match=f"{name} has partitions 0 to 0, not 7"):
        write(pa.record_batch({"value": [b"x"], "partition": pa.array([7], pa.int32())}), topic=name)
    # A task after one that failed has a clean start.
    assert write(pa.record_batch({"value": [b"x"]}), topic=name) == 1


def test_a_topic_that_is_not_there_is_named(write: Write) -> None:
    with pytest.raises(InvalidTopicError, match="no-such/topic"):
        write(pa.record_batch({"value": [b"x"]}), topic="no-such/topic", **{"kafka.max.block.ms": 500})


def test_no_rows_are_no_trouble(write: Write, topic: CreateTopic) -> None:
    assert write(pa.record_batch({"value": pa.array([], pa.string())}), topic=topic()) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"exactlyOnce": "true"}, "exactlyOnce"),
        ({"kafka.acks": "0"}, "kafka.acks"),
        ({"kafka.acks": "1", "kafka.enable.idempotence": "true"}, "'kafka.acks': 1: must be all"),
        ({"kafka.delivery.timeout.ms": "5"}, "'kafka.delivery.timeout.ms': 5: should be at least"),
        ({"kafka.transactional.id": "x"}, "kafka.transactional.id"),
        ({"topik": "x"}, "did you mean 'topic'"),
        ({"startingOffsets": "earliest"}, "startingOffsets"),
    ],
)
def test_wrong_options_are_refused_by_name(write: Write, options: dict[str, str], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        write(pa.record_batch({"value": ["x"], "topic": ["x"]}), **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"exactlyOnce": "maybe"}, "exactlyOnce"),
        ({"exactlyOnce": "true", "kafka.acks": "1"}, "'exactlyOnce': needs 'kafka.acks' all"),
        ({"exactlyOnce": "true", "kafka.enable.idempotence": "false"}, "'exactlyOnce': needs"),
        ({"kafka.acks": "0"}, "kafka.acks"),
        ({"linger": "1"}, "'linger': unknown"),
    ],
)
def test_wrong_options_of_a_stream_are_refused_by_name(broker: Server, options: dict[str, str], words: str) -> None:
    source = OttlaDataSource(
        CaseInsensitiveDict({"kafka.bootstrap.servers": broker.bootstrap, "topic": "t", **options})
    )
    with pytest.raises(OptionError, match=words):
        source.streamWriter(from_arrow_schema(pa.schema([("value", pa.string())])), overwrite=False)


def test_wrong_columns_are_refused_by_name(write: Write) -> None:
    with pytest.raises(SinkSchemaError, match="'truck'"):
        write(pa.record_batch({"value": ["x"], "truck": [1]}), topic="t")
