"""Options as users give them: what they mean, and how wrong ones are refused."""

import pickle
from pathlib import Path

import pytest

from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.name import OPTIONS, Use
from ottla.pipelines.option.offset_json import EARLIEST, LATEST
from ottla.pipelines.option.parse import (
    Admission,
    ReadOptions,
    Splitting,
    parse_batch_read,
    parse_batch_write,
    parse_stream_read,
    parse_stream_write,
)

SERVERS = {"kafka.bootstrap.servers": "a:9092"}


def stream(**options: str) -> ReadOptions:
    return parse_stream_read({**SERVERS, "subscribe": "t", **options})


def batch(**options: str) -> ReadOptions:
    return parse_batch_read({**SERVERS, "subscribe": "t", **options})


def test_defaults_are_those_of_sparks_connector() -> None:
    options = stream()
    assert options.start.everywhere == LATEST
    assert batch().start.everywhere == EARLIEST
    assert batch().end.everywhere == LATEST
    assert options.fails_on_data_loss
    assert not options.has_headers
    assert options.splitting == Splitting()
    assert options.admission == Admission(None, None, 15 * 60_000)
    assert (options.poll_timeout_ms, options.offset_retries, options.offset_retry_pause_ms) == (120_000, 3, 10)
    assert options.settings == {"bootstrap.servers": "a:9092", "client.id": "spark-kafka-source"}


def test_our_own_defaults() -> None:
    assert stream().is_committed_only
    assert stream().group_id is None
    written = parse_stream_write(SERVERS)
    assert (written.topic, written.is_exactly_once, written.transactional_id_prefix) == (None, False, "ottla")


def test_names_are_told_apart_without_regard_to_case() -> None:
    assert stream(FAILONDATALOSS="FALSE").fails_on_data_loss is False
    assert stream(**{"KAFKA.Client.Id": "me"}).settings["client.id"] == "me"


def test_every_option_for_reading() -> None:
    options = stream(
        startingOffsets='{"t":{"0":23,"1":-2}}',
        failOnDataLoss="false",
        minPartitions="10",
        maxRecordsPerPartition="500",
        maxOffsetsPerTrigger="1000",
        minOffsetsPerTrigger="100",
        maxTriggerDelay="30s",
        includeHeaders="true",
        groupIdPrefix="trucks",
        **{"group.id": "lag", "isolation.level": "read_uncommitted", "kafkaConsumer.pollTimeoutMs": "7"},
    )
    assert options.start.offsets == {TopicPartition("t", 0): 23, TopicPartition("t", 1): -2}
    assert not options.fails_on_data_loss
    assert options.splitting == Splitting(10, 500)
    assert options.admission == Admission(1000, 100, 30_000)
    assert options.has_headers
    assert options.settings["client.id"] == "trucks"
    assert options.group_id == "lag"
    assert not options.is_committed_only
    assert options.poll_timeout_ms == 7


def test_subscriptions() -> None:
    topics = stream(subscribe=" a, b ,").subscription
    assert topics.matching({"a", "b", "c"}) == {"a", "b"}
    pattern = parse_stream_read({**SERVERS, "subscribePattern": "truck.*"}).subscription
    assert pattern.matching({"trucks", "truck", "my-trucks"}) == {"trucks", "truck"}
    assigned = parse_stream_read({**SERVERS, "assign": '{"t":[0,2]}'}).subscription
    assert assigned.matching({"t", "u"}) == {"t"}
    assert [assigned.includes(TopicPartition("t", number)) for number in range(3)] == [True, False, True]


def test_timestamps_win_over_timestamps_by_partition_and_those_over_offsets() -> None:
    every = {
        "startingTimestamp": "5",
        "startingOffsetsByTimestamp": '{"t":{"0":6}}',
        "startingOffsets": "earliest",
        "startingOffsetsByTimestampStrategy": "latest",
    }
    assert stream(**every).start.timestamp_ms == 5
    del every["startingTimestamp"]
    assert stream(**every).start.timestamps_ms == {TopicPartition("t", 0): 6}
    del every["startingOffsetsByTimestamp"]
    assert stream(**every).start.everywhere == EARLIEST


@pytest.mark.parametrize(
    ("options", "named", "reason"),
    [
        ({}, "subscribe", "nothing says what to read"),
        ({"subscribe": ","}, "subscribe", "names no topic"),
        ({"subscribe": "t", "subscribePattern": "t"}, "subscribePattern", "contradicts 'subscribe'"),
        ({"subscribePattern": "("}, "subscribePattern", "not a regular expression"),
        ({"assign": "t"}, "assign", "expected JSON"),
        ({"assign": '{"t":["0"]}'}, "assign", "expected JSON"),
        ({"subscribe": "t", "startingOffsets": "first"}, "startingOffsets", "expected 'earliest'"),
        ({"subscribe": "t", "startingOffsets": '{"t":{"0":-3}}'}, "startingOffsets", "below -2"),
        ({"subscribe": "t", "startingOffsets": '{"t":{"x":1}}'}, "startingOffsets", "expected JSON"),
        ({"subscribe": "t", "startingOffsets": '{"t":{"0":true}}'}, "startingOffsets", "expected JSON"),
        ({"subscribe": "t", "startingTimestamp": "today"}, "startingTimestamp", "milliseconds since 1970"),
        ({"subscribe": "t", "endingOffsets": "latest"}, "endingOffsets", "no meaning for a stream read"),
        ({"subscribe": "t", "topic": "u"}, "topic", "no meaning for a stream read, only for a write"),
        ({"subscribe": "t", "failOnDataLoss": "maybe"}, "failOnDataLoss", "true or false"),
        ({"subscribe": "t", "minPartitions": "0"}, "minPartitions", "at least 1"),
        ({"subscribe": "t", "maxOffsetsPerTrigger": "many"}, "maxOffsetsPerTrigger", "a whole number"),
        (
            {"subscribe": "t", "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"},
            "minOffsetsPerTrigger",
            "9 is more than maxOffsetsPerTrigger 8",
        ),
        ({"subscribe": "t", "maxTriggerDelay": "soon"}, "maxTriggerDelay", "a span of time"),
        ({"subscribe": "t", "isolation.level": "none"}, "isolation.level", "read_committed or read_uncommitted"),
        (
            {"subscribe": "t", "isolation.level": "read_committed", "kafka.isolation.level": "read_uncommitted"},
            "isolation.level",
            "contradicts kafka.isolation.level",
        ),
        ({"subscribe": "t", "group.id": "a", "kafka.group.id": "b"}, "group.id", "contradicts kafka.group.id"),
        ({"subscribe": "t", "partition.metadata.cache.ttl.ms": "0"}, "partition.metadata.cache.ttl.ms", "positive"),
        ({"subscribe": "t", "kafka.auto.offset.reset": "earliest"}, "kafka.auto.offset.reset", "startingOffsets"),
        ({"subscribe": "t", "kafka.fetch.max.byte": "1"}, "kafka.fetch.max.byte", "mean 'kafka.fetch.max.bytes'"),
        ({"subscribe": "t", "kafka.fetch.max.bytes": "x"}, "kafka.fetch.max.bytes", "x"),
        ({"subscribe": "t", "maxOffsetPerTrigger": "1"}, "maxOffsetPerTrigger", "did you mean 'maxOffsetsPerTrigger'"),
        ({"subscribe": "t", "colour": "red"}, "colour", "unknown"),
    ],
)
def test_wrong_options_of_a_stream_are_named(options: dict[str, str], named: str, reason: str) -> None:
    with pytest.raises(OptionError, match=reason) as refused:
        parse_stream_read({**SERVERS, **options})
    assert refused.value.option == named


@pytest.mark.parametrize(
    ("options", "named", "reason"),
    [
        ({"startingOffsets": "latest"}, "startingOffsets", "can't be latest"),
        ({"startingOffsets": '{"t":{"0":-1}}'}, "startingOffsets", "can't be latest"),
        ({"endingOffsets": "earliest"}, "endingOffsets", "can't be earliest"),
        ({"endingOffsets": '{"t":{"0":-2}}'}, "endingOffsets", "can't be earliest"),
        ({"startingOffsets": '{"t":{"0":5}}', "endingOffsets": '{"t":{"0":4}}'}, "endingOffsets", "before startingOff"),
        ({"startingTimestamp": "5", "endingTimestamp": "4"}, "endingTimestamp", "before startingTimestamp"),
        ({"group.id": "g"}, "group.id", "no meaning for a batch read"),
    ],
)
def test_wrong_options_of_a_batch_are_named(options: dict[str, str], named: str, reason: str) -> None:
    with pytest.raises(OptionError, match=reason) as refused:
        batch(**options)
    assert refused.value.option == named


def test_what_only_streams_use_is_ignored_by_batches_as_sparks_connector_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    batch(maxOffsetsPerTrigger="5")
    assert "maxOffsetsPerTrigger has no effect in a batch read" in caplog.text


def test_writes() -> None:
    options = parse_stream_write({**SERVERS, "kafka.acks": "1", "topic": " t ", "exactlyOnce": "true"})
    assert options.settings == {"bootstrap.servers": "a:9092", "acks": "1"}
    assert (options.topic, options.is_exactly_once) == ("t", True)
    parse_stream_write({**SERVERS, "checkpointLocation": "/tmp/c"})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"topic": " "}, "topic"),
        ({"exactlyOnce": "true"}, "exactlyOnce"),
        ({"subscribe": "t"}, "subscribe"),
        ({"kafka.transactional.id": "x"}, "kafka.transactional.id"),
        ({"kafka.value.serializer": "x"}, "kafka.value.serializer"),
        ({"kafka.partitioner.class": "x"}, "kafka.partitioner.class"),
        ({"kafka.partitioner.ignore.keys": "true"}, "kafka.partitioner.ignore.keys"),
        ({"kafka.bootstrap.servers": ""}, "kafka.bootstrap.servers"),
    ],
)
def test_wrong_options_of_a_write_are_named(options: dict[str, str], named: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse_batch_write({**SERVERS, **options})
    assert refused.value.option == named


def test_secrets_are_not_shown() -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hush";'
    assert "hush" not in repr(stream(**{"kafka.sasl.jaas.config": jaas}))


def test_what_was_parsed_and_refusals_pass_between_processes() -> None:
    options = stream(startingOffsets='{"t":{"0":1}}')
    assert pickle.loads(pickle.dumps(options)) == options
    error = pickle.loads(pickle.dumps(OptionError("topic", "is empty")))
    assert (error.option, str(error)) == ("topic", "option 'topic': is empty")


def test_every_option_says_what_it_does() -> None:
    assert all(option.doc.endswith(".") for option in OPTIONS)


def test_the_reference_page_has_every_option_for_reading() -> None:
    page = (Path(__file__).parents[4] / "docs" / "SPARK.md").read_text()
    missing = [option.name for option in OPTIONS if option.use & Use.READ and f"| `{option.name}`" not in page]
    assert missing == ["checkpointLocation"], "which is Spark's own"
    assert all(option.doc in page for option in OPTIONS if option.use & Use.READ and option.name not in missing)


REGISTRY = {"schema.registry.url": "http://localhost:8081"}


def test_formats_name_their_subjects() -> None:
    options = {**REGISTRY, "schema.registry.basic.auth.user.info": "ada:hush", "value.format": "avro"}
    (found,) = stream(**options).formats
    assert (found.column, found.subject, found.on_error) == ("value", "t-value", "fail")
    assert found.settings == {"url": "http://localhost:8081", "basic.auth.user.info": "ada:hush"}
    assert "hush" not in repr(found)
    (key,) = stream(**{**REGISTRY, "key.format": "AVRO", "key.subject": "k", "badRecords": "column"}).formats
    assert (key.column, key.subject, key.error_column, key.on_error) == ("key", "k", "key_error", "column")
    assert stream().formats == ()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"value.format": "avro"}, "schema.registry.url"),
        ({"value.format": "xml"}, "value.format"),
        ({"value.subject": "s"}, "value.subject"),
        ({**REGISTRY, "value.format": "avro", "subscribe": "a,b"}, "value.subject"),
        ({**REGISTRY, "value.format": "avro", "badRecords": "skip"}, "badRecords"),
    ],
)
def test_wrong_formats_are_named(options: dict[str, str], named: str) -> None:
    with pytest.raises(OptionError) as refused:
        stream(**options)
    assert refused.value.option == named
