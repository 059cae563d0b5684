"""What the controller lets topics, brokers, groups and client metrics have, and with which code it refuses."""

import pytest

from ottla.broker.config.schema import BrokerConfigSchema
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, ResourceType
from ottla.protocol.config_source import ConfigSource
from ottla.protocol.errors import ApiError, InvalidConfigError, InvalidRequestError, InvalidTopicError
from tests.unit.broker.config.settings import config_of

TOPIC = ConfigResource(ResourceType.TOPIC, "orders")
BROKER = ConfigResource(ResourceType.BROKER, "1")
GROUP = ConfigResource(ResourceType.GROUP, "team")
METRICS = ConfigResource(ResourceType.CLIENT_METRICS, "subscription")
SCHEMA = BrokerConfigSchema(config_of(log_retention_hours="2", min_insync_replicas="2"))
TIERED = BrokerConfigSchema(config_of(remote_log_storage_system_enable="true"))


@pytest.mark.parametrize(
    ("resource", "configs", "error", "message"),
    [
        (TOPIC, {"retention.mss": "1"}, InvalidConfigError, "Unknown topic config name: retention.mss"),
        (TOPIC, {"retention.ms": "x"}, InvalidConfigError,
         "Invalid value x for configuration retention.ms: Not a number of type LONG"),
        (TOPIC, {"segment.bytes": "1000"}, InvalidConfigError, "Value must be at least 1048576"),
        (TOPIC, {"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"}, InvalidConfigError,
         "conflict topic config setting min.compaction.lag.ms (5) > max.compaction.lag.ms (4)"),
        (TOPIC, {"remote.storage.enable": "true"}, InvalidConfigError, "Tiered Storage functionality is disabled"),
        (ConfigResource(ResourceType.TOPIC, ""), {}, InvalidRequestError, "Default topic resources"),
        (ConfigResource(ResourceType.TOPIC, "a b"), {}, InvalidTopicError, "Topic name is invalid"),
        (BROKER, {"log.retention.ms": "soon"}, InvalidRequestError,
         "Invalid value soon for configuration log.retention.ms: Not a number of type LONG"),
        (BROKER, {"node.id": "2", "num.partitions": "2"}, InvalidRequestError,
         "Cannot update these configs dynamically: [node.id, num.partitions]"),
        (BROKER, {"ssl.keystore.location": "/k"}, InvalidRequestError, "only per-listener using the listener prefix"),
        (CLUSTER_DEFAULT, {"listeners": "PLAINTEXT://:1"}, InvalidRequestError,
         "Cannot update these configs at default cluster level, broker id must be specified: [listeners]"),
        (CLUSTER_DEFAULT, {"listener.name.a.ssl.keystore.type": "PEM"}, InvalidRequestError, "broker id must be"),
        (ConfigResource(ResourceType.BROKER, "one"), {}, InvalidRequestError, "base 10 number"),
        (ConfigResource(ResourceType.BROKER, "-1"), {}, InvalidRequestError, "Invalid negative broker ID."),
        (GROUP, {"consumer.session.timeout.m": "1"}, InvalidConfigError, "Unknown group config name"),
        (GROUP, {"consumer.session.timeout.ms": "1"}, InvalidConfigError,
         "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms"),
        (GROUP, {"share.delivery.count.limit": "11"}, InvalidConfigError, "group.share.max.delivery.count.limit"),
        (GROUP, {"streams.num.standby.replicas": "3"}, InvalidConfigError, "group.streams.max.standby.replicas"),
        (GROUP, {"share.auto.offset.reset": "yesterday"}, InvalidConfigError, "share.auto.offset.reset"),
        (ConfigResource(ResourceType.GROUP, ""), {}, InvalidRequestError, "Default group resources"),
        (METRICS, {"metric": "*"}, InvalidRequestError, "Unknown client metrics configuration: metric"),
        (METRICS, {"interval.ms": "10"}, InvalidRequestError, "interval must be between 100 and 3600000 (1 hour)"),
        (METRICS, {"interval.ms": "often"}, InvalidConfigError, "Not a number of type INT"),
        (METRICS, {"match": "client_id"}, InvalidConfigError, "Illegal client matching pattern: client_id"),
        (METRICS, {"match": "client_id=["}, InvalidConfigError, "Illegal client matching pattern: client_id=["),
        (ConfigResource(ResourceType.CLIENT_METRICS, ""), {}, InvalidRequestError, "can't be empty"),
        (ConfigResource(ResourceType.BROKER_LOGGER, "1"), {}, InvalidRequestError, "Unknown resource type"),
    ],
)  # fmt: skip
def test_what_may_not_be_is_refused(
    resource: ConfigResource, configs: dict[str, str], error: type[ApiError], message: str
) -> None:
    with pytest.raises(error) as caught:
        SCHEMA.validate(resource, configs, {})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("resource", "configs"),
    [
        (TOPIC, {"cleanup.policy": "", "segment.ms": "1"}),
        (BROKER, {"log.retention.ms": "5", "not.a.key": "x", "listener.name.a.ssl.keystore.type": "PEM"}),
        (CLUSTER_DEFAULT, {"leader.replication.throttled.rate": "5", "max.connections": "7"}),
        (GROUP, {"share.auto.offset.reset": "by_duration:PT1H30M", "consumer.session.timeout.ms": "50000"}),
        (METRICS, {"metrics": "*", "match": "client_id=a.*,client_software_name=x", "interval.ms": "100"}),
    ],
)
def test_what_may_be_is_allowed(resource: ConfigResource, configs: dict[str, str]) -> None:
    SCHEMA.validate(resource, configs, {})


def test_what_a_broker_was_given_before_does_not_stand_in_the_way() -> None:
    existing = {"node.id": "5", "log.retention.ms": "bad"}
    SCHEMA.validate(BROKER, existing | {"max.connections": "5"}, existing)


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"cleanup.policy": "compact"}, "Remote log storage only supports topics with cleanup.policy=delete"),
        ({"local.retention.ms": "-1", "retention.ms": "5"}, "Value must not be -1 as retention.ms value is set as 5."),
        ({"local.retention.bytes": "9", "retention.bytes": "5"}, "must not be more than retention.bytes"),
        ({"remote.log.copy.disable": "true", "local.retention.ms": "1", "retention.ms": "5"},
         "must be set to the identical value"),
    ],
)  # fmt: skip
def test_tiered_topics_have_rules_of_their_own(configs: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidConfigError) as caught:
        TIERED.validate(TOPIC, {"remote.storage.enable": "true"} | configs, {})
    assert message in str(caught.value)


def test_tiering_is_not_turned_off_by_accident() -> None:
    existing = {"remote.storage.enable": "true"}
    TIERED.validate(TOPIC, existing, {})
    with pytest.raises(InvalidConfigError, match="without deleting remote data"):
        TIERED.validate(TOPIC, {"remote.storage.enable": "false"}, existing)
    TIERED.validate(TOPIC, {"remote.storage.enable": "false", "remote.log.delete.on.disable": "true"}, existing)


def test_lists_of_topics_and_brokers_can_be_appended_to() -> None:
    assert SCHEMA.is_list(TOPIC, "cleanup.policy")
    assert SCHEMA.is_list(CLUSTER_DEFAULT, "metric.reporters")
    assert not SCHEMA.is_list(TOPIC, "segment.ms")
    assert not SCHEMA.is_list(METRICS, "metrics")
    assert not SCHEMA.is_list(TOPIC, "unknown")


def test_defaults_are_the_nodes_own_where_they_are_not_lists() -> None:
    assert SCHEMA.default(CLUSTER_DEFAULT, "min.insync.replicas") == "2"
    assert SCHEMA.default(BROKER, "num.partitions") == "1"
    assert SCHEMA.default(TOPIC, "cleanup.policy") == "delete"
    assert SCHEMA.default(BROKER, "node.id") == "1"
    assert SCHEMA.default(BROKER, "process.roles") is None
    assert SCHEMA.default(TOPIC, "unknown") is None


def test_only_declared_keys_are_supported_but_for_brokers() -> None:
    assert SCHEMA.supports(ResourceType.TOPIC, "retention.ms")
    assert not SCHEMA.supports(ResourceType.TOPIC, "retention.mss")
    assert SCHEMA.supports(ResourceType.BROKER, "anything")
    assert SCHEMA.supports(ResourceType.GROUP, "share.isolation.level")
    assert not SCHEMA.supports(ResourceType.BROKER_LOGGER, "root")


def test_a_new_topics_configs_come_from_the_nearest_source() -> None:
    entries = {
        entry.name: (entry.value, entry.config_source)
        for entry in SCHEMA.topic_configs(
            {"segment.ms": "7"}, {"log.roll.ms": "8", "compression.type": "zstd"}, {"compression.type": "lz4"}
        )
    }
    assert entries["segment.ms"] == ("7", ConfigSource.DYNAMIC_TOPIC_CONFIG)
    assert entries["compression.type"] == ("zstd", ConfigSource.DYNAMIC_BROKER_CONFIG)
    assert entries["retention.ms"] == ("7200000", ConfigSource.STATIC_BROKER_CONFIG)
    assert entries["min.insync.replicas"] == ("2", ConfigSource.STATIC_BROKER_CONFIG)
    assert entries["flush.ms"] == ("9223372036854775807", ConfigSource.DEFAULT_CONFIG)
    assert list(entries) == sorted(entries)
    assert "internal.segment.bytes" not in entries


def test_topics_that_inherit_the_same_see_each_change() -> None:
    schema = BrokerConfigSchema(SCHEMA.config)
    node, cluster = {"compression.type": "zstd"}, {"log.flush.interval.ms": "5"}

    def values(topic: dict[str, str]) -> tuple[str | None, str | None]:
        found = {entry.name: entry.value for entry in schema.topic_configs(topic, node, cluster)}
        return found["compression.type"], found["flush.ms"]

    assert [values({}), values({"flush.ms": "7"}), values({})] == [("zstd", "5"), ("zstd", "7"), ("zstd", "5")]
    node = {}
    assert values({}) == ("producer", "5")
    cluster = {}
    schema.config = config_of(log_flush_interval_ms="9")
    assert values({}) == ("producer", "9")
