"""Topics: created, grown, deleted, and refused in Kafka's words."""

from typing import Any

import pytest

from ottla.metadata.controller.context import Caller
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.errors import (
    ErrorCode,
    InvalidRequestError,
    PolicyViolationError,
    ThrottlingQuotaExceededError,
    TopicDeletionDisabledError,
)
from ottla.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.topic import ClearElrRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from tests.unit.metadata.cluster import Cluster, directory_of, topic_of, uuid_of


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.start(1, 2, 3)
    return cluster


def create(cluster: Cluster, *topics: CreatableTopic, **options: Any) -> Any:
    described = options.pop("described", True)

    def may(operation: AclOperation, kind: AclResourceType, name: str) -> bool:
        return described or operation is not AclOperation.DESCRIBE_CONFIGS

    caller = Caller(may=may)
    return cluster.ask(CreateTopicsRequest(topics=list(topics), **options), caller).topics


class TestCreateTopics:
    def test_one_batch_of_topic_configs_and_partitions(self, cluster: Cluster) -> None:
        start = cluster.quorum.end_offset()
        [result] = create(cluster, topic_of("t", [[1, 2], [2, 3]], {"cleanup.policy": "compact"}))
        records = cluster.quorum.records(start)
        assert records == [
            TopicRecord(name="t", topic_id=result.topic_id),
            ConfigRecord(resource_type=2, resource_name="t", name="cleanup.policy", value="compact"),
            PartitionRecord(
                partition_id=0,
                topic_id=result.topic_id,
                replicas=[1, 2],
                isr=[1, 2],
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
                directories=[directory_of(1), directory_of(2)],
            ),
            PartitionRecord(
                partition_id=1,
                topic_id=result.topic_id,
                replicas=[2, 3],
                isr=[2, 3],
                leader=2,
                leader_epoch=0,
                partition_epoch=0,
                directories=[directory_of(2), directory_of(3)],
            ),
        ]
        assert len(cluster.quorum.batches[-1].records) == 4

    def test_the_response_tells_counts_and_configs(self, cluster: Cluster) -> None:
        [result] = create(cluster, topic_of("t", num_partitions=4, replication_factor=2))
        assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 4, 2)
        assert [config.name for config in result.configs] == sorted(cluster.ports.schema.defaults)  # type: ignore[attr-defined]

    def test_who_may_not_describe_gets_no_configs(self, cluster: Cluster) -> None:
        [result] = create(cluster, topic_of("t"), described=False)
        assert result.topic_config_error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        assert result.num_partitions == -1

    def test_defaults(self) -> None:
        cluster = Cluster(num_partitions=3, default_replication_factor=2)
        cluster.start(1, 2)
        [result] = create(cluster, topic_of("t"))
        assert (result.num_partitions, result.replication_factor) == (3, 2)

    def test_validate_only_writes_nothing(self, cluster: Cluster) -> None:
        [result] = create(cluster, topic_of("t"), validate_only=True)
        assert result.error_code == 0
        assert cluster.image.topics.topic("t") is None

    def test_min_insync_replicas_of_a_new_topic_comes_with_a_clear_elr(self, cluster: Cluster) -> None:
        request = CreateTopicsRequest(topics=[topic_of("t", configs={"min.insync.replicas": "2"})])
        assert ClearElrRecord(topic_name="t") in cluster.written_by(request)

    def test_only_active_brokers_are_in_the_isr(self, cluster: Cluster) -> None:
        cluster.fence(1)
        cluster.create("t", [1, 2, 3])
        assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2, 3))

    def test_a_broker_with_several_directories_chooses_by_itself(self) -> None:
        cluster = Cluster()
        cluster.start(1, log_dirs=[directory_of(1), directory_of(1, 1)])
        cluster.create("t", [1])
        assert cluster.partition("t").directories == (uuid_of(-999),)

    def test_before_3_7_no_directories_are_written(self) -> None:
        cluster = Cluster(MetadataVersion.V3_6_IV2)
        cluster.start(1)
        cluster.create("t", [1])
        assert cluster.partition("t").directories == (uuid_of(-1_000),)

    @pytest.mark.parametrize(
        ("topic", "code", "message"),
        [
            (topic_of("taken"), ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'taken' already exists."),
            (topic_of(""), ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: the empty string is not allowed"),
            (topic_of("."), ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: '.' is not allowed"),
            (
                topic_of("a b"),
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' "
                "and '-'",
            ),
            (
                topic_of("x" * 250),
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic name is invalid: the length of '{'x' * 250}' is longer than the max allowed length 249",
            ),
            (
                topic_of("dot_ted"),
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                "Topic 'dot_ted' collides with existing topic: dot.ted",
            ),
            (
                topic_of("__cluster_metadata"),
                ErrorCode.INVALID_REQUEST,
                "Creation of internal topic __cluster_metadata is prohibited.",
            ),
            (
                topic_of("t", replication_factor=4),
                ErrorCode.INVALID_REPLICATION_FACTOR,
                "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be reached "
                "because only 3 broker(s) are registered or some brokers have all their log directories cordoned.",
            ),
            (
                topic_of("t", replication_factor=0),
                ErrorCode.INVALID_REPLICATION_FACTOR,
                "Replication factor must be larger than 0, or -1 to use the default value.",
            ),
            (
                topic_of("t", num_partitions=0),
                ErrorCode.INVALID_PARTITIONS,
                "Number of partitions was set to an invalid non-positive value.",
            ),
            (
                topic_of("t", [[1]], replication_factor=1),
                ErrorCode.INVALID_REQUEST,
                "A manual partition assignment was specified, but replication factor was not set to -1.",
            ),
            (
                topic_of("t", [[1]], num_partitions=1),
                ErrorCode.INVALID_REQUEST,
                "A manual partition assignment was specified, but numPartitions was not set to -1.",
            ),
            (
                topic_of("t", [[1, 1]]),
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes the broker 1 more than once.",
            ),
            (
                topic_of("t", [[1, 9]]),
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes broker 9, but no such broker is registered.",
            ),
            (
                topic_of("t", [[]]),
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes an empty replica list.",
            ),
            (
                topic_of("t", [[1, 2], [1]]),
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent "
                "with previous partitions, which have 2 replica(s).",
            ),
            (topic_of("t", configs={"nonsense": "1"}), ErrorCode.INVALID_CONFIG, "Unknown topic config name: nonsense"),
        ],
    )
    def test_refusals(self, cluster: Cluster, topic: CreatableTopic, code: int, message: str) -> None:
        cluster.create("taken")
        cluster.create("dot.ted")
        start = cluster.quorum.end_offset()
        [result] = create(cluster, topic)
        assert (result.error_code, result.error_message) == (code, message)
        assert cluster.quorum.records(start) == []

    def test_gaps_in_a_manual_assignment_are_refused(self, cluster: Cluster) -> None:
        topic = topic_of("t", [[1], [2]])
        topic.assignments[1].partition_index = 2
        [result] = create(cluster, topic)
        assert result.error_message == "partitions should be a consecutive 0-based integer sequence"

    def test_one_partition_assigned_twice_is_refused(self, cluster: Cluster) -> None:
        topic = topic_of("t", [[1], [2]])
        topic.assignments[1].partition_index = 0
        [result] = create(cluster, topic)
        assert result.error_message == "Found multiple manual partition assignments for partition 0"

    def test_a_null_config_is_refused(self, cluster: Cluster) -> None:
        topic = topic_of("t")
        topic.configs = [CreatableTopicConfig(name="cleanup.policy", value=None)]
        [result] = create(cluster, topic)
        assert (result.error_code, result.error_message) == (
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: cleanup.policy",
        )

    def test_all_brokers_fenced(self, cluster: Cluster) -> None:
        cluster.fence(1, 2, 3)
        [result] = create(cluster, topic_of("t", replication_factor=1))
        assert result.error_message == (
            "Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log "
            "directories cordoned."
        )
        [result] = create(cluster, topic_of("t", [[1]]))
        assert result.error_message == (
            "All brokers specified in the manual partition assignment for partition 0 are fenced or in controlled "
            "shutdown."
        )

    def test_a_name_given_twice_is_refused_once_and_the_rest_is_created(self, cluster: Cluster) -> None:
        results = create(cluster, topic_of("a"), topic_of("b"), topic_of("a"))
        assert [(result.name, result.error_code, result.error_message) for result in results] == [
            ("b", 0, None),
            ("a", ErrorCode.INVALID_REQUEST, "Duplicate topic name."),
        ]
        assert set(cluster.image.topics.ids) == {"b"}

    def test_more_than_ten_thousand_partitions_are_too_many(self, cluster: Cluster) -> None:
        with pytest.raises(PolicyViolationError, match="Excessively large number of partitions per request"):
            create(cluster, topic_of("t", num_partitions=10_001))

    def test_topics_that_are_refused_for_their_name_do_not_count(self, cluster: Cluster) -> None:
        twice = topic_of("a", num_partitions=6_000, replication_factor=1)
        results = create(cluster, twice, topic_of("b"), twice)
        assert [(result.name, result.error_code) for result in results] == [
            ("b", 0),
            ("a", ErrorCode.INVALID_REQUEST),
        ]

    def test_the_mutation_quota_can_refuse(self, cluster: Cluster) -> None:
        def spent(partitions: int) -> None:
            raise ThrottlingQuotaExceededError

        caller = Caller(mutation_quota=spent)
        [result] = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")]), caller).topics
        assert result.error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED


class TestCreatePartitions:
    def grow(self, cluster: Cluster, name: str, count: int, *assignments: list[int], **options: Any) -> Any:
        manual = [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments] or None
        topic = CreatePartitionsTopic(name=name, count=count, assignments=manual)
        return cluster.ask(CreatePartitionsRequest(timeout_ms=1_000, topics=[topic], **options)).results[0]

    def test_new_partitions_have_as_many_replicas_as_the_first(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2])
        assert self.grow(cluster, "t", 3).error_code == 0
        topic = cluster.image.topics.topic("t")
        assert topic is not None
        assert [len(partition.replicas) for partition in topic.partitions] == [2, 2, 2]

    def test_by_hand(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2])
        assert self.grow(cluster, "t", 2, [3, 1]).error_code == 0
        assert cluster.partition("t", 1).replicas == (3, 1)

    def test_validate_only_writes_nothing(self, cluster: Cluster) -> None:
        cluster.create("t", [1])
        assert self.grow(cluster, "t", 2, validate_only=True).error_code == 0
        assert len(cluster.image.topics.by_id[cluster.image.topics.ids["t"]].partitions) == 1

    @pytest.mark.parametrize(
        ("name", "count", "assignments", "code", "message"),
        [
            ("nope", 2, [], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None),
            ("t", 2, [], ErrorCode.INVALID_PARTITIONS, "Topic already has 2 partition(s)."),
            (
                "t",
                1,
                [],
                ErrorCode.INVALID_PARTITIONS,
                "The topic t currently has 2 partition(s); 1 would not be an increase.",
            ),
            (
                "t",
                4,
                [[1, 2]],
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
            ),
            (
                "t",
                3,
                [[1, 9]],
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes broker 9, but no such broker is registered.",
            ),
        ],
    )
    def test_refusals(
        self, cluster: Cluster, name: str, count: int, assignments: list[list[int]], code: int, message: str | None
    ) -> None:
        cluster.create("t", [1, 2], [2, 3])
        result = self.grow(cluster, name, count, *assignments)
        assert (result.error_code, result.error_message) == (code, message)

    def test_too_many_of_all_topics_together_are_refused_before_any_is_placed(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2])
        cluster.create("u", [1, 2])
        charged: list[int] = []
        topics = [CreatePartitionsTopic(name=name, count=5_002, assignments=None) for name in ("t", "u")]
        request = CreatePartitionsRequest(timeout_ms=1_000, topics=topics)
        with pytest.raises(PolicyViolationError, match=r"Excessively large number of partitions per request\."):
            cluster.ask(request, Caller(mutation_quota=charged.append))
        assert charged == []
        with pytest.raises(PolicyViolationError):
            self.grow(cluster, "t", 10_000_000)
        topics[1].count = 4_999
        assert [result.error_code for result in cluster.ask(request).results] == [0, 0]


class TestDeleteTopics:
    def test_by_name_takes_the_configs_along(self, cluster: Cluster) -> None:
        cluster.create("t", [1], cleanup_policy="compact")
        topic_id = cluster.image.topics.ids["t"]
        assert cluster.written_by(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["t"])) == [
            RemoveTopicRecord(topic_id=topic_id)
        ]
        assert cluster.image.topics.topic("t") is None
        assert not any(resource.name == "t" for resource in cluster.image.configs)

    def test_by_id(self, cluster: Cluster) -> None:
        cluster.create("t")
        topic_id = cluster.image.topics.ids["t"]
        [result] = cluster.ask(
            DeleteTopicsRequest(timeout_ms=1_000, topics=[DeleteTopicState(topic_id=topic_id)])
        ).responses
        assert (result.name, result.error_code) == ("t", 0)

    def test_a_name_given_twice_deletes_nothing(self, cluster: Cluster) -> None:
        cluster.create("t")
        [result] = cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["t", "t"])).responses
        assert (result.error_code, result.error_message) == (ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        assert "t" in cluster.image.topics.ids

    def test_name_and_id_of_one_topic_delete_nothing(self, cluster: Cluster) -> None:
        cluster.create("t")
        topic_id = cluster.image.topics.ids["t"]
        states = [DeleteTopicState(topic_id=topic_id), DeleteTopicState(name="t")]
        [result] = cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topics=states)).responses
        assert result.error_message == "The provided topic name maps to an ID that was already supplied."
        assert "t" in cluster.image.topics.ids

    def test_unknown_topics(self, cluster: Cluster) -> None:
        states = [DeleteTopicState(name="nope"), DeleteTopicState(topic_id=uuid_of(5)), DeleteTopicState()]
        states.append(DeleteTopicState(name="both", topic_id=uuid_of(6)))
        results = cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topics=states)).responses
        assert [(result.name, result.error_code) for result in results] == [
            (None, ErrorCode.INVALID_REQUEST),
            ("both", ErrorCode.INVALID_REQUEST),
            (None, ErrorCode.UNKNOWN_TOPIC_ID),
            ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ]

    def test_switched_off(self) -> None:
        cluster = Cluster(delete_topic_enable=False)
        with pytest.raises(TopicDeletionDisabledError):
            cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["t"]), Caller(api_version=3))
        with pytest.raises(InvalidRequestError, match="This version does not support topic deletion"):
            cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["t"]), Caller(api_version=2))

    def test_a_name_can_be_used_again_and_gets_another_id(self, cluster: Cluster) -> None:
        cluster.create("a.b")
        first = cluster.image.topics.ids["a.b"]
        cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["a.b"]))
        cluster.create("a_b")
        assert cluster.image.topics.ids["a_b"] != first
