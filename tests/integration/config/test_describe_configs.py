"""What DescribeConfigs says of every kind of resource: our entries beside those of a running Apache Kafka."""

import time
from collections.abc import Iterator, Mapping, Sequence

import pytest

from ottla.base.ids import Uuid
from ottla.broker.config.description import DescribeOptions, describe_configs
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.broker.config.loading import load_server_config
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, Provenance
from ottla.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.topic import TopicRecord
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS
from tests.kafka.peer import KafkaServer, require_kafka
from tests.kafka.wire import Wire

pytestmark = pytest.mark.long

TOPIC = ConfigResource(ResourceType.TOPIC, "described")
PLAIN_TOPIC = ConfigResource(ResourceType.TOPIC, "plain")
BROKER = ConfigResource(ResourceType.BROKER, "1")
CLUSTER = ConfigResource(ResourceType.BROKER, "")
GROUP = ConfigResource(ResourceType.GROUP, "team")
METRICS = ConfigResource(ResourceType.CLIENT_METRICS, "subscription")

CONFIGS: dict[ConfigResource, dict[str, str]] = {
    TOPIC: {"cleanup.policy": "compact, delete,compact", "segment.ms": "700000", "min.cleanable.dirty.ratio": "0.10",
            "retention.ms": "-1"},
    PLAIN_TOPIC: {},
    BROKER: {"log.segment.bytes": "2097152", "log.retention.ms": "360000", "log.roll.ms": "7200000",
             "leader.replication.throttled.rate": "1000", "not.a.key": "x",
             "listener.name.plaintext.max.connections": "77"},
    CLUSTER: {"log.retention.ms": "480000", "max.connections": "500", "compression.type": "zstd",
              "min.insync.replicas": "1", "not.a.cluster.key": "y"},
    GROUP: {"consumer.session.timeout.ms": "50000", "share.isolation.level": "read_committed"},
    METRICS: {"metrics": "org.apache.kafka.producer.,org.apache.kafka.consumer.", "match": "client_id=a.*"},
}  # fmt: skip
SETTINGS = {
    "log.retention.hours": "100",
    "log.roll.hours": "50",
    "log.cleanup.policy": "delete",
    "num.io.threads": " 4 ",
    "ssl.keystore.password": "secret",
    "super.users": "User:admin",
    "log.flush.scheduler.interval.ms": "5000",
    "listener.name.plaintext.ssl.keystore.password": "hidden",
    "delegation.token.secret.key": "token-secret",
    "message.max.bytes": "2000000",
    "group.consumer.session.timeout.ms": "46000",
}
EXTENSIONS = {key.name for keys in (SERVER_KEYS, LOG_CONFIG_KEYS) for key in keys.values() if key.extension}

_AWAITED = {
    (BROKER, "log.roll.ms"): "7200000",
    (CLUSTER, "max.connections"): "500",
    (METRICS, "match"): "client_id=a.*",
}
"""What shows that the broker has heard of everything: it is told apart from who answers the change."""

Described = dict[str, tuple[object, ...]]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    require_kafka()
    server = KafkaServer(tmp_path_factory.mktemp("kafka"), **SETTINGS)
    server.format("Y2hhcnRlcmVkLWNsdXN0ZQ")
    server.start()
    try:
        with Wire(server.address) as wire:
            _set_up(wire)
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def ours(kafka: KafkaServer) -> tuple[DynamicConfig, MetadataDelta]:
    """Our own state with the same file and the same dynamic configs."""
    config = load_server_config(kafka.config)
    dynamic = DynamicConfig(config, None, BrokerConfigSchema(config))
    delta = MetadataDelta(EMPTY_IMAGE)
    for number, resource in enumerate(CONFIGS):
        if resource.type == ResourceType.TOPIC:
            delta.replay(TopicRecord(name=resource.name, topic_id=Uuid(100 + number)))
        for name, value in CONFIGS[resource].items():
            delta.replay(ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value))
    dynamic.metadata_changed(delta, delta.apply(Provenance(1, 1, 0)))
    return dynamic, delta


@pytest.mark.parametrize("resource", list(CONFIGS), ids=lambda resource: f"{resource.type}:{resource.name}")
def test_entries_are_those_of_kafka(
    kafka: KafkaServer, ours: tuple[DynamicConfig, MetadataDelta], resource: ConfigResource
) -> None:
    dynamic, delta = ours
    image = delta.apply(Provenance(1, 1, 0))
    options = DescribeOptions(include_synonyms=True)
    expected = _of_kafka(kafka, resource)
    found = _shown(describe_configs(dynamic, image, resource, options))
    assert {name: entry for name, entry in found.items() if name not in EXTENSIONS} == expected


def test_asked_for_keys_alone_are_described(kafka: KafkaServer, ours: tuple[DynamicConfig, MetadataDelta]) -> None:
    dynamic, delta = ours
    image = delta.apply(Provenance(1, 1, 0))
    names = ["log.retention.ms", "nonsense", "node.id"]
    found = _shown(describe_configs(dynamic, image, BROKER, DescribeOptions(names)))
    assert found == _of_kafka(kafka, BROKER, names, include_synonyms=False)


def test_a_new_topic_has_kafkas_configs_and_sources(
    kafka: KafkaServer, ours: tuple[DynamicConfig, MetadataDelta]
) -> None:
    configs = CONFIGS[TOPIC]
    schema = BrokerConfigSchema(ours[0].static)
    found = [
        (entry.name, entry.value, entry.read_only, entry.config_source, entry.is_sensitive)
        for entry in schema.topic_configs(configs, CONFIGS[BROKER], CONFIGS[CLUSTER])
        if entry.name not in EXTENSIONS
    ]
    with Wire(kafka.address) as wire:
        answer = wire.ask(_creation("another", configs), 7)
    assert isinstance(answer, CreateTopicsResponse)
    assert found == [
        (entry.name, entry.value, entry.read_only, entry.config_source, entry.is_sensitive)
        for entry in answer.topics[0].configs or []
    ]


def _set_up(wire: Wire) -> None:
    for resource, configs in CONFIGS.items():
        if resource.type == ResourceType.TOPIC:
            created = wire.ask(_creation(resource.name, configs), 7)
            assert isinstance(created, CreateTopicsResponse)
            assert not created.topics[0].error_code, created
        else:
            answer = wire.ask(_change(resource, configs), 1)
            assert isinstance(answer, IncrementalAlterConfigsResponse)
            assert not answer.responses[0].error_code, answer
    deadline = time.monotonic() + 30
    while not all(_entry_of(wire, *place) == value for place, value in _AWAITED.items()):
        assert time.monotonic() < deadline, "Kafka did not apply the dynamic configs"
        time.sleep(0.05)


def _creation(name: str, configs: Mapping[str, str]) -> CreateTopicsRequest:
    entries = [CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=entries)
    return CreateTopicsRequest(topics=[topic], timeout_ms=30_000)


def _change(resource: ConfigResource, configs: Mapping[str, str]) -> IncrementalAlterConfigsRequest:
    entries = [AlterableConfig(name=key, config_operation=0, value=value) for key, value in configs.items()]
    changed = AlterConfigsResource(resource_type=resource.type, resource_name=resource.name, configs=entries)
    return IncrementalAlterConfigsRequest(resources=[changed])


def _entry_of(wire: Wire, resource: ConfigResource, name: str) -> str | None:
    entries = _ask(wire, resource, [name], include_synonyms=False)
    return entries[0].value if entries else None


def _ask(
    wire: Wire, resource: ConfigResource, names: Sequence[str] | None, *, include_synonyms: bool
) -> list[DescribeConfigsResourceResult]:
    wanted = DescribeConfigsResource(
        resource_type=resource.type,
        resource_name=resource.name,
        configuration_keys=None if names is None else list(names),
    )
    answer = wire.ask(DescribeConfigsRequest(resources=[wanted], include_synonyms=include_synonyms), 4)
    assert isinstance(answer, DescribeConfigsResponse)
    assert not answer.results[0].error_code, answer
    return answer.results[0].configs


def _of_kafka(
    kafka: KafkaServer, resource: ConfigResource, names: Sequence[str] | None = None, *, include_synonyms: bool = True
) -> Described:
    with Wire(kafka.address) as wire:
        return _shown(_ask(wire, resource, names, include_synonyms=include_synonyms))


def _shown(entries: Sequence[DescribeConfigsResourceResult]) -> Described:
    return {
        entry.name: (
            entry.value,
            entry.config_source,
            entry.read_only,
            entry.is_sensitive,
            entry.config_type,
            [(synonym.name, synonym.value, synonym.source) for synonym in entry.synonyms],
            entry.documentation,
        )
        for entry in entries
    }
