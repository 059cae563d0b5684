"""The sink inside of Spark: what a user's writes leave in topics."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ottla.client.admin.blocking_admin import Admin
from tests.integration.pipelines.committed import committed_values, wait_for_markers
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Copy = Callable[..., None]


@pytest.fixture
def numbers(spark: "SparkSession") -> "DataFrame":
    """A thousand rows in three partitions, with key and value."""
    return spark.range(0, 1000, 1, 3).selectExpr("cast(id as string) as key", "cast(id as string) as value")


@pytest.fixture
def copy(spark: "SparkSession", broker: Server, checkpoint: str) -> Copy:
    """Copies all that is in a topic, with a checkpoint."""

    def run(
        source: str,
        target: str,
        columns: str = "key, value",
        checkpoint: str = checkpoint,
        most: str = "300",
        **more: str,
    ) -> None:
        options = {"kafka.bootstrap.servers": broker.bootstrap}
        records = (
            spark.readStream.format("ottla")
            .options(**options, subscribe=source, startingOffsets="earliest", maxOffsetsPerTrigger=most)
            .option("includeHeaders", "headers" in columns)
            .load()
        )
        query = (
            records.selectExpr(*columns.split(", "))
            .writeStream.format("ottla")
            .queryName(target)
            .options(**options, topic=target, checkpointLocation=checkpoint, **more)
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)

    return run


def append(frame: "DataFrame", broker: Server, **options: str) -> None:
    """A batch write."""
    writer = frame.write.format("ottla").option("kafka.bootstrap.servers", broker.bootstrap)
    writer.options(**options).mode("append").save()


def seen(broker: Server, topic: str) -> list[int]:
    return sorted(int(value) for value in committed_values(broker.bootstrap, topic) if value is not None)


def test_a_batch_is_written_and_read_back(
    spark: "SparkSession", numbers: "DataFrame", broker: Server, topic: CreateTopic
) -> None:
    name = topic(partitions=3)
    headers = "array(named_struct('key', 'n', 'value', encode(value, 'utf-8'))) as headers"
    append(numbers.selectExpr("*", f"'{name}' as topic", headers), broker)
    options = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": name, "includeHeaders": "true"}
    found = spark.read.format("ottla").options(**options).load()
    assert found.where("key = value and headers[0].value = value and size(headers) = 1").count() == 1000
    assert seen(broker, name) == list(range(1000))
    # What was read can be written as it is, partitions included.
    other = topic(partitions=3)
    append(found.where("offset < 100"), broker, topic=other)
    assert len(seen(broker, other)) == 300


def test_a_stream_goes_on_where_it_stopped(
    numbers: "DataFrame", copy: Copy, broker: Server, topic: CreateTopic
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    append(numbers, broker, topic=source)
    copy(source, target)
    append(numbers.selectExpr("key", "cast(value + 1000 as string) as value"), broker, topic=source)
    copy(source, target)
    assert seen(broker, target) == list(range(2000))


def test_a_batch_that_spark_repeats_after_its_commit_is_written_once(
    numbers: "DataFrame", copy: Copy, broker: Server, topic: CreateTopic, checkpoint: str
) -> None:
    source, target, twice = topic(partitions=2), topic(partitions=2), topic(partitions=2)
    append(numbers, broker, topic=source)
    for mode, name in (("true", target), ("false", twice)):
        place = f"{checkpoint}-{mode}"
        copy(source, name, checkpoint=place, exactlyOnce=mode)
        # As if the driver had died before Spark's own note of the last batch that wrote something.
        commits = [path for path in Path(place, "commits").iterdir() if path.name.isdigit()]
        max(commits, key=lambda path: int(path.name)).unlink()
        copy(source, name, checkpoint=place, exactlyOnce=mode)
    with Admin(bootstrap_servers=broker.bootstrap) as admin:
        wait_for_markers(admin, target)
    assert seen(broker, target) == list(range(1000))
    # The canary: without transactions the same repetition is seen.
    assert len(seen(broker, twice)) > 1000


@pytest.mark.skipif("OTTLA_TEST_SPARK_LARGE" not in os.environ, reason="a thousand tasks take long: make spark")
def test_a_thousand_partitions_are_copied_once(
    spark: "SparkSession", copy: Copy, broker: Server, topic: CreateTopic, admin: Admin
) -> None:
    source, target = topic(partitions=1000), topic(partitions=1000)
    append(spark.range(0, 20_000, 1, 4).selectExpr("cast(id as string) as key", "key as value"), broker, topic=source)
    copy(source, target, exactlyOnce="true", most="100000")
    wait_for_markers(admin, target)
    assert seen(broker, target) == list(range(20_000))


def test_values_of_5_mb_and_none_and_headers_pass_through(
    spark: "SparkSession", copy: Copy, broker: Server, topic: CreateTopic, admin: Admin
) -> None:
    configs = {"max.message.bytes": "10000000"}
    source, target = topic(configs=configs), topic(configs=configs)
    rows = spark.createDataFrame(
        [(bytearray(b"large"), bytearray(5_000_000), None), (None, None, [("a", bytearray(b"1")), ("a", None)]),
         (bytearray(), bytearray(), [])],
        "key binary, value binary, headers array<struct<key: string, value: binary>>",
    )  # fmt: skip
    append(rows.coalesce(1), broker, topic=source)
    copy(source, target, "key, value, headers", exactlyOnce="true")
    wait_for_markers(admin, target)
    options = {"kafka.bootstrap.servers": broker.bootstrap, "includeHeaders": "true"}
    frames = [spark.read.format("ottla").options(**options, subscribe=name).load() for name in (source, target)]
    found, copied = ([tuple(row) for row in frame.select("key", "value", "headers").collect()] for frame in frames)
    assert copied == found
    assert sorted(len(value or b"") for _, value, _ in found) == [0, 0, 5_000_000]
    assert sum(key is None for key, _, _ in found) == sum(value is None for _, value, _ in found) == 1
    assert [headers for _, _, headers in found if headers] == [[("a", b"1"), ("a", None)]]


def test_the_time_of_a_record_is_the_column_timestamp(
    numbers: "DataFrame", spark: "SparkSession", copy: Copy, broker: Server, topic: CreateTopic, checkpoint: str
) -> None:
    first_ms = 1_600_000_000_000
    source, once, often = topic(partitions=2), topic(partitions=2), topic(partitions=2)
    # Milliseconds in a batch, Spark's timestamps in a stream, and null for now.
    before = time.time()
    timestamp = f"if(key = '7', null, {first_ms} + cast(key as bigint)) as timestamp"
    append(numbers.selectExpr("*", timestamp), broker, topic=source)
    copy(source, once, "key, value, timestamp", exactlyOnce="true")
    copy(source, often, "key, value, timestamp", checkpoint=f"{checkpoint}-often", most="1000")
    with Admin(bootstrap_servers=broker.bootstrap) as admin:
        wait_for_markers(admin, once)
    options = {"kafka.bootstrap.servers": broker.bootstrap, "isolation.level": "read_committed"}
    for name in (source, once, often):
        found = spark.read.format("ottla").options(**options, subscribe=name).load()
        rows = found.selectExpr("cast(key as string) as key", "unix_millis(timestamp) as ms").collect()
        times = {int(row.key): row.ms for row in rows}
        assert len(rows) == len(times) == 1000
        assert before * 1000 - 1 <= times.pop(7) <= time.time() * 1000
        assert times == {number: first_ms + number for number in times}


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ("offset as value", {}, "column 'value': has to be string or binary, not bigint"),
        ("value", {"exactlyOnce": "true", "kafka.acks": "1"}, "option 'exactlyOnce': needs 'kafka.acks' all"),
    ],
)
def test_a_stream_that_cannot_be_written_says_why(
    copy: Copy, topic: CreateTopic, numbers: "DataFrame", broker: Server, columns: str, options: Any, words: str
) -> None:
    from pyspark.errors import PySparkException

    source = topic()
    append(numbers.limit(1), broker, topic=source)
    with pytest.raises(PySparkException, match=words):
        copy(source, topic(), columns, **options)


def test_a_batch_that_cannot_be_written_says_why(numbers: "DataFrame", broker: Server, topic: CreateTopic) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="column 'topic': there has to be one, or the option 'topic'"):
        append(numbers, broker)
    with pytest.raises(PySparkException, match="option 'exactlyOnce': has no meaning for a batch write"):
        append(numbers, broker, topic="t", exactlyOnce="true")
    writer = numbers.write.format("ottla").option("kafka.bootstrap.servers", broker.bootstrap).option("topic", topic())
    with pytest.raises(PySparkException, match="a topic can't be overwritten"):
        writer.mode("overwrite").save()
