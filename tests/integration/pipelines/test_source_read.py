"""What the source reads, without a Spark around it: its planner and its tasks on a real server."""

import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator

import confluent_kafka
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError
from tests.integration.pipelines.conftest import CreateTopic, create_again
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from ottla.pipelines.source.batch_reader import OttlaBatchReader
from ottla.pipelines.source.data_loss import DataLossError
from ottla.pipelines.source.data_source import OttlaDataSource

Read = Callable[..., list[dict[str, object]]]


@pytest.fixture
def reader(broker: Server) -> Callable[..., OttlaBatchReader]:
    """The reader that Spark would make for some options."""

    def make(schema: StructType | None = None, **options: object) -> OttlaBatchReader:
        texts = {"kafka.bootstrap.servers": broker.bootstrap, **{name: str(value) for name, value in options.items()}}
        source = OttlaDataSource(CaseInsensitiveDict(texts))
        return source.reader(schema or source.schema())

    return make


@pytest.fixture
def read(reader: Callable[..., OttlaBatchReader]) -> Read:
    """All rows of a batch read, in the order of partitions and offsets."""

    def rows(schema: StructType | None = None, **options: object) -> list[dict[str, object]]:
        return list(_rows(reader(schema, **options)))

    return rows


def _rows(reader: OttlaBatchReader) -> Iterator[dict[str, object]]:
    reader = pickle.loads(pickle.dumps(reader))
    for partition in reader.partitions():
        for batch in reader.read(pickle.loads(pickle.dumps(partition))):
            yield from batch.to_pylist()


@pytest.fixture
def produce(broker: Server) -> Callable[..., None]:
    """Writes values to one partition, with a client that is not ours."""

    def write(topic: str, values: Iterable[bytes | None], partition: int = 0, **settings: object) -> None:
        names = {name.replace("_", "."): value for name, value in settings.items()}
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 5, **names})
        for value in values:
            producer.produce(topic, value, partition=partition)
        assert not producer.flush(30)

    return write


def numbers(*span: int) -> list[bytes]:
    return [b"%d" % number for number in range(*span)]


def values(rows: list[dict[str, object]]) -> list[object]:
    return [row["value"] for row in rows]


def test_rows_have_all_that_records_have(broker: Server, topic: CreateTopic, read: Read) -> None:
    name = topic()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "message.max.bytes": 900_000})
    producer.produce(name, b"v", b"k", timestamp=1_700_000_000_123, headers=[("a", b"1"), ("a", None), ("b", b"")])
    producer.produce(name, None, b"", timestamp=1_700_000_000_124)
    producer.produce(name, b"", None, timestamp=1_700_000_000_125)
    producer.flush(30)

    rows = read(subscribe=name, includeHeaders=True)

    assert [(row["key"], row["value"]) for row in rows] == [(b"k", b"v"), (b"", None), (None, b"")]
    assert [row["headers"] for row in rows] == [
        [{"key": "a", "value": b"1"}, {"key": "a", "value": None}, {"key": "b", "value": b""}],
        None,
        None,
    ]
    assert [(row["topic"], row["partition"], row["offset"], row["timestampType"]) for row in rows] == [
        (name, 0, offset, 0) for offset in range(3)
    ]
    assert [row["timestamp"].timestamp() for row in rows] == [1_700_000_000.123, 1_700_000_000.124, 1_700_000_000.125]  # type: ignore[attr-defined]


@pytest.mark.parametrize("has_headers", [False, True])
def test_batches_have_the_types_that_spark_checks(
    topic: CreateTopic, reader: Callable[..., OttlaBatchReader], produce: Callable[..., None], has_headers: bool
) -> None:
    name = topic()
    produce(name, numbers(3))
    schema = OttlaDataSource(CaseInsensitiveDict({"includeHeaders": str(has_headers)})).schema()
    made = reader(subscribe=name, includeHeaders=has_headers)
    batches = [batch for partition in made.partitions() for batch in made.read(partition)]
    assert batches
    assert all(batch.schema.equals(to_arrow_schema(schema, timezone="UTC")) for batch in batches)


def test_a_schema_chooses_columns(topic: CreateTopic, read: Read, produce: Callable[..., None]) -> None:
    name = topic()
    produce(name, numbers(2))
    assert read(StructType().add("value", "binary").add("partition", "integer"), subscribe=name) == [
        {"value": b"0", "partition": 0},
        {"value": b"1", "partition": 0},
    ]
    assert read(StructType().add("topic", "string"), subscribe=name) == [{"topic": name}] * 2
    with pytest.raises(OptionError, match=r"no column 'colour'"):
        read(StructType().add("colour", "string"), subscribe=name)
    with pytest.raises(OptionError, match=r"'value' is binary, not string"):
        read(StructType().add("value", "string"), subscribe=name)


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_compressed_records_of_many_fetches(
    topic: CreateTopic, read: Read, produce: Callable[..., None], compression: str
) -> None:
    name = topic()
    produce(name, numbers(30_000), compression_type=compression)
    options = {"subscribe": name, "kafka.max.partition.fetch.bytes": 20_000}
    rows = read(**options)
    assert values(rows) == numbers(30_000)
    assert [row["offset"] for row in rows] == list(range(30_000))


def test_a_value_of_five_megabytes(topic: CreateTopic, read: Read, produce: Callable[..., None]) -> None:
    name = topic(configs={"max.message.bytes": "6000000"})
    large = bytes(range(256)) * 20_000
    produce(name, [b"before", large, b"after"], message_max_bytes=6_000_000, compression_type="none")
    assert values(read(subscribe=name)) == [b"before", large, b"after"]


def test_offsets_bound_a_batch(topic: CreateTopic, read: Read, produce: Callable[..., None]) -> None:
    name = topic(partitions=2)
    produce(name, numbers(10), 0)
    produce(name, numbers(10, 20), 1)
    start, end = f'{{"{name}":{{"0":8,"1":-2}}}}', f'{{"{name}":{{"0":-1,"1":3}}}}'
    assert values(read(subscribe=name, startingOffsets=start, endingOffsets=end)) == [*numbers(8, 10), *numbers(10, 13)]


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        ("startingOffsets", '{"%s":{"0":1}}', r"says nothing about .*-1"),
        ("startingOffsets", '{"%s":{"0":1,"1":1,"2":1}}', r"names .*-2"),
        ("endingOffsets", '{"%s":{"0":1,"1":11}}', r"11 for .*-1 is behind its end 10"),
        ("assign", '{"%s":[0,7]}', r"there is no partition .*-7"),
    ],
)
def test_offsets_that_do_not_fit_the_partitions(
    topic: CreateTopic, read: Read, produce: Callable[..., None], option: str, text: str, reason: str
) -> None:
    name = topic(partitions=2)
    produce(name, numbers(10), 0)
    produce(name, numbers(10), 1)
    options = {option: text % name} if option == "assign" else {"subscribe": name, option: text % name}
    with pytest.raises(OptionError, match=f"option '{option}': {reason}"):
        read(**options)


def test_times_bound_a_batch(broker: Server, topic: CreateTopic, read: Read) -> None:
    name = topic(partitions=2)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    for second in range(10):
        producer.produce(name, b"%d" % second, partition=0, timestamp=1_000_000 + 1000 * second)
    producer.flush(30)
    assert values(read(assign=f'{{"{name}":[0]}}', startingTimestamp=1_003_000, endingTimestamp=1_006_001)) == numbers(
        3, 7
    )
    by_partition = {
        "startingOffsetsByTimestamp": f'{{"{name}":{{"0":1008000,"1":5}}}}',
        "endingOffsetsByTimestamp": f'{{"{name}":{{"0":9999999999,"1":5}}}}',
    }
    with pytest.raises(OptionError, match=r"startingOffsetsByTimestamp.*-1 has no record of 5 or later"):
        read(subscribe=name, **by_partition)
    latest = {"startingOffsetsByTimestampStrategy": "latest"}
    assert values(read(subscribe=name, **by_partition, **latest)) == numbers(8, 10)


def test_patterns_and_assigned_partitions(topic: CreateTopic, read: Read, produce: Callable[..., None]) -> None:
    first, second, other = topic(), topic(partitions=2), topic()
    for name in (first, second, other):
        produce(name, [name.encode()])
    produce(second, [b"one"], 1)
    pattern = f"({re.escape(first)}|{re.escape(second)})"
    assert set(values(read(subscribePattern=pattern))) == {first.encode(), second.encode(), b"one"}
    assert values(read(assign=f'{{"{second}":[1]}}')) == [b"one"]
    assert read(subscribePattern="no-topic-has-such-a-name") == []


def test_patterns_mean_internal_topics_only_if_told_so(topic: CreateTopic, read: Read, admin: Admin) -> None:
    name = topic()
    admin.alter_consumer_group_offsets(name, {TopicPartition(name, 0): 0})
    assert read(subscribePattern="__consumer_.*") == []
    assert read(subscribePattern="__consumer_.*", **{"kafka.exclude.internal.topics": "false"})


def test_a_topic_that_is_not_there(read: Read) -> None:
    with pytest.raises(OptionError, match=r"option 'subscribe': there is no topic 'nowhere'"):
        read(subscribe="nowhere")


def test_tasks_are_made_as_the_options_say(
    topic: CreateTopic, reader: Callable[..., OttlaBatchReader], produce: Callable[..., None]
) -> None:
    name = topic(partitions=3)
    produce(name, numbers(90), 0)
    produce(name, numbers(10), 1)
    assert len(reader(subscribe=name).partitions()) == 2
    assert len(reader(subscribe=name, minPartitions=5).partitions()) == 5
    assert len(reader(subscribe=name, maxRecordsPerPartition=10).partitions()) == 10
    assert sorted(values(list(_rows(reader(subscribe=name, minPartitions=7))))) == sorted(numbers(90) + numbers(10))


def test_transactions(broker: Server, topic: CreateTopic, read: Read) -> None:
    name = topic()
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": name, "linger.ms": 0}
    producer = confluent_kafka.Producer(settings)
    producer.init_transactions(30)
    for number, ending in enumerate(("commit", "abort", "commit", "abort", None)):
        producer.begin_transaction()
        for record in range(3):
            producer.produce(name, b"%d.%d" % (number, record))
        producer.flush(30)
        if ending == "commit":
            producer.commit_transaction(30)
        elif ending == "abort":
            producer.abort_transaction(30)
    committed = [b"%d.%d" % (number, record) for number in (0, 2) for record in range(3)]
    assert values(read(subscribe=name)) == committed
    # Each task filters for itself, wherever in a transaction it begins; markers are gaps.
    assert values(read(subscribe=name, minPartitions=20)) == committed
    everything = [b"%d.%d" % (number, record) for number in range(5) for record in range(3)]
    assert values(read(subscribe=name, **{"isolation.level": "read_uncommitted"})) == everything
    assert values(read(subscribe=name, **{"kafka.isolation.level": "read_uncommitted"})) == everything
    producer.abort_transaction(30)


def test_a_task_that_waits_for_an_open_transaction_ends_with_the_option_named(
    broker: Server, topic: CreateTopic, reader: Callable[..., OttlaBatchReader]
) -> None:
    name = topic()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"pending")
    producer.flush(30)
    planned = reader(subscribe=name, **{"isolation.level": "read_uncommitted"}).partitions()
    impatient = reader(subscribe=name, **{"kafkaConsumer.pollTimeoutMs": 300, "kafka.fetch.max.wait.ms": 100})
    with pytest.raises(TimeoutError, match=r"kafkaConsumer\.pollTimeoutMs"):
        list(impatient.read(planned[0]))
    producer.abort_transaction(30)


def test_compacted_topics_have_gaps(broker: Server, topic: CreateTopic, read: Read) -> None:
    name = topic(
        configs={
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.01",
            "segment.ms": "100",
            "min.compaction.lag.ms": "0",
            "max.compaction.lag.ms": "100",
        }
    )
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})
    for round_number in range(3):
        for key in range(5):
            producer.produce(name, b"%d" % round_number, b"%d" % key)
        producer.flush(30)
        time.sleep(0.15)
    producer.produce(name, b"last", b"last")
    producer.flush(30)
    for _ in range(300):
        rows = read(subscribe=name)
        if len(rows) == 6:
            break
        time.sleep(0.1)
    assert [(row["offset"], row["key"], row["value"]) for row in rows] == [
        *((10 + key, b"%d" % key, b"2") for key in range(5)),
        (15, b"last", b"last"),
    ]
    # Ranges that begin, end or lie in what was compacted away.
    for start, end, found in ((3, 12, 2), (0, 7, 0), (12, 16, 4)):
        bounds = {"startingOffsets": f'{{"{name}":{{"0":{start}}}}}', "endingOffsets": f'{{"{name}":{{"0":{end}}}}}'}
        assert len(read(subscribe=name, **bounds)) == found


def test_records_that_are_gone(topic: CreateTopic, admin: Admin, read: Read, produce: Callable[..., None]) -> None:
    name = topic()
    produce(name, numbers(10))
    admin.delete_records({TopicPartition(name, 0): 6})
    assert values(read(subscribe=name)) == numbers(6, 10)
    start = f'{{"{name}":{{"0":2}}}}'
    with pytest.raises(DataLossError, match=r"begins at 6: 2 is gone.*failOnDataLoss"):
        read(subscribe=name, startingOffsets=start)
    assert values(read(subscribe=name, startingOffsets=start, failOnDataLoss=False)) == numbers(6, 10)


def test_a_topic_made_anew_between_plan_and_task(
    topic: CreateTopic, admin: Admin, reader: Callable[..., OttlaBatchReader], produce: Callable[..., None]
) -> None:
    name = topic()
    produce(name, numbers(10))
    strict, lenient = reader(subscribe=name), reader(subscribe=name, failOnDataLoss=False)
    planned = strict.partitions()
    assert sum(batch.num_rows for batch in strict.read(planned[0])) == 10
    admin.delete_topics([name])
    create_again(topic, name)
    produce(name, numbers(10))
    with pytest.raises(DataLossError, match=r"made anew"):
        list(strict.read(planned[0]))
    assert list(lenient.read(planned[0])) == []


def test_a_thousand_partitions(topic: CreateTopic, read: Read, broker: Server, admin: Admin) -> None:
    name = topic(partitions=1000)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50})
    for number in range(0, 1000, 20):
        producer.produce(name, b"%d" % number, partition=number)
    assert not producer.flush(60)
    rows = read(subscribe=name)
    assert [(row["partition"], row["value"]) for row in rows] == [(at, b"%d" % at) for at in range(0, 1000, 20)]
    admin.delete_topics([name])


def test_no_broker_at_the_address(read: Read) -> None:
    from ottla.client.errors import NoBrokersAvailableError

    options = {"kafka.bootstrap.servers": "127.0.0.1:1", "kafka.socket.connection.setup.timeout.ms": "100"}
    with pytest.raises(NoBrokersAvailableError, match=r"127\.0\.0\.1:1"):
        read(subscribe="any", **options)
