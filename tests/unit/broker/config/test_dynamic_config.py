"""Dynamic configs from the image: what counts, who hears of it, what reaches the logs."""

import logging
from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from ottla.base.system_clock import SystemClock
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.listener_set import SERVER_LIMIT_KEYS, listener_limits
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, ResourceType
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage, Provenance
from ottla.net.limits import UNLIMITED
from ottla.protocol.errors import InvalidRequestError
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.topic import RemoveTopicRecord, TopicRecord
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.unit.broker.config.settings import config_of

BROKER = ConfigResource(ResourceType.BROKER, "1")
TOPIC = ConfigResource(ResourceType.TOPIC, "orders")
TOPIC_ID = Uuid(bytes(15) + b"\x07")


class Cluster:
    """An image that changes, with listeners told in order."""

    def __init__(self, *listeners: DynamicConfig) -> None:
        self.image: MetadataImage = EMPTY_IMAGE
        self._listeners = listeners

    def set(self, resource: ConfigResource, **configs: str | None) -> None:
        self.replay(
            *(
                ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=_dotted(name), value=value)
                for name, value in configs.items()
            )
        )

    def replay(self, *records: ConfigRecord | TopicRecord | RemoveTopicRecord) -> None:
        delta = MetadataDelta(self.image)
        delta.replay_all(records)
        self.image = delta.apply(Provenance(self.image.provenance.offset + 1, 1, 0))
        for listener in self._listeners:
            listener.metadata_changed(delta, self.image)


@pytest.fixture
def logs(tmp_path: Path) -> LogManager:
    directory = tmp_path / "logs"
    directory.mkdir()
    options = LogManagerOptions(directories=(str(directory),), disk=LocalDisk(), clock=SystemClock())
    manager = LogManager(options)
    manager.load()
    return manager


def _dotted(name: str) -> str:
    return name.replace("_", ".")


def test_a_broker_lies_over_the_cluster_and_that_over_the_file() -> None:
    dynamic = DynamicConfig(config_of(max_connections="1", log_retention_hours="3"))
    cluster = Cluster(dynamic)
    cluster.set(CLUSTER_DEFAULT, max_connections="2", log_retention_ms="500")
    assert dynamic.current.integer("max.connections") == 2
    assert dynamic.current.default_log_config.retention_ms == 500
    cluster.set(BROKER, max_connections="3")
    assert dynamic.current.integer("max.connections") == 3
    cluster.set(BROKER, max_connections=None)
    cluster.set(CLUSTER_DEFAULT, max_connections=None, log_retention_ms=None)
    assert dynamic.current.integer("max.connections") == 1
    assert dynamic.current.default_log_config.retention_ms == 3 * 3_600_000
    assert dynamic.static.integer("max.connections") == 1


def test_subscribers_hear_of_their_names_alone() -> None:
    dynamic, heard = DynamicConfig(config_of()), list[ServerConfig]()
    dynamic.subscribe({"max.connections", "max.connections.per.ip"}, heard.append)
    cluster = Cluster(dynamic)
    cluster.set(CLUSTER_DEFAULT, log_retention_ms="5")
    assert heard == []
    cluster.set(CLUSTER_DEFAULT, max_connections="5")
    cluster.set(BROKER, max_connections="5")
    assert [config.integer("max.connections") for config in heard] == [5]


def test_what_one_listener_has_of_its_own_is_a_change_too() -> None:
    dynamic, heard = DynamicConfig(config_of()), list[ServerConfig]()
    dynamic.subscribe(SERVER_LIMIT_KEYS, heard.append)
    cluster = Cluster(dynamic)
    cluster.set(BROKER, **{"listener.name.plaintext.max.connections": "5"})
    cluster.set(BROKER, **{"listener.name.plaintext.max.connection.creation.rate": "7"})
    limits = [listener_limits(config, "PLAINTEXT") for config in heard]
    assert (limits[0].connections_max, limits[0].connection_rate_max) == (5, UNLIMITED)
    assert limits[-1].connection_rate_max == 7


def test_the_schema_follows() -> None:
    config = config_of()
    schema = BrokerConfigSchema(config)
    Cluster(DynamicConfig(config, schema=schema)).set(CLUSTER_DEFAULT, min_insync_replicas="2")
    assert schema.default(CLUSTER_DEFAULT, "min.insync.replicas") == "2"


def test_other_brokers_configs_are_theirs() -> None:
    dynamic = DynamicConfig(config_of())
    Cluster(dynamic).set(ConfigResource(ResourceType.BROKER, "2"), max_connections="5")
    assert dynamic.current is dynamic.static


def test_stored_configs_that_cannot_be_used_are_named_and_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    dynamic = DynamicConfig(config_of())
    Cluster(dynamic).set(
        CLUSTER_DEFAULT, max_connections="x", listeners="PLAINTEXT://:1", num_partitions="9", log_retention_ms="5"
    )
    assert dynamic.cluster_configs == {"log.retention.ms": "5"}
    assert dynamic.current.default_log_config.retention_ms == 5
    text = "\n".join(record.getMessage() for record in caplog.records if record.levelno == logging.ERROR)
    assert "invalid values, these configs will be ignored: [max.connections]" in text
    assert "Non-dynamic configs will be ignored: [num.partitions]" in text
    assert "Per-broker configs defined at default cluster level will be ignored: [listeners]" in text


def test_configs_that_do_not_go_together_leave_all_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    dynamic = DynamicConfig(config_of())
    Cluster(dynamic).set(BROKER, max_connections_per_ip="0", max_connections="5")
    assert dynamic.current is dynamic.static
    assert "can be set to zero only if" in caplog.text


def test_an_interval_beyond_its_limit_counts_as_the_limit() -> None:
    dynamic = DynamicConfig(config_of(group_consumer_max_assignment_interval_ms="2000"))
    Cluster(dynamic).set(CLUSTER_DEFAULT, group_consumer_assignment_interval_ms="9000")
    assert dynamic.current.integer("group.consumer.assignment.interval.ms") == 2000


def test_topics_logs_get_their_configs_live(logs: LogManager) -> None:
    dynamic = DynamicConfig(config_of(), logs)
    cluster = Cluster(dynamic)
    cluster.replay(
        TopicRecord(name="orders", topic_id=TOPIC_ID),
        ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value="77"),
    )
    log = logs.get_or_create(TopicPartition("orders", 0), TOPIC_ID, is_new=True)
    assert log.config.segment_ms == 77
    cluster.set(TOPIC, segment_ms="78", retention_ms="9")
    assert (log.config.segment_ms, log.config.retention_ms) == (78, 9)
    cluster.set(CLUSTER_DEFAULT, log_retention_ms="5", log_segment_bytes="2097152")
    assert (log.config.retention_ms, log.config.segment_bytes) == (9, 2_097_152)
    cluster.set(TOPIC, segment_ms=None, retention_ms=None)
    assert log.config.retention_ms == 5


def test_a_removed_topic_leaves_nothing_to_one_by_the_same_name(logs: LogManager) -> None:
    cluster = Cluster(DynamicConfig(config_of(), logs))
    cluster.replay(
        TopicRecord(name="orders", topic_id=TOPIC_ID),
        ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value="77"),
    )
    cluster.replay(RemoveTopicRecord(topic_id=TOPIC_ID))
    assert logs.configs.get("orders").segment_ms != 77


def test_a_topics_unknown_and_bad_configs_are_ignored(logs: LogManager, caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster(DynamicConfig(config_of(), logs))
    cluster.set(TOPIC, of_the_future="1", segment_bytes="1", retention_ms="9")
    assert logs.configs.get("orders").retention_ms == 9
    assert "which is unknown and ignored" in caplog.text
    assert "Value must be at least" in caplog.text


def test_configs_that_logs_were_loaded_with_are_not_applied_again(logs: LogManager) -> None:
    first = Cluster()
    first.set(TOPIC, segment_ms="77")
    dynamic = DynamicConfig(config_of(), logs)
    assert dynamic.topic_overrides(first.image) == {"orders": {"segment.ms": "77"}}
    second = Cluster(dynamic)
    second.set(TOPIC, segment_ms="77")
    assert logs.configs.get("orders").segment_ms != 77
    second.set(TOPIC, segment_ms="78")
    assert logs.configs.get("orders").segment_ms == 78


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"num.io.threads": "100"}, "value should not be greater than double the current value 8"),
        ({"num.io.threads": "1"}, "value should be at least half the current value 8"),
        ({"log.cleaner.threads": "0"}, "log.cleaner.threads must be greater"),
        ({"log.retention.ms": "5", "log.local.retention.ms": "6"}, "must not be more than log.retention.ms"),
        ({"log.retention.ms": "5", "log.local.retention.ms": "-1"}, "Value must not be -1"),
        ({"node.id": "3"}, "Cannot update these configs dynamically: [node.id]"),
        ({"max.connections.per.ip": "0"}, "zero only if"),
        ({"cordoned.log.dirs": "/elsewhere"}, "Missing entries"),
    ],
)
def test_a_change_that_this_node_could_not_make_is_refused(configs: dict[str, str], message: str) -> None:
    dynamic = DynamicConfig(config_of())
    with pytest.raises(InvalidRequestError) as caught:
        dynamic.validate_broker_change(configs, per_broker=True)
    assert message in str(caught.value)


def test_a_change_that_this_node_can_make_is_allowed() -> None:
    dynamic = DynamicConfig(config_of())
    dynamic.validate_broker_change({"num.io.threads": "16", "unknown": "x"}, per_broker=True)
    dynamic.validate_broker_change({"log.retention.ms": "5"}, per_broker=False)
    with pytest.raises(InvalidRequestError, match="broker id must be specified"):
        dynamic.validate_broker_change({"listeners": "PLAINTEXT://:1"}, per_broker=False)


def test_what_is_stored_and_does_not_count_stands_in_no_ones_way() -> None:
    dynamic = DynamicConfig(config_of())
    Cluster(dynamic).set(BROKER, node_id="7", max_connections="x")
    dynamic.validate_broker_change(
        {"node.id": "7", "max.connections": "x", "max.connections.per.ip": "5"}, per_broker=True
    )
    with pytest.raises(InvalidRequestError, match=r"\[node\.id\]"):
        dynamic.validate_broker_change({"node.id": "8"}, per_broker=True)
