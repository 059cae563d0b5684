"""The admin client on a running server, ours or Apache Kafka's (`OTTLA_TEST_PEER`)."""

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from ottla.base.config import ConfigError
from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.config import (
    AlterConfigOp,
    AlterConfigOpType,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
)
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.quota import CLIENT_ID, USER, ClientQuotaAlteration, ClientQuotaEntity, QuotaFilterPart
from ottla.client.admin.value.replica import ElectionType, PartitionReassignment, TopicPartitionReplica
from ottla.client.admin.value.scram import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from ottla.client.admin.value.topic import NewPartitions, NewTopic
from ottla.client.errors import NoBrokersAvailableError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.errors import (
    ElectionNotNeededError,
    GroupIdNotFoundError,
    InvalidConfigError,
    InvalidPartitionsError,
    LogDirNotFoundError,
    NoReassignmentInProgressError,
    PolicyViolationError,
    ResourceNotFoundError,
    SecurityDisabledError,
    TopicAlreadyExistsError,
    TransactionalIdNotFoundError,
    UnknownTopicOrPartitionError,
)
from tests.clients.client import confluent
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.server import CLUSTER_ID, kinds, start_server
from tests.kafka.port import free_port
from tests.kafka.server import Server

_numbers = itertools.count(1)


@pytest.fixture(scope="module", params=kinds())
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(request.param, tmp_path_factory.mktemp("admin"))
    yield server
    server.stop()


@pytest.fixture
def admin(server: Server) -> Iterator[Admin]:
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        yield admin


@pytest.fixture
def topic(admin: Admin) -> str:
    """A topic of two partitions that nobody else uses."""
    name = f"topic-{next(_numbers)}"
    admin.create_topics([NewTopic(name, partitions=2)])
    until(True, lambda: name in admin.list_topics())
    return name


def _write(server: Server, topic: str, count: int) -> None:
    confluent.write(server.bootstrap, topic, [Record(None, b"v", (), number + 1) for number in range(count)])


def test_topics_are_created_described_grown_and_deleted(admin: Admin) -> None:
    created = admin.create_topics([NewTopic("life", partitions=3, configs={"retention.ms": "5000"})])["life"]
    assert (created.partitions, created.replication_factor) == (3, 1)
    assert created.configs is not None
    assert created.configs["retention.ms"].value == "5000"
    until(True, lambda: "life" in admin.list_topics())
    described = admin.describe_topics(["life"], page_partitions=2)["life"]
    assert [(part.partition, part.leader, part.replicas, part.isr) for part in described.partitions] == [
        (number, 1, (1,), (1,)) for number in range(3)
    ]
    assert admin.describe_topics_by_id([created.topic_id])[created.topic_id].name == "life"
    with pytest.raises(TopicAlreadyExistsError, match="Topic 'life' already exists"):
        admin.create_topics([NewTopic("life")])
    with pytest.raises(InvalidPartitionsError):
        admin.create_partitions({"life": 3})
    admin.create_partitions({"life": NewPartitions(5, [[1], [1]])})
    until(5, lambda: len(admin.describe_topics(["life"])["life"].partitions))
    admin.delete_topics_by_id([created.topic_id])
    until(False, lambda: "life" in admin.list_topics())


def test_a_dry_run_creates_nothing(admin: Admin) -> None:
    admin.create_topics([NewTopic("only-checked")], validate_only=True)
    errors: dict[str, OttlaError] = {}
    assert admin.describe_topics(["only-checked"], errors=errors) == {}
    assert isinstance(errors["only-checked"], UnknownTopicOrPartitionError)


def test_some_may_fail_while_others_succeed(admin: Admin, topic: str) -> None:
    errors: dict[str, OttlaError] = {}
    admin.delete_topics([topic, "no-such-topic"], errors=errors)
    assert list(errors) == ["no-such-topic"]
    with pytest.raises(UnknownTopicOrPartitionError) as raised:
        admin.delete_topics(["no-such-topic"])
    assert raised.value.__notes__ == ["This is about 'no-such-topic'."]


def test_offsets_and_deleted_records(admin: Admin, server: Server, topic: str) -> None:
    _write(server, topic, 5)
    first = TopicPartition(topic, 0)
    assert admin.list_offsets({first: OffsetSpec.LATEST})[first].offset == 5
    assert admin.list_offsets({first: 3})[first][:2] == (2, 3)
    found = admin.list_offsets({first: OffsetSpec.MAX_TIMESTAMP, TopicPartition(topic, 1): OffsetSpec.MAX_TIMESTAMP})
    assert [offset[:2] for offset in found.values()] == [(4, 5), (-1, -1)]
    assert admin.delete_records({first: 2}) == {first: 2}
    assert admin.list_offsets({first: OffsetSpec.EARLIEST})[first].offset == 2
    assert admin.delete_records({first: -1}) == {first: 5}


def test_records_of_a_compacted_topic_stay(admin: Admin) -> None:
    admin.create_topics([NewTopic("compacted", configs={"cleanup.policy": "compact"})])
    with pytest.raises(PolicyViolationError):
        admin.delete_records({TopicPartition("compacted", 0): 0})


def test_configs(admin: Admin, topic: str) -> None:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    admin.incremental_alter_configs(
        {resource: [AlterConfigOp("retention.ms", "7000"), AlterConfigOp("cleanup.policy", "compact,delete")]}
    )
    until("7000", lambda: admin.describe_configs([resource])[resource]["retention.ms"].value)
    entry = admin.describe_configs([resource], include_synonyms=True)[resource]["cleanup.policy"]
    assert [(synonym.source.name, synonym.value) for synonym in entry.synonyms] == [
        ("DYNAMIC_TOPIC_CONFIG", "compact,delete"),
        ("DEFAULT_CONFIG", "delete"),
    ]
    admin.incremental_alter_configs(
        {
            resource: [
                AlterConfigOp("retention.ms", op_type=AlterConfigOpType.DELETE),
                AlterConfigOp("cleanup.policy", "compact", AlterConfigOpType.SUBTRACT),
            ]
        }
    )
    until(ConfigSource.DEFAULT_CONFIG, lambda: admin.describe_configs([resource])[resource]["retention.ms"].source)
    with pytest.raises(InvalidConfigError, match="nonsense"):
        admin.incremental_alter_configs({resource: [AlterConfigOp("nonsense", "1")]})
    broker = ConfigResource(ConfigResourceType.BROKER, "1")
    assert admin.describe_configs([broker])[broker]["node.id"].value == "1"
    assert resource in admin.list_config_resources([ConfigResourceType.TOPIC])


def test_client_metrics_subscriptions(admin: Admin) -> None:
    resource = ConfigResource(ConfigResourceType.CLIENT_METRICS, "watch")
    admin.incremental_alter_configs({resource: [AlterConfigOp("interval.ms", "60000")]})
    until(["watch"], admin.list_client_metrics_resources)
    admin.incremental_alter_configs({resource: [AlterConfigOp("interval.ms", op_type=AlterConfigOpType.DELETE)]})
    until([], admin.list_client_metrics_resources)


def test_the_cluster(admin: Admin, server: Server) -> None:
    cluster = admin.describe_cluster(include_authorized_operations=True)
    assert cluster.cluster_id == CLUSTER_ID
    assert [(node.id, node.host, node.port) for node in cluster.nodes] == [(1, "127.0.0.1", server.port)]
    assert cluster.controller == cluster.nodes[0]
    assert cluster.authorized_operations
    features = admin.describe_features(1)
    assert features.finalized["group.version"] == (1, 1)
    assert features.supported["kraft.version"] == (0, 1)
    served = {found.api_key: found for found in admin.describe_api_versions()}
    assert served[1].highest == 18
    quorum = admin.describe_metadata_quorum()
    assert (quorum.leader_id, [voter.replica_id for voter in quorum.voters]) == (1, [1])
    assert [end.port for end in quorum.nodes[1]] == [server.controller_port]


def test_controllers_are_asked_without_a_broker(server: Server) -> None:
    with Admin(bootstrap_controllers=f"127.0.0.1:{server.controller_port}") as admin:
        assert [node.port for node in admin.describe_cluster().nodes] == [server.controller_port]
        assert admin.describe_metadata_quorum().leader_id == 1
        broker = ConfigResource(ConfigResourceType.BROKER, "1")
        assert admin.describe_configs([broker])[broker]["node.id"].value == "1"


def test_leaders_and_reassignments(admin: Admin, topic: str) -> None:
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    errors: dict[TopicPartition, OttlaError] = {}
    assert admin.elect_leaders(ElectionType.PREFERRED, [first], errors=errors) == []
    assert isinstance(errors[first], ElectionNotNeededError)
    assert admin.elect_leaders(ElectionType.PREFERRED) == []
    errors.clear()
    admin.alter_partition_reassignments({first: [1], second: None}, errors=errors)
    assert {part: type(error) for part, error in errors.items()} == {second: NoReassignmentInProgressError}
    # A move to a broker that isn't there would never end; this one has ended as soon as it began.
    assert admin.list_partition_reassignments([first]) in ({}, {first: PartitionReassignment((1,), (), ())})


def test_log_directories(admin: Admin, server: Server, topic: str) -> None:
    _write(server, topic, 3)
    first = TopicPartition(topic, 0)
    [(path, directory)] = admin.describe_log_dirs([1], [first])[1].items()
    assert path == str(server.log_directory)
    size = (server.log_directory / f"{topic}-0" / f"{0:020}.log").stat().st_size
    assert directory.replicas[first] == (size, 0, False)
    assert directory.error is None
    with pytest.raises(LogDirNotFoundError):
        admin.alter_replica_log_dirs({TopicPartitionReplica(topic, 0, 1): "/nowhere"})
    admin.alter_replica_log_dirs({TopicPartitionReplica(topic, 0, 1): path})


def test_groups_and_their_offsets(admin: Admin, topic: str) -> None:
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    admin.alter_consumer_group_offsets("readers", {first: 3, second: OffsetAndMetadata(4, "noted")})
    [listed] = [group for group in admin.list_groups() if group.group_id == "readers"]
    assert (listed.type, listed.protocol, listed.state) == ("Classic", "", "Empty")
    assert listed.is_simple_consumer_group
    assert admin.list_groups(states=["Stable"]) == []
    group = admin.describe_consumer_groups(["readers"])["readers"]
    assert (group.is_simple, group.members, group.state, group.coordinator.id) == (True, (), "Empty", 1)
    assert admin.list_consumer_group_offsets({"readers": None}) == {
        "readers": {first: OffsetAndMetadata(3), second: OffsetAndMetadata(4, "noted")}
    }
    admin.delete_consumer_group_offsets("readers", [first])
    assert admin.list_consumer_group_offsets({"readers": [first, second]})["readers"][first] is None
    errors: dict[str, OttlaError] = {}
    admin.delete_groups(["readers", "nobody"], errors=errors)
    assert {group: type(error) for group, error in errors.items()} == {"nobody": GroupIdNotFoundError}
    with pytest.raises(GroupIdNotFoundError, match="Group readers not found"):
        admin.describe_consumer_groups(["readers"])


def test_members_are_described_and_removed(admin: Admin, server: Server, topic: str) -> None:
    settings = {"group.id": "members", "group.instance.id": "one", "auto.offset.reset": "earliest"}
    consumer = confluent.Consumer({"bootstrap.servers": server.bootstrap, **settings})
    consumer.subscribe([topic])
    try:
        until(True, lambda: consumer.poll(0.1) is None and bool(consumer.assignment()))
        group = admin.describe_consumer_groups(["members"])["members"]
        [member] = group.members
        assert (group.state, group.type, group.assignor) == ("Stable", "Classic", "range")
        assert member.instance_id == "one"
        assert member.assignment == {TopicPartition(topic, 0), TopicPartition(topic, 1)}
        admin.remove_members("members", ["one"], reason="test")
        until((), lambda: admin.describe_consumer_groups(["members"])["members"].members)
    finally:
        consumer.close()


def test_transactions(admin: Admin, server: Server, topic: str) -> None:
    producer = confluent.Producer({"bootstrap.servers": server.bootstrap, "transactional.id": "tx"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"v", partition=0)
    producer.flush()
    first = TopicPartition(topic, 0)
    until("Ongoing", lambda: admin.describe_transactions(["tx"])["tx"].state)
    transaction = admin.describe_transactions(["tx"])["tx"]
    assert transaction.partitions == {first}
    assert transaction.start_time_ms is not None
    [listed] = admin.list_transactions(states=["Ongoing"])
    assert (listed.transactional_id, listed.producer_id, listed.coordinator_id) == ("tx", transaction.producer_id, 1)
    [state] = admin.describe_producers([first])[first]
    assert (state.producer_id, state.current_transaction_start_offset) == (transaction.producer_id, 0)
    fenced = admin.fence_producers(["tx"])["tx"]
    assert fenced.producer_epoch > transaction.producer_epoch
    until(None, lambda: admin.describe_producers([first])[first][0].current_transaction_start_offset)
    with pytest.raises(TransactionalIdNotFoundError):
        admin.describe_transactions(["unheard-of"])


def test_quotas(admin: Admin) -> None:
    bob = ClientQuotaEntity.of(user="bob", client_id=None)
    admin.alter_client_quotas([ClientQuotaAlteration(bob, {"producer_byte_rate": 1024.0})])
    until({bob: {"producer_byte_rate": 1024.0}}, lambda: admin.describe_client_quotas([QuotaFilterPart(USER, "bob")]))
    assert admin.describe_client_quotas([QuotaFilterPart(USER, "bob")], strict=True) == {}
    assert bob in admin.describe_client_quotas([QuotaFilterPart(USER, any_name=True), QuotaFilterPart(CLIENT_ID)])
    admin.alter_client_quotas([ClientQuotaAlteration(bob, {"producer_byte_rate": None})])
    until({}, admin.describe_client_quotas)


def test_scram_credentials(admin: Admin) -> None:
    mechanism = ScramMechanism.SCRAM_SHA_512
    admin.alter_user_scram_credentials([UserScramCredentialUpsertion("eve", mechanism, b"secret", 8192)])
    until({"eve": (ScramCredentialInfo(mechanism, 8192),)}, admin.describe_user_scram_credentials)
    admin.alter_user_scram_credentials([UserScramCredentialDeletion("eve", mechanism)])
    until({}, admin.describe_user_scram_credentials)
    with pytest.raises(ResourceNotFoundError):
        admin.describe_user_scram_credentials(["eve"])


def test_acls_without_an_authorizer_are_refused(admin: Admin) -> None:
    with pytest.raises(SecurityDisabledError):
        admin.describe_acls()


def test_nobody_there() -> None:
    port = free_port()
    with pytest.raises(NoBrokersAvailableError, match=f"127.0.0.1:{port}"):
        Admin(bootstrap_servers=f"127.0.0.1:{port}", socket_connection_setup_timeout_ms=10)


def test_whom_to_connect_to_must_be_said() -> None:
    with pytest.raises(ConfigError, match=r"bootstrap\.servers"):
        Admin()
    with pytest.raises(ConfigError, match="give one"):
        Admin(bootstrap_servers="a:1", bootstrap_controllers="b:1")


def test_with_asyncio(server: Server) -> None:
    async def work() -> list[str]:
        async with AsyncAdmin({"bootstrap.servers": server.bootstrap}) as admin:
            await admin.create_topics([NewTopic("asyncio-topic")])
            while "asyncio-topic" not in await admin.list_topics():
                await asyncio.sleep(0.02)
            return list(await admin.describe_topics(["asyncio-topic"]))

    async def again() -> None:
        async with AsyncAdmin(bootstrap_servers=server.bootstrap) as admin:
            await admin.delete_topics(["asyncio-topic"])

    assert asyncio.run(work()) == ["asyncio-topic"]
    asyncio.run(again())
