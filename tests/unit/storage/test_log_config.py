from dataclasses import fields

import pytest

from ottla.base.config import ConfigError
from ottla.storage.broker_log_config import BROKER_LOG_CONFIG_KEYS, default_log_config, log_directories
from ottla.storage.cleaner.cleaner_config import CLEANER_CONFIG_KEYS, CleanerConfig
from ottla.storage.log_config import DEFAULT_LOG_CONFIG, LogConfig, field_name, topic_value
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

# As `LogConfig.configNames()` of Apache Kafka 4.3.1 lists them.
KAFKAS_NAMES = [
    "cleanup.policy",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "internal.segment.bytes",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
]


def test_every_topic_setting_of_kafka_is_there_and_ours_are_marked() -> None:
    assert sorted(key.name for key in LOG_CONFIG_KEYS.values() if not key.extension) == KAFKAS_NAMES
    assert [key.name for key in LOG_CONFIG_KEYS.values() if key.extension] == [
        "flush.on.ack",
        "decompressed.message.max.bytes",
    ]
    assert all(key.doc for key in LOG_CONFIG_KEYS.values())


def test_fields_and_keys_have_the_same_names_and_defaults() -> None:
    described = [key for key in LOG_CONFIG_KEYS.values() if not key.internal]
    assert {field.name for field in fields(LogConfig)} == {field_name(key.name) for key in described}
    assert {key.name: topic_value(DEFAULT_LOG_CONFIG, key.name) for key in described} == {
        key.name: key.default for key in described
    }


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("segment.bytes", "10", "Value must be at least 1048576"),
        ("segment.bytes", "abc", "Not a number of type INT"),
        ("segment.bytes", "99999999999", "Not a number of type INT"),
        ("min.cleanable.dirty.ratio", "2", "Value must be no more than 1"),
        ("cleanup.policy", "foo", "String must be one of: compact, delete"),
        ("compression.type", "xx", "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"),
        ("preallocate", "maybe", "Expected value to be either true or false"),
        ("retention.ms", "-2", "Value must be at least -1"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("compression.lz4.level", "77", "Value must be no more than 17"),
        ("message.timestamp.type", "x", "String must be one of: CreateTime, LogAppendTime"),
        ("local.retention.ms", "-3", "Value must be at least -2"),
        ("segment.ms", "1.5", "Not a number of type LONG"),
        (
            "leader.replication.throttled.replicas",
            "abc",
            "leader.replication.throttled.replicas must be the literal '*' or a list of replicas in the following "
            "format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
        ),
    ],
)
def test_bad_values_are_refused_in_kafkas_words(name: str, value: str, reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        LogConfig.parse({name: value})
    assert (refused.value.key, refused.value.reason) == (name, reason)


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        ({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}, "min.compaction.lag.ms"),
        ({"remote.storage.enable": "true", "cleanup.policy": "compact"}, "remote.storage.enable"),
        ({"remote.storage.enable": "true", "retention.ms": "10", "local.retention.ms": "11"}, "local.retention.ms"),
        ({"remote.storage.enable": "true", "retention.ms": "10", "local.retention.ms": "-1"}, "local.retention.ms"),
        (
            {"remote.storage.enable": "true", "remote.log.copy.disable": "true", "local.retention.bytes": "3"},
            "local.retention.bytes",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(overrides: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        LogConfig.parse(overrides)
    assert refused.value.key == key


def test_an_unknown_name_is_refused_with_a_hint() -> None:
    with pytest.raises(ConfigError, match=r"Unknown topic config name: retention\.mss, did you mean retention\.ms\?"):
        LogConfig.parse({"retention.mss": "1"})


def test_a_topic_overrides_the_brokers_defaults_and_no_more() -> None:
    broker = BROKER_LOG_CONFIG_KEYS.parse(
        {"log.retention.hours": "2", "log.cleanup.policy": "compact,delete", "log.roll.hours": "1", "log.roll.ms": "9"}
    )
    defaults = default_log_config(broker.values)
    assert (defaults.retention_ms, defaults.segment_ms) == (7_200_000, 9)
    assert defaults.cleanup_policy == {"compact", "delete"}
    topic = LogConfig.parse({"retention.ms": "5", "flush.on.ack": "true"}, defaults)
    assert (topic.retention_ms, topic.segment_ms, topic.flush_on_ack, topic.compact) == (5, 9, True, True)


def test_the_brokers_own_defaults_are_the_topics() -> None:
    assert default_log_config(BROKER_LOG_CONFIG_KEYS.parse({}).values) == DEFAULT_LOG_CONFIG


def test_directories_come_from_log_dirs_or_else_log_dir() -> None:
    assert log_directories(BROKER_LOG_CONFIG_KEYS.parse({"log.dirs": "/a, /b"}).values) == ("/a", "/b")
    assert log_directories(BROKER_LOG_CONFIG_KEYS.parse({"log.dir": "/c"}).values) == ("/c",)
    assert log_directories(BROKER_LOG_CONFIG_KEYS.parse({}).values) == ("/tmp/kafka-logs",)


def test_an_empty_cleanup_policy_keeps_everything() -> None:
    config = LogConfig.parse({"cleanup.policy": ""})
    assert (config.compact, config.delete) == (False, False)


def test_tests_may_have_tiny_segments() -> None:
    assert LogConfig.parse({"internal.segment.bytes": "100"}).segment_bytes == 100


def test_compacted_segments_are_closed_before_their_lag_is_over() -> None:
    config = LogConfig.parse({"cleanup.policy": "compact", "max.compaction.lag.ms": "50"})
    assert config.segment_ms_max == 50
    assert LogConfig.parse({"max.compaction.lag.ms": "50"}).segment_ms_max == config.segment_ms


def test_the_cleaners_memory_is_shared_by_its_threads() -> None:
    assert CleanerConfig.from_values(CLEANER_CONFIG_KEYS.parse({}).values) == CleanerConfig()
    halved = CLEANER_CONFIG_KEYS.parse({"log.cleaner.threads": "2", "log.cleaner.dedupe.buffer.size": "48000"})
    assert CleanerConfig.from_values(halved.values).keys_max == 900
