"""Configs altered one by one and as a whole, and what min.insync.replicas has to do with elections."""

from typing import Any

import pytest

from ottla.metadata.controller.context import Caller
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, ResourceType, topic_resource
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import ErrorCode, UnknownServerError
from ottla.protocol.messages import alter_configs as legacy
from ottla.protocol.messages import incremental_alter_configs as incremental
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.topic import ClearElrRecord
from tests.unit.metadata.cluster import CONTROLLER_ID, Cluster

SET, DELETE, APPEND, SUBTRACT = range(4)
BROKER = ResourceType.BROKER
TOPIC = ResourceType.TOPIC


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.start(1, 2)
    cluster.create("t", [1, 2])
    return cluster


def resource(type_: int, name: str, *ops: tuple[str, int, str | None]) -> incremental.AlterConfigsResource:
    configs = [incremental.AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in ops]
    return incremental.AlterConfigsResource(resource_type=type_, resource_name=name, configs=configs)


def alter(
    cluster: Cluster, *resources: incremental.AlterConfigsResource, **options: Any
) -> list[tuple[int, str | None]]:
    caller = Caller(through_broker=options.pop("through_broker", True))
    request = incremental.IncrementalAlterConfigsRequest(resources=list(resources), **options)
    return [(result.error_code, result.error_message) for result in cluster.ask(request, caller).responses]


class TestIncremental:
    def test_set_and_delete(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SET, "compact"))) == [(0, None)]
        assert dict(cluster.image.configs_of(topic_resource("t"))) == {"cleanup.policy": "compact"}
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", DELETE, None))) == [(0, None)]
        assert topic_resource("t") not in cluster.image.configs

    def test_lists_grow_from_their_default_and_shrink(self, cluster: Cluster) -> None:
        alter(cluster, resource(TOPIC, "t", ("cleanup.policy", APPEND, "compact,delete")))
        assert cluster.image.configs_of(topic_resource("t"))["cleanup.policy"] == "delete,compact"
        alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete")))
        assert cluster.image.configs_of(topic_resource("t"))["cleanup.policy"] == "compact"

    def test_an_empty_part_at_the_end_is_none(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", APPEND, "compact,"))) == [(0, None)]
        assert cluster.image.configs_of(topic_resource("t"))["cleanup.policy"] == "delete,compact"
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete,,"))) == [(0, None)]
        assert cluster.image.configs_of(topic_resource("t"))["cleanup.policy"] == "compact"
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", APPEND, ","))) == [(0, None)]
        assert cluster.image.configs_of(topic_resource("t"))["cleanup.policy"] == "compact"

    def test_what_is_subtracted_goes_once(self, cluster: Cluster) -> None:
        alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SET, "a,b,a,c,a")))
        alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SUBTRACT, "a,c,a,x")))
        assert cluster.image.configs_of(topic_resource("t"))["cleanup.policy"] == "b,a"

    def test_a_stored_key_that_is_no_longer_known_does_not_block_the_others(self, cluster: Cluster) -> None:
        cluster.write(ConfigRecord(resource_type=TOPIC, resource_name="t", name="message.format.version", value="2.8"))
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SET, "compact"))) == [(0, None)]
        assert alter(cluster, resource(TOPIC, "t", ("message.format.version", SET, "3.0"))) == [
            (ErrorCode.INVALID_CONFIG, "Unknown topic config name: message.format.version")
        ]
        assert alter(cluster, resource(TOPIC, "t", ("message.format.version", DELETE, None))) == [(0, None)]
        assert dict(cluster.image.configs_of(topic_resource("t"))) == {"cleanup.policy": "compact"}

    def test_very_many_keys_and_parts_take_no_longer_than_their_number(self, cluster: Cluster) -> None:
        """Were each looked for among all others, this would take minutes."""
        nulls = resource(TOPIC, "t", *((f"k{number}", SET, None) for number in range(100_000)))
        assert alter(cluster, nulls)[0][0] == ErrorCode.INVALID_REQUEST
        alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SET, ",".join(map(str, range(6_000))))))
        many = ",".join(f"x{number}" for number in range(200_000))
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", APPEND, many)))[0][0] == ErrorCode.INVALID_CONFIG
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SUBTRACT, many))) == [(0, None)]

    def test_only_lists_can_be_appended_to(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(TOPIC, "t", ("min.insync.replicas", APPEND, "1"))) == [
            (ErrorCode.INVALID_CONFIG, "Can't APPEND to key min.insync.replicas because its type is not LIST.")
        ]

    def test_a_value_that_is_there_already_makes_no_record_except_for_brokers(self, cluster: Cluster) -> None:
        for target in (
            resource(TOPIC, "t", ("cleanup.policy", SET, "compact")),
            resource(BROKER, "1", ("x", SET, "1")),
        ):
            alter(cluster, target)
        request = incremental.IncrementalAlterConfigsRequest(
            resources=[resource(TOPIC, "t", ("cleanup.policy", SET, "compact")), resource(BROKER, "1", ("x", SET, "1"))]
        )
        assert cluster.written_by(request) == [
            ConfigRecord(resource_type=BROKER, resource_name="1", name="x", value="1")
        ]

    def test_each_resource_is_altered_as_a_whole(self, cluster: Cluster) -> None:
        results = alter(
            cluster,
            resource(TOPIC, "t", ("cleanup.policy", SET, "compact"), ("nonsense", SET, "1")),
            resource(BROKER, "", ("x", SET, "1")),
        )
        assert results == [(ErrorCode.INVALID_CONFIG, "Unknown topic config name: nonsense"), (0, None)]
        assert topic_resource("t") not in cluster.image.configs
        assert cluster.image.configs_of(CLUSTER_DEFAULT)["x"] == "1"

    def test_validate_only_writes_nothing(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SET, "compact")), validate_only=True) == [
            (0, None)
        ]
        assert topic_resource("t") not in cluster.image.configs

    @pytest.mark.parametrize(
        ("target", "code", "message"),
        [
            (
                resource(TOPIC, "nope", ("cleanup.policy", SET, "compact")),
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                "The topic 'nope' does not exist.",
            ),
            (resource(BROKER, "9", ("x", SET, "1")), ErrorCode.BROKER_ID_NOT_REGISTERED, "No node with id 9 found."),
            (resource(BROKER, "one", ("x", SET, "1")), ErrorCode.INVALID_REQUEST, "Invalid broker name one"),
            (resource(99, "x", ("x", SET, "1")), ErrorCode.UNSUPPORTED_VERSION, "Unknown resource type 99."),
            (
                resource(TOPIC, "t", ("cleanup.policy", SET, None)),
                ErrorCode.INVALID_REQUEST,
                "Null value not supported for : cleanup.policy",
            ),
            (
                resource(TOPIC, "t", ("cleanup.policy", SET, "a"), ("cleanup.policy", SET, "b")),
                ErrorCode.INVALID_REQUEST,
                "Error due to duplicate config keys",
            ),
            (
                resource(TOPIC, "t", ("cleanup.policy", SET, "x" * 32_768)),
                ErrorCode.INVALID_CONFIG,
                "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes.",
            ),
        ],
    )
    def test_refusals(
        self, cluster: Cluster, target: incremental.AlterConfigsResource, code: int, message: str | None
    ) -> None:
        assert alter(cluster, target) == [(code, message)]

    def test_an_operation_that_there_is_not_spoils_the_request(self, cluster: Cluster) -> None:
        good = resource(TOPIC, "t", ("cleanup.policy", SET, "compact"))
        with pytest.raises(UnknownServerError):
            alter(cluster, good, resource(TOPIC, "u", ("cleanup.policy", 7, "x")))
        assert not cluster.image.configs_of(topic_resource("t"))

    def test_a_resource_named_twice_is_refused_once(self, cluster: Cluster) -> None:
        target = resource(TOPIC, "t", ("cleanup.policy", SET, "compact"))
        assert alter(cluster, target, target) == [(ErrorCode.INVALID_REQUEST, "Duplicate resource.")]

    def test_a_voter_that_never_registered_may_have_configs(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(BROKER, str(CONTROLLER_ID), ("x", SET, "1"))) == [(0, None)]


class TestMinInsyncReplicas:
    def test_a_brokers_own_is_refused_while_elr_is_on(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(BROKER, "1", ("min.insync.replicas", SET, "2"))) == [
            (ErrorCode.INVALID_CONFIG, "Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
        ]

    def test_the_clusters_cannot_be_removed_while_elr_is_on(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(BROKER, "", ("min.insync.replicas", DELETE, None))) == [
            (ErrorCode.INVALID_CONFIG, "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
        ]

    def test_changing_it_clears_what_it_made_eligible(self, cluster: Cluster) -> None:
        alter(cluster, resource(TOPIC, "t", ("min.insync.replicas", SET, "2")))
        cluster.fence(2)
        before = cluster.partition("t")
        assert before.elr == (2,)
        alter(cluster, resource(TOPIC, "t", ("min.insync.replicas", SET, "1")))
        after = cluster.partition("t")
        assert (after.elr, after.partition_epoch, after.leader_epoch) == ((), before.partition_epoch + 1, 0)

    def test_the_clusters_clears_all_topics(self, cluster: Cluster) -> None:
        request = incremental.IncrementalAlterConfigsRequest(
            resources=[resource(BROKER, "", ("min.insync.replicas", SET, "2"))]
        )
        assert ClearElrRecord(topic_name="") in cluster.written_by(request)
        cluster.fence(2)
        assert cluster.partition("t").elr == (2,)
        cluster.ask(request)
        assert cluster.partition("t").elr == ()

    def test_without_elr_a_broker_may_have_its_own(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1)
        assert alter(cluster, resource(BROKER, "1", ("min.insync.replicas", SET, "2"))) == [(0, None)]


class TestCordonedLogDirs:
    def test_need_their_metadata_version(self) -> None:
        cluster = Cluster(MetadataVersion.V4_2_IV1)
        assert alter(cluster, resource(BROKER, "", ("cordoned.log.dirs", SET, "/d"))) == [
            (
                ErrorCode.INVALID_CONFIG,
                "The cordoned.log.dirs configuration value cannot be set because it requires metadata.version >= "
                "4.3-IV0",
            )
        ]

    def test_past_the_broker_they_can_only_be_opened_again(self, cluster: Cluster) -> None:
        assert alter(cluster, resource(BROKER, "1", ("cordoned.log.dirs", SET, "/a,/b"))) == [(0, None)]
        closing = resource(BROKER, "1", ("cordoned.log.dirs", SET, "/a,/c"))
        assert alter(cluster, closing, through_broker=False)[0][0] == ErrorCode.INVALID_CONFIG
        opening = resource(BROKER, "1", ("cordoned.log.dirs", SET, "/a"))
        assert alter(cluster, opening, through_broker=False) == [(0, None)]


class TestLegacy:
    def test_what_is_not_named_is_removed(self, cluster: Cluster) -> None:
        alter(cluster, resource(TOPIC, "t", ("cleanup.policy", SET, "compact")))
        wanted = legacy.AlterConfigsResource(
            resource_type=TOPIC,
            resource_name="t",
            configs=[legacy.AlterableConfig(name="unclean.leader.election.enable", value="true")],
        )
        [result] = cluster.ask(legacy.AlterConfigsRequest(resources=[wanted])).responses
        assert result.error_code == 0
        assert dict(cluster.image.configs_of(topic_resource("t"))) == {"unclean.leader.election.enable": "true"}

    def test_an_unknown_topic_is_refused(self, cluster: Cluster) -> None:
        wanted = legacy.AlterConfigsResource(resource_type=TOPIC, resource_name="nope")
        [result] = cluster.ask(legacy.AlterConfigsRequest(resources=[wanted])).responses
        assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class TestEffectiveConfig:
    def test_a_topics_own_goes_before_the_nodes_and_the_clusters(self, cluster: Cluster) -> None:
        key = "unclean.leader.election.enable"
        assert cluster.context().topic_config("t", key) == "false"
        alter(cluster, resource(BROKER, "", (key, SET, "true")))
        assert cluster.context().topic_config("t", key) == "true"
        alter(cluster, resource(BROKER, str(CONTROLLER_ID), (key, SET, "false")))
        assert cluster.context().topic_config("t", key) == "false"
        alter(cluster, resource(TOPIC, "t", (key, SET, "TRUE")))
        topic = cluster.image.topics.topic("t")
        assert topic is not None
        assert cluster.context().rules_of(topic).unclean

    def test_resources_are_told_apart_by_type(self) -> None:
        assert ConfigResource(TOPIC, "1") != ConfigResource(BROKER, "1")
