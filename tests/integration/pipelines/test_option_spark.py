"""What each option does to a query on a real Spark; those that `test_source_spark` and `test_sink_spark` leave out."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.pipelines.option.name import OPTIONS
from tests.integration.pipelines.client_ids import client_ids
from tests.integration.pipelines.conftest import CreateTopic, create_again
from tests.kafka.server import Server

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Options = dict[str, str]
EVENTS = "option-events"
"""0 to 9 in partition 0, one a second; 10 to 14 in partition 1, likewise, and after them 90 and 91, aborted."""
_START_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def events(broker: Server, admin: Admin) -> str:
    """The topic that all reads here share."""
    # Its records are old, and are to stay.
    admin.create_topics([NewTopic(EVENTS, partitions=2, replication_factor=1, configs={"retention.ms": "-1"})])
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": EVENTS}
    producer = confluent_kafka.Producer(settings)
    producer.init_transactions(30)
    for partition, numbers in ((0, range(10)), (1, range(10, 15))):
        producer.begin_transaction()
        for second, number in enumerate(numbers):
            producer.produce(EVENTS, b"%d" % number, partition=partition, timestamp=_START_MS + 1000 * second)
        producer.commit_transaction(30)
    producer.begin_transaction()
    for number in (90, 91):
        producer.produce(EVENTS, b"%d" % number, partition=1, timestamp=_START_MS + 4000)
    producer.flush(30)
    producer.abort_transaction(30)
    return EVENTS


def _by_partition(first: int, second: int) -> str:
    return json.dumps({EVENTS: {"0": first, "1": second}})


def _after(seconds: int) -> int:
    return _START_MS + 1000 * seconds


_ALL = [*range(15)]
_SUBSCRIBED = {"subscribe": EVENTS}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"subscribe": EVENTS}, _ALL),
        ({"subscribePattern": "option-e.*s"}, _ALL),
        ({"assign": json.dumps({EVENTS: [1]})}, [*range(10, 15)]),
        ({**_SUBSCRIBED, "startingOffsets": _by_partition(8, -2)}, [*range(8, 15)]),
        ({**_SUBSCRIBED, "endingOffsets": _by_partition(2, 1)}, [0, 1, 10]),
        ({**_SUBSCRIBED, "startingTimestamp": str(_after(3))}, [*range(3, 10), 13, 14]),
        (
            {**_SUBSCRIBED, "startingTimestamp": str(_after(8)), "startingOffsetsByTimestampStrategy": "latest"},
            [8, 9],
        ),
        ({**_SUBSCRIBED, "startingOffsetsByTimestamp": _by_partition(_after(9), _after(4))}, [9, 14]),
        ({**_SUBSCRIBED, "endingTimestamp": str(_after(1))}, [0, 10]),
        ({**_SUBSCRIBED, "endingOffsetsByTimestamp": _by_partition(_after(2), _after(1))}, [0, 1, 10]),
        ({**_SUBSCRIBED, "isolation.level": "read_uncommitted"}, [*_ALL, 90, 91]),
        ({**_SUBSCRIBED, "kafka.isolation.level": "read_uncommitted"}, [*_ALL, 90, 91]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_what_a_batch_reads(
    spark: "SparkSession", broker: Server, events: str, options: Options, found: list[int]
) -> None:
    frame = _load(spark, broker, options)
    assert sorted(int(bytes(row.value)) for row in frame.select("value").collect()) == found


@pytest.mark.parametrize(
    ("options", "tasks"), [({}, 2), ({"minPartitions": "6"}, 6), ({"maxRecordsPerPartition": "3"}, 7)]
)
def test_how_many_tasks_read(spark: "SparkSession", broker: Server, events: str, options: Options, tasks: int) -> None:
    frame = _load(spark, broker, {**_SUBSCRIBED, **options})
    assert frame.rdd.getNumPartitions() == tasks
    assert frame.count() == len(_ALL)


def test_group_id_prefix_is_what_brokers_see(spark: "SparkSession", broker: Server, events: str) -> None:
    with client_ids(broker.address) as (bootstrap, seen):
        options = {**_SUBSCRIBED, "kafka.bootstrap.servers": bootstrap}
        assert _load(spark, broker, options).count() == len(_ALL)
        assert set(seen) == {"spark-kafka-source"}
        seen.clear()
        assert _load(spark, broker, {**options, "groupIdPrefix": "billing"}).count() == len(_ALL)
        assert set(seen) == {"billing"}


def test_small_micro_batches_are_held_back_and_partitions_believed(
    spark: "SparkSession", broker: Server, admin: Admin, topic: CreateTopic, checkpoint: str
) -> None:
    name = topic()
    options = {
        "subscribe": name,
        "startingOffsets": "earliest",
        "minOffsetsPerTrigger": "5",
        "maxTriggerDelay": "1h",
        "partition.metadata.cache.ttl.ms": "3600000",
    }
    spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "0")
    query = _start(spark, broker, options, checkpoint)
    try:
        _write(broker, name, 1)
        _wait(lambda: _offsets(query, "endOffset") == {"0": 1}, query)
        admin.create_partitions({name: 2})
        _write(broker, name, 3)
        _write(broker, name, 7, partition=1)
        # Ten wait. The query believes that there is one partition, where three wait, and five are not there yet.
        _wait(lambda: _offsets(query, "latestOffset") == {"0": 4}, query)
        assert _offsets(query, "endOffset") == {"0": 1}
        _write(broker, name, 2)
        _wait(lambda: _offsets(query, "endOffset") == {"0": 6}, query)
    finally:
        query.stop()
        spark.conf.unset("spark.sql.streaming.noDataProgressEventInterval")
    query = _start(spark, broker, {**options, "minOffsetsPerTrigger": "100", "maxTriggerDelay": "100ms"}, checkpoint)
    try:
        _wait(lambda: _offsets(query, "endOffset") == {"0": 6, "1": 7}, query)
        _write(broker, name, 1)
        _wait(lambda: _offsets(query, "endOffset") == {"0": 7, "1": 7}, query)
    finally:
        query.stop()


def test_offsets_that_went_back_are_asked_for_again(
    spark: "SparkSession", broker: Server, admin: Admin, topic: CreateTopic, checkpoint: str
) -> None:
    from pyspark.errors import StreamingQueryException

    name = topic()
    _write(broker, name, 5)
    options = {"subscribe": name, "startingOffsets": "earliest"}
    assert _start(spark, broker, options, checkpoint, availableNow=True).awaitTermination(120)
    # A log that ends before where the query is, as that of a leader which does not know yet how far it may show it.
    admin.delete_topics([name])
    create_again(topic, name)
    _write(broker, name, 3)
    began = time.monotonic()
    impatient = {**options, "fetchOffset.numRetries": "2", "fetchOffset.retryIntervalMs": "800"}
    with pytest.raises(StreamingQueryException, match="made anew or cut off"):
        _start(spark, broker, impatient, checkpoint, availableNow=True).awaitTermination(120)
    assert time.monotonic() - began > 2 * 0.8
    patient = {**options, "fetchOffset.numRetries": "1000000", "fetchOffset.retryIntervalMs": "20"}
    query = _start(spark, broker, patient, checkpoint, availableNow=True)
    _wait(lambda: query.status["message"].startswith("Getting offsets"), query)
    _write(broker, name, 4)
    assert query.awaitTermination(120)
    assert _rows(query) == [2]


def test_a_task_waits_no_longer_than_the_poll_timeout(
    spark: "SparkSession", broker: Server, topic: CreateTopic, checkpoint: str
) -> None:
    from pyspark.errors import StreamingQueryException

    name = topic()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"pending")
    producer.flush(30)
    options = {"subscribe": name, "startingOffsets": "earliest"}
    uncommitted = {**options, "isolation.level": "read_uncommitted"}
    assert _start(spark, broker, uncommitted, checkpoint, availableNow=True).awaitTermination(120)
    # The driver died before its note: the batch is repeated, by a query that may not see what is in it yet.
    for path in Path(checkpoint, "commits").iterdir():
        path.unlink()
    impatient = {**options, "kafkaConsumer.pollTimeoutMs": "200"}
    with pytest.raises(StreamingQueryException, match=r"kafkaConsumer\.pollTimeoutMs"):
        _start(spark, broker, impatient, checkpoint, availableNow=True).awaitTermination(120)
    producer.commit_transaction(30)
    query = _start(spark, broker, impatient, checkpoint, availableNow=True)
    assert query.awaitTermination(120)
    assert _rows(query) == [1]


def test_names_and_time_outs_of_transactions(
    spark: "SparkSession", broker: Server, admin: Admin, events: str, topic: CreateTopic, checkpoint: str
) -> None:
    target = topic()
    copied = _read_stream(spark, broker, {**_SUBSCRIBED, "startingOffsets": "earliest"}).select("value")
    options = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "topic": target,
        "checkpointLocation": checkpoint,
        "exactlyOnce": "true",
        "transactionalIdPrefix": "billing",
        "kafka.transaction.timeout.ms": "77000",
    }
    query = copied.writeStream.format("ottla").options(**options).trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    ids = {found.transactional_id for found in admin.list_transactions() if str(query.id) in found.transactional_id}
    assert ids == {f"billing-{query.id}-{task}" for task in range(2)}
    assert {found.timeout_ms for found in admin.describe_transactions(ids).values()} == {77000}
    groups = {found.group_id for found in admin.list_groups() if str(query.id) in found.group_id}
    assert groups == {f"billing-sink-{query.id}", *(f"billing-sink-{query.id}-{task}" for task in range(2))}


def test_the_size_of_written_batches(spark: "SparkSession", broker: Server, topic: CreateTopic) -> None:
    few, many = topic(), topic()
    rows = spark.range(0, 1000, 1, 1).selectExpr("lpad(cast(id as string), 100, '0') as value")
    for name, options in ((few, {}), (many, {"kafka.batch.size": "10000"})):
        writer = rows.write.format("ottla").options(**{"kafka.bootstrap.servers": broker.bootstrap, "topic": name})
        writer.options(**options).mode("append").save()
    assert len(_batch_sizes(broker, few)) == 1
    assert len(_batch_sizes(broker, many)) > 10
    assert max(_batch_sizes(broker, many)) <= 10_000


def test_every_option_is_tried_on_spark() -> None:
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*_spark.py"))
    names = {option.name for option in OPTIONS}
    assert not [name for name in names if not any(use in text for use in (f'"{name}"', f"{name}=", f".{name}("))]


def _load(spark: "SparkSession", broker: Server, options: Options) -> "DataFrame":
    return spark.read.format("ottla").options(**{"kafka.bootstrap.servers": broker.bootstrap, **options}).load()


def _read_stream(spark: "SparkSession", broker: Server, options: Options) -> "DataFrame":
    return spark.readStream.format("ottla").options(**{"kafka.bootstrap.servers": broker.bootstrap, **options}).load()


def _start(
    spark: "SparkSession", broker: Server, options: Options, checkpoint: str, **trigger: bool
) -> "StreamingQuery":
    writer = _read_stream(spark, broker, options).writeStream.format("noop").option("checkpointLocation", checkpoint)
    return writer.trigger(**trigger or {"processingTime": "50 milliseconds"}).start()


def _rows(query: "StreamingQuery") -> list[int]:
    """Of each micro-batch that had some."""
    return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]


def _offsets(query: "StreamingQuery", which: str) -> dict[str, int] | None:
    """Of the one topic, as the query has told last."""
    progress = query.lastProgress
    told = None if progress is None else json.loads(progress.json)["sources"][0][which]
    return None if told is None else next(iter(told.values()))


def _write(broker: Server, topic: str, count: int, *, partition: int = 0) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(count):
        producer.produce(topic, b"%d" % number, partition=partition)
    assert not producer.flush(30)


def _batch_sizes(broker: Server, topic: str) -> list[int]:
    """Of the batches of records in the one partition of a topic, as they are on the disk."""
    [segment] = Path(broker.log_directory, f"{topic}-0").glob("*.log")
    return list(_sizes(segment.read_bytes()))


def _sizes(log: bytes) -> Iterator[int]:
    """Each batch says after its base offset how long it is from there."""
    at = 0
    while at < len(log):
        size = 12 + int.from_bytes(log[at + 8 : at + 12])
        yield size
        at += size


def _wait(condition: Callable[[], Any], query: "StreamingQuery") -> None:
    for _ in range(1200):
        if condition():
            return
        assert query.isActive, query.exception()
        time.sleep(0.05)
    raise AssertionError(f"it did not come to pass; rows {_rows(query)}, last progress {query.lastProgress}")
