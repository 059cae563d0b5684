"""The source inside of Spark: what a user's queries see."""

import json
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.record import TopicPartition
from ottla.pipelines.failure import reason
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Options = dict[str, str]


@pytest.fixture
def write(broker: Server) -> Callable[[str, Iterable[bytes], int], None]:
    """Writes values to one partition."""
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 5})

    def send(topic: str, values: Iterable[bytes], partition: int = 0) -> None:
        for value in values:
            producer.produce(topic, value, partition=partition)
        assert not producer.flush(30)

    return send


@pytest.fixture
def load(spark: "SparkSession", broker: Server) -> "Callable[..., DataFrame]":
    """A data frame of a batch read."""

    def frame(**options: object) -> "DataFrame":
        reader = spark.read.format("ottla").option("kafka.bootstrap.servers", broker.bootstrap)
        return reader.options(**options).load()

    return frame


def numbers(*span: int) -> list[bytes]:
    return [b"%d" % number for number in range(*span)]


def read_available(
    spark: "SparkSession", checkpoint: str, options: Options, sink: "Callable[[DataFrame], None]"
) -> list[dict[str, Any]]:
    """Runs a stream until it has read what is there; the progress of its batches."""

    def each(frame: "DataFrame", _batch_id: int) -> None:
        sink(frame)

    stream = spark.readStream.format("ottla").options(**options).load()
    query = stream.writeStream.foreachBatch(each).option("checkpointLocation", checkpoint)
    running = query.trigger(availableNow=True).start()
    assert running.awaitTermination(120)
    return [json.loads(progress.json) for progress in running.recentProgress]


def test_spark_finds_the_format_by_itself(load: "Callable[..., DataFrame]", topic: CreateTopic, write: Any) -> None:
    name = topic(partitions=2)
    write(name, numbers(50), 0)
    write(name, numbers(50, 100), 1)
    frame = load(subscribe=name)
    assert frame.schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int>"
    )
    assert load(subscribe=name, includeHeaders="true").schema["headers"].dataType.simpleString() == (
        "array<struct<key:string,value:binary>>"
    )
    assert frame.count() == 100
    found = frame.selectExpr("CAST(CAST(value AS STRING) AS INT) AS number").where("number % 10 = 0").collect()
    assert sorted(row.number for row in found) == list(range(0, 100, 10))
    assert len(frame.limit(3).collect()) == 3


def test_sql_reads_a_view_of_a_topic(spark: "SparkSession", broker: Server, topic: CreateTopic, write: Any) -> None:
    name = topic()
    write(name, numbers(5))
    spark.sql(
        f"""CREATE OR REPLACE TEMPORARY VIEW numbers USING ottla
            OPTIONS ('kafka.bootstrap.servers' '{broker.bootstrap}', 'subscribe' '{name}')"""
    )
    assert spark.sql("SELECT max(offset) AS last, count(*) AS rows FROM numbers").collect() == [(4, 5)]


def test_a_schema_of_the_users_own(spark: "SparkSession", broker: Server, topic: CreateTopic, write: Any) -> None:
    name = topic()
    write(name, numbers(3))
    reader = spark.read.format("ottla").option("kafka.bootstrap.servers", broker.bootstrap).option("subscribe", name)
    assert [bytes(row.value) for row in reader.schema("value binary").load().collect()] == numbers(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"subscribe": "t", "startingOfsets": "earliest"},
            r"'startingofsets': unknown.*'startingOffsets'",
        ),
        ({"subscribe": "t", "assign": '{"t":[0]}'}, r"'assign': contradicts 'subscribe'"),
        ({"subscribe": "t", "kafka.group.idd": "g"}, r"'kafka\.group\.idd': unknown; did you mean 'kafka\.group\.id'"),
    ],
)
def test_wrong_options_are_named(load: "Callable[..., DataFrame]", options: Options, message: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match=message):
        load(**options).collect()


def test_a_broker_that_is_down_is_said_in_a_few_lines(load: "Callable[..., DataFrame]") -> None:
    from pyspark.errors import PySparkException

    options = {"kafka.bootstrap.servers": "127.0.0.1:1", "kafka.socket.connection.setup.timeout.ms": "100"}
    with pytest.raises(PySparkException, match="nothing listens on port 1 there") as caught:
        load(subscribe="t", **options).collect()
    assert len(str(caught.value).splitlines()) < 15
    assert reason(caught.value).startswith("no broker could be reached; tried\n  127.0.0.1:1")


def test_a_stream_over_restarts(
    spark: "SparkSession", broker: Server, topic: CreateTopic, write: Any, admin: Admin, checkpoint: str
) -> None:
    name = topic(partitions=2)
    write(name, numbers(60), 0)
    write(name, numbers(60, 100), 1)
    options = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "subscribe": name,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "50",
        "group.id": f"group-{name}",
    }
    seen: list[bytes] = []

    def collect(frame: "DataFrame") -> None:
        seen.extend(bytes(row.value) for row in frame.select("value").collect())

    progress = read_available(spark, checkpoint, options, collect)
    assert [batch["numInputRows"] for batch in progress if batch["numInputRows"]] == [50, 50]
    assert progress[-1]["sources"][0]["endOffset"] == {name: {"0": 60, "1": 40}}
    write(name, numbers(100, 130), 1)
    read_available(spark, checkpoint, options, collect)
    assert sorted(seen, key=int) == numbers(130)
    committed = admin.list_consumer_group_offsets({f"group-{name}": None})[f"group-{name}"]
    ends = admin.list_offsets(dict.fromkeys(committed, OffsetSpec.LATEST))
    lag = {part: ends[part].offset - position.offset for part, position in committed.items() if position is not None}
    assert lag == {TopicPartition(name, 0): 0, TopicPartition(name, 1): 0}


def test_a_stream_that_runs_on(
    spark: "SparkSession", broker: Server, topic: CreateTopic, write: Any, checkpoint: str
) -> None:
    name = topic()
    stream = (
        spark.readStream.format("ottla")
        .options(**{"kafka.bootstrap.servers": broker.bootstrap, "subscribePattern": f"{name}.*"})
        .load()
    )
    query = (
        stream.writeStream.format("memory")
        .queryName(name.replace("-", "_"))
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    try:
        _wait(lambda: bool(query.lastProgress), query)
        write(name, numbers(10))
        more = topic(name=f"{name}-more")
        write(more, numbers(10, 20))
        table = name.replace("-", "_")
        _wait(lambda: spark.table(table).count() >= 20, query)
        assert sorted(int(bytes(row.value)) for row in spark.table(table).collect()) == list(range(20))
    finally:
        query.stop()


def test_lost_records_end_a_query_with_advice(
    spark: "SparkSession", broker: Server, topic: CreateTopic, write: Any, admin: Admin, checkpoint: str
) -> None:
    from pyspark.errors import StreamingQueryException

    name = topic()
    write(name, numbers(5))
    options = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": name, "startingOffsets": "earliest"}
    rows: list[int] = []

    def count(frame: "DataFrame") -> None:
        rows.append(frame.count())

    read_available(spark, checkpoint, options, count)
    write(name, numbers(5, 10))
    admin.delete_records({TopicPartition(name, 0): 8})
    with pytest.raises(StreamingQueryException, match="failOnDataLoss"):
        read_available(spark, checkpoint, options, count)
    read_available(spark, checkpoint, {**options, "failOnDataLoss": "false"}, count)
    assert sum(rows) == 5 + 2


def _wait(condition: Callable[[], bool], query: Any) -> None:
    for _ in range(1200):
        if condition():
            return
        assert query.isActive, query.exception()
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")
