"""confluent-kafka's AdminClient: topics, partitions, configs, offsets, the cluster, SCRAM users, and its errors."""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import ElectionType, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from tests.clients.client import confluent
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.topic import create_with
from tests.kafka.server import Server

pytestmark = pytest.mark.client(confluent.NAME)


@pytest.fixture
def admin(server: Server) -> AdminClient:
    return AdminClient({"bootstrap.servers": server.bootstrap})


def done(futures: Mapping[Any, "Future[Any]"]) -> Any:
    """The result of the only future."""
    [future] = futures.values()
    return future.result(30)


def code_of(futures: Mapping[Any, "Future[Any]"]) -> int:
    """The error of the only future."""
    with pytest.raises(KafkaException) as refused:
        done(futures)
    code: int = refused.value.args[0].code()
    return code


def test_create_describe_and_delete_topics(admin: AdminClient, topic: str) -> None:
    """create_topics with a config, describe_topics, list_topics, delete_topics"""
    create_with(admin, NewTopic(topic, 3, 1, config={"retention.ms": "1234567"}))
    described = done(admin.describe_topics(TopicCollection([topic])))
    assert (described.name, described.is_internal, len(described.partitions)) == (topic, False, 3)
    assert [[node.id for node in partition.replicas] for partition in described.partitions] == [[1]] * 3
    assert [[node.id for node in partition.isr] for partition in described.partitions] == [[1]] * 3
    assert topic in admin.list_topics(timeout=30).topics
    done(admin.delete_topics([topic]))
    until(False, lambda: topic in admin.list_topics(timeout=30).topics)
    assert code_of(admin.describe_topics(TopicCollection([topic]))) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_create_topics_only_validated(admin: AdminClient, topic: str) -> None:
    """create_topics with validate_only creates nothing"""
    done(admin.create_topics([NewTopic(topic, 3, 1)], validate_only=True))
    assert topic not in admin.list_topics(timeout=30).topics


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"topic": "a/b"}, KafkaError.TOPIC_EXCEPTION),
        ({"num_partitions": 0}, KafkaError.INVALID_PARTITIONS),
        ({"replication_factor": 3}, KafkaError.INVALID_REPLICATION_FACTOR),
        ({"config": {"cleanup.policy": "nonsense"}}, KafkaError.INVALID_CONFIG),
        ({"config": {"no.such.config": "1"}}, KafkaError.INVALID_CONFIG),
        ({"config": {"segment.bytes": "1000"}}, KafkaError.INVALID_CONFIG),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else str(value),
)
def test_bad_topics_are_refused(admin: AdminClient, topic: str, change: dict[str, Any], code: int) -> None:
    """create_topics refuses bad names, counts, replication factors and configs with Kafka's codes"""
    wanted = {"topic": topic, "num_partitions": 1, "replication_factor": 1} | change
    assert code_of(admin.create_topics([NewTopic(**wanted)])) == code


def test_topic_that_exists(admin: AdminClient, topic: str) -> None:
    """create_topics of a topic that exists: TOPIC_ALREADY_EXISTS; delete_topics of one that does not"""
    create_with(admin, NewTopic(topic, 1, 1))
    assert code_of(admin.create_topics([NewTopic(topic, 1, 1)])) == KafkaError.TOPIC_ALREADY_EXISTS
    assert code_of(admin.delete_topics([f"{topic}-not"])) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_recreated_topic(server: Server, admin: AdminClient, topic: str) -> None:
    """a topic deleted and created again is empty and has another id"""
    ids = []
    for _ in range(2):
        create_with(admin, NewTopic(topic, 1, 1))
        ids.append(str(done(admin.describe_topics(TopicCollection([topic]))).topic_id))
        assert confluent.write(server.bootstrap, topic, [Record(b"k", b"v", (), 1)]) == [0]
        done(admin.delete_topics([topic]))
        until(False, lambda: topic in admin.list_topics(timeout=30).topics)
    assert ids[0] != ids[1]


def test_create_partitions(server: Server, admin: AdminClient, topic: str) -> None:
    """create_partitions adds partitions that take records at once; it never removes any"""
    create_with(admin, NewTopic(topic, 1, 1))
    done(admin.create_partitions([NewPartitions(topic, 4)]))
    client = confluent.producer(server.bootstrap)
    client.produce(topic, b"v", partition=3)
    assert client.flush(30) == 0
    assert code_of(admin.create_partitions([NewPartitions(topic, 2)])) == KafkaError.INVALID_PARTITIONS


def test_describe_configs(admin: AdminClient, topic: str) -> None:
    """describe_configs of topics and brokers: values, sources, synonyms"""
    create_with(admin, NewTopic(topic, 1, 1, config={"retention.ms": "1234567"}))
    configs = done(admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]))
    assert configs["retention.ms"].value == "1234567"
    assert configs["retention.ms"].source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    assert configs["cleanup.policy"].value == "delete"
    assert configs["cleanup.policy"].is_default
    assert set(configs["max.message.bytes"].synonyms) == {"message.max.bytes"}
    broker = done(admin.describe_configs([ConfigResource(ConfigResource.Type.BROKER, "1")]))
    assert (broker["node.id"].value, broker["node.id"].is_read_only) == ("1", True)
    assert broker["num.partitions"].source == ConfigSource.STATIC_BROKER_CONFIG.value


def test_alter_configs(admin: AdminClient, topic: str) -> None:
    """incremental_alter_configs sets, appends, subtracts and deletes; alter_configs replaces all"""
    create_with(admin, NewTopic(topic, 1, 1, config={"retention.ms": "1"}))
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)

    def alter(name: str, value: str | None, operation: AlterConfigOpType) -> None:
        entry = ConfigEntry(name, value, incremental_operation=operation)
        change = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        done(admin.incremental_alter_configs([change]))

    def value(name: str) -> str:
        found: str = done(admin.describe_configs([resource]))[name].value
        return found

    alter("max.message.bytes", "5000", AlterConfigOpType.SET)
    until("5000", lambda: value("max.message.bytes"))
    alter("cleanup.policy", "compact", AlterConfigOpType.APPEND)
    until("delete,compact", lambda: value("cleanup.policy"))
    alter("cleanup.policy", "delete", AlterConfigOpType.SUBTRACT)
    until("compact", lambda: value("cleanup.policy"))
    alter("retention.ms", None, AlterConfigOpType.DELETE)
    until("604800000", lambda: value("retention.ms"))
    with pytest.deprecated_call():
        futures = admin.alter_configs(
            [ConfigResource(ConfigResource.Type.TOPIC, topic, set_config={"segment.ms": "5000"})]
        )
    done(futures)
    until(("5000", "1048588"), lambda: (value("segment.ms"), value("max.message.bytes")))


def test_dynamic_broker_config(server: Server, admin: AdminClient, topic: str) -> None:
    """a broker setting changed at run time acts on topics at once, and is gone when deleted"""
    create_with(admin, NewTopic(topic, 1, 1))

    def alter(value: str | None, operation: AlterConfigOpType) -> None:
        entry = ConfigEntry("message.max.bytes", value, incremental_operation=operation)
        done(
            admin.incremental_alter_configs(
                [ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=[entry])]
            )
        )

    def limit() -> tuple[str, int]:
        found = done(admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]))["max.message.bytes"]
        return found.value, found.source

    alter("600", AlterConfigOpType.SET)
    try:
        until(("600", ConfigSource.DYNAMIC_BROKER_CONFIG.value), limit)
        with pytest.raises(KafkaException) as refused:
            confluent.write(server.bootstrap, topic, [Record(b"k", bytes(1000), (), 1)])
        assert refused.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
    finally:
        alter(None, AlterConfigOpType.DELETE)
    until(("1048588", ConfigSource.DEFAULT_CONFIG.value), limit)
    assert confluent.write(server.bootstrap, topic, [Record(b"k", bytes(1000), (), 1)]) == [0]


def test_configs_of_what_is_not_there(admin: AdminClient, topic: str) -> None:
    """configs of an unknown topic: UNKNOWN_TOPIC_OR_PART; bad values: INVALID_CONFIG"""
    unknown = ConfigResource(ConfigResource.Type.TOPIC, topic)
    assert code_of(admin.describe_configs([unknown])) == KafkaError.UNKNOWN_TOPIC_OR_PART
    create_with(admin, NewTopic(topic, 1, 1))
    entry = ConfigEntry("retention.ms", "soon", incremental_operation=AlterConfigOpType.SET)
    bad = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    assert code_of(admin.incremental_alter_configs([bad])) == KafkaError.INVALID_CONFIG


def test_delete_records(server: Server, admin: AdminClient, topic: str) -> None:
    """delete_records moves the start of a partition; what is before it is gone"""
    create_with(admin, NewTopic(topic, 1, 1))
    confluent.write(server.bootstrap, topic, [Record(b"k", b"%d" % number, (), 1) for number in range(10)])
    assert done(admin.delete_records([TopicPartition(topic, 0, 4)])).low_watermark == 4
    assert [record.value for record in confluent.read(server.bootstrap, topic, 6)] == [
        b"4",
        b"5",
        b"6",
        b"7",
        b"8",
        b"9",
    ]
    assert code_of(admin.delete_records([TopicPartition(topic, 0, 50)])) == KafkaError.OFFSET_OUT_OF_RANGE


def test_list_offsets(server: Server, admin: AdminClient, topic: str) -> None:
    """list_offsets: earliest, latest, by time, and the record with the largest time"""
    create_with(admin, NewTopic(topic, 1, 1))
    records = [Record(b"k", b"v", (), timestamp) for timestamp in (1_000, 9_000, 3_000)]
    for record in records:
        confluent.write(server.bootstrap, topic, [record])
    asked = {
        OffsetSpec.earliest(): 0,
        OffsetSpec.latest(): 3,
        OffsetSpec.max_timestamp(): 1,
        OffsetSpec.for_timestamp(2_000): 1,
    }
    for spec, offset in asked.items():
        assert done(admin.list_offsets({TopicPartition(topic, 0): spec})).offset == offset


def test_describe_cluster(server: Server, admin: AdminClient) -> None:
    """describe_cluster names the cluster, its nodes and a controller"""
    cluster = admin.describe_cluster().result(30)
    assert [(node.id, node.host, node.port) for node in cluster.nodes] == [(1, *server.address)]
    assert cluster.controller.id == 1
    assert cluster.cluster_id


def test_elect_leaders(admin: AdminClient, topic: str) -> None:
    """elect_leaders with nothing to do: ELECTION_NOT_NEEDED for each partition"""
    create_with(admin, NewTopic(topic, 1, 1))
    [error] = admin.elect_leaders(ElectionType.PREFERRED, [TopicPartition(topic, 0)]).result(30).values()
    assert error.code() == KafkaError.ELECTION_NOT_NEEDED


def test_scram_users(admin: AdminClient) -> None:
    """SCRAM users are created, described and deleted"""
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    done(admin.alter_user_scram_credentials([UserScramCredentialUpsertion("alice", info, b"secret", b"salt")]))
    described = done(admin.describe_user_scram_credentials(["alice"]))
    assert [(found.mechanism, found.iterations) for found in described.scram_credential_infos] == [
        (ScramMechanism.SCRAM_SHA_256, 4096)
    ]
    done(admin.alter_user_scram_credentials([UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_256)]))
    until(KafkaError.RESOURCE_NOT_FOUND, lambda: code_of(admin.describe_user_scram_credentials(["alice"])))


def test_acls_without_an_authorizer(admin: AdminClient) -> None:
    """ACL calls on a server without an authorizer: SECURITY_DISABLED"""
    rule = ("User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW)
    binding = AclBinding(ResourceType.TOPIC, "t", ResourcePatternType.LITERAL, *rule)
    assert code_of(admin.create_acls([binding])) == KafkaError.SECURITY_DISABLED
