"""AlterPartition, ElectLeaders, reassignments and directories: requests about partitions that exist."""

from typing import Any

import pytest

from ottla.metadata.directory_id import LOST
from ottla.metadata.image.partition import LeaderRecoveryState
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import (
    ErrorCode,
    InvalidRequestError,
    StaleBrokerEpochError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.alter_partition import BrokerState
from ottla.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    RequestDirectoryData,
    RequestPartitionData,
    RequestTopicData,
)
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.unit.metadata.cluster import Cluster, directory_of, uuid_of


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.start(1, 2, 3, 4)
    cluster.create("t", [1, 2, 3])
    return cluster


class TestAlterPartition:
    def test_shrinks_and_grows_the_isr(self, cluster: Cluster) -> None:
        result = cluster.alter_isr("t", 0, [1, 2])
        assert (result.error_code, result.isr, result.leader_epoch, result.partition_epoch) == (0, [1, 2], 0, 1)
        assert cluster.partition("t").isr == (1, 2)
        assert cluster.alter_isr("t", 0, [1, 2, 3]).partition_epoch == 2

    def test_the_same_isr_again_changes_nothing(self, cluster: Cluster) -> None:
        assert cluster.alter_isr("t", 0, [1, 2, 3]).partition_epoch == 0

    def test_a_partition_named_twice_is_refused(self, cluster: Cluster) -> None:
        cluster.create("u", [1, 2], [1, 3])
        results = cluster.alter_isrs("u", [(0, [1]), (1, [1]), (0, [1, 2])])
        assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST, 0, ErrorCode.INVALID_REQUEST]
        assert (cluster.partition("u").isr, cluster.partition("u", 1).isr) == ((1, 2), (1,))

    @pytest.mark.parametrize(
        ("isr", "changes", "code"),
        [
            ([1, 2], {"leader_epoch": 1}, ErrorCode.NOT_CONTROLLER),
            ([1, 2], {"partition_epoch": 9}, ErrorCode.NOT_CONTROLLER),
            ([1, 2], {"broker_id": 2}, ErrorCode.INVALID_REQUEST),
            ([1, 4], {}, ErrorCode.INVALID_REQUEST),
            ([2, 3], {}, ErrorCode.INVALID_REQUEST),
            ([], {}, ErrorCode.INVALID_REQUEST),
            ([1, 1], {}, ErrorCode.INVALID_REQUEST),
            ([1], {"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
            (
                [1, 2],
                {"states": [BrokerState(broker_id=1), BrokerState(broker_id=2, broker_epoch=1)]},
                ErrorCode.INELIGIBLE_REPLICA,
            ),
        ],
    )
    def test_refusals(self, cluster: Cluster, isr: list[int], changes: dict[str, Any], code: int) -> None:
        assert cluster.alter_isr("t", 0, isr, **changes).error_code == code
        assert cluster.partition("t").partition_epoch == 0

    def test_epochs_that_are_behind_are_refused(self, cluster: Cluster) -> None:
        cluster.fence(1)
        assert cluster.alter_isr("t", 0, [2], leader_epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert cluster.alter_isr("t", 0, [2], partition_epoch=0).error_code == ErrorCode.INVALID_UPDATE_VERSION

    def test_a_fenced_broker_cannot_join(self, cluster: Cluster) -> None:
        cluster.fence(3)
        assert cluster.alter_isr("t", 0, [1, 2, 3]).error_code == ErrorCode.INELIGIBLE_REPLICA

    def test_a_broker_that_shuts_down_cannot_join(self, cluster: Cluster) -> None:
        cluster.create("other", [3, 1])
        cluster.heartbeat(3, want_shut_down=True)
        assert cluster.image.cluster.brokers[3].in_controlled_shutdown
        assert cluster.alter_isr("t", 0, [1, 2, 3]).error_code == ErrorCode.INELIGIBLE_REPLICA

    def test_an_earlier_life_of_the_leader_is_refused_altogether(self, cluster: Cluster) -> None:
        with pytest.raises(StaleBrokerEpochError):
            cluster.alter_isr("t", 0, [1], broker_epoch=0)

    def test_the_end_of_a_recovery(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1, 2)
        cluster.create("t", [1, 2], unclean_leader_election_enable="true")
        cluster.fence(2)
        cluster.heartbeat(2)
        cluster.fence(1)
        assert cluster.partition("t").leader_recovery_state == LeaderRecoveryState.RECOVERING
        cluster.heartbeat(1)
        assert cluster.alter_isr("t", 0, [2, 1], leader_recovery_state=1).error_code == ErrorCode.INVALID_REQUEST
        assert cluster.alter_isr("t", 0, [2]).error_code == 0
        assert cluster.partition("t").leader_recovery_state == LeaderRecoveryState.RECOVERED


class TestElectLeaders:
    def elect(self, cluster: Cluster, *partitions: tuple[str, int], election_type: int = 0) -> list[tuple[int, str]]:
        topics = [TopicPartitions(topic=name, partitions=[index]) for name, index in partitions]
        response = cluster.ask(ElectLeadersRequest(election_type=election_type, topic_partitions=topics or None))
        return [
            (result.error_code, result.error_message)
            for topic in response.replica_election_results
            for result in topic.partition_result
        ]

    def test_gives_the_leadership_back_to_the_preferred_replica(self, cluster: Cluster) -> None:
        cluster.fence(1)
        cluster.heartbeat(1)
        cluster.alter_isr("t", 0, [2, 3, 1])
        assert self.elect(cluster, ("t", 0)) == [(0, None)]
        assert cluster.partition("t").leader == 1
        [(code, message)] = self.elect(cluster, ("t", 0))
        assert (code, message) == (
            ErrorCode.ELECTION_NOT_NEEDED,
            "Leader election not needed for topic partition.",
        )

    def test_a_preferred_replica_out_of_sync_is_not_available(self, cluster: Cluster) -> None:
        cluster.fence(1)
        assert self.elect(cluster, ("t", 0))[0][0] == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE

    def test_unclean_by_order(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        assert self.elect(cluster, ("t", 0), election_type=1)[0][0] == ErrorCode.ELECTION_NOT_NEEDED
        cluster.fence(2)
        cluster.fence(1)
        assert self.elect(cluster, ("t", 0), election_type=1)[0][0] == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        cluster.heartbeat(2)
        assert cluster.partition("t").leader == -1
        assert self.elect(cluster, ("t", 0), election_type=1) == [(0, None)]
        assert cluster.partition("t").leader == 2

    def test_for_all_partitions_only_what_was_needed_is_told(self, cluster: Cluster) -> None:
        cluster.create("u", [2, 1])
        cluster.fence(1)
        cluster.heartbeat(1)
        cluster.alter_isr("t", 0, [2, 3, 1])
        assert self.elect(cluster) == [(0, None)]
        response = cluster.ask(ElectLeadersRequest(election_type=0, topic_partitions=None))
        assert [(topic.topic, topic.partition_result) for topic in response.replica_election_results] == [
            ("t", []),
            ("u", []),
        ]

    def test_unknown_partitions(self, cluster: Cluster) -> None:
        assert self.elect(cluster, ("nope", 0)) == [(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "No such topic as nope")]
        assert self.elect(cluster, ("t", 7)) == [(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "No such partition as t-7")]

    def test_an_unknown_kind_of_election(self, cluster: Cluster) -> None:
        with pytest.raises(InvalidRequestError, match="Unknown election type 5"):
            self.elect(cluster, ("t", 0), election_type=5)

    def test_a_partition_named_twice_is_refused(self, cluster: Cluster) -> None:
        cluster.create("u", [1, 2, 3])
        cluster.fence(1)
        cluster.heartbeat(1)
        cluster.alter_isr("t", 0, [2, 3, 1])
        cluster.alter_isr("u", 0, [2, 3, 1])
        wanted = [TopicPartitions(topic="t", partitions=[0]), TopicPartitions(topic="u", partitions=[0])]
        request = ElectLeadersRequest(election_type=0, topic_partitions=[*wanted, wanted[0]])
        results = [result.partition_result[0] for result in cluster.ask(request).replica_election_results]
        assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST, 0, ErrorCode.INVALID_REQUEST]
        assert (cluster.partition("t").leader, cluster.partition("u").leader) == (2, 1)


class TestAutomaticElections:
    def test_leaders_are_balanced_every_five_minutes(self, cluster: Cluster) -> None:
        cluster.fence(1)
        cluster.heartbeat(1)
        cluster.alter_isr("t", 0, [2, 3, 1])
        for now_ms in range(0, 300_000, 3_000):
            cluster.now_ms = now_ms
            for broker_id in (1, 2, 3, 4):
                cluster.heartbeat(broker_id)
        cluster.controller.tick(299_999)
        assert cluster.partition("t").leader == 2
        cluster.controller.tick(300_000)
        assert cluster.partition("t").leader == 1

    def test_unclean_elections_wait_for_the_topics_leave(self) -> None:
        cluster = Cluster(elr=False, broker_session_timeout_ms=10**9)
        cluster.start(1, 2)
        cluster.create("brave", [1, 2], unclean_leader_election_enable="true")
        cluster.create("careful", [1, 2])
        cluster.fence(2, 1)
        assert cluster.partition("brave").leader == -1
        cluster.heartbeat(2)
        cluster.controller.tick(300_000)
        assert (cluster.partition("brave").leader, cluster.partition("careful").leader) == (2, -1)


def reassign(
    cluster: Cluster, name: str, replicas: list[int] | None, index: int = 0, *, change_factor: bool = True
) -> tuple[int, str | None]:
    topic = ReassignableTopic(name=name, partitions=[ReassignablePartition(partition_index=index, replicas=replicas)])
    request = AlterPartitionReassignmentsRequest(topics=[topic], allow_replication_factor_change=change_factor)
    result = cluster.ask(request).responses[0].partitions[0]
    return result.error_code, result.error_message


class TestReassignment:
    def test_ends_when_the_new_replica_is_in_sync(self, cluster: Cluster) -> None:
        assert reassign(cluster, "t", [2, 3, 4]) == (0, None)
        partition = cluster.partition("t")
        assert (partition.replicas, partition.adding_replicas, partition.removing_replicas) == (
            (2, 3, 4, 1),
            (4,),
            (1,),
        )
        assert partition.directories == tuple(map(directory_of, (2, 3, 4, 1)))
        result = cluster.alter_isr("t", 0, [1, 2, 3, 4])
        assert result.error_code == ErrorCode.NEW_LEADER_ELECTED
        partition = cluster.partition("t")
        assert (partition.replicas, partition.isr, partition.leader) == ((2, 3, 4), (2, 3, 4), 2)
        assert not partition.is_reassigning

    def test_a_dropped_follower_is_fenced_by_a_new_leader_epoch(self, cluster: Cluster) -> None:
        reassign(cluster, "t", [1, 2])
        partition = cluster.partition("t")
        assert (partition.replicas, partition.isr, partition.leader, partition.leader_epoch) == ((1, 2), (1, 2), 1, 1)

    def test_can_be_listed_and_cancelled(self, cluster: Cluster) -> None:
        reassign(cluster, "t", [1, 2, 4])
        [topic] = cluster.ask(ListPartitionReassignmentsRequest(topics=None)).topics
        [ongoing] = topic.partitions
        assert (topic.name, ongoing.replicas, ongoing.adding_replicas, ongoing.removing_replicas) == (
            "t",
            [1, 2, 4, 3],
            [4],
            [3],
        )
        assert reassign(cluster, "t", None) == (0, None)
        partition = cluster.partition("t")
        assert (partition.replicas, partition.isr, partition.is_reassigning) == ((1, 2, 3), (1, 2, 3), False)
        assert cluster.ask(ListPartitionReassignmentsRequest(topics=None)).topics == []

    def test_listing_names(self, cluster: Cluster) -> None:
        wanted = [ListPartitionReassignmentsTopics(name="t", partition_indexes=[0, 5])]
        assert cluster.ask(ListPartitionReassignmentsRequest(topics=wanted)).topics == []
        reassign(cluster, "t", [1, 2, 4])
        assert len(cluster.ask(ListPartitionReassignmentsRequest(topics=wanted)).topics) == 1

    def test_turned_back_it_ends_at_once(self, cluster: Cluster) -> None:
        reassign(cluster, "t", [1, 2, 4])
        assert reassign(cluster, "t", [1, 2, 3]) == (0, None)
        partition = cluster.partition("t")
        assert (partition.replicas, partition.is_reassigning) == ((1, 2, 3), False)

    def test_cancelling_where_only_new_replicas_are_in_sync_would_be_unclean(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1, 2, 3)
        cluster.create("t", [1])
        reassign(cluster, "t", [2, 3])
        cluster.alter_isr("t", 0, [1, 2])
        cluster.fence(1)
        assert cluster.partition("t").leader == 2
        code, message = reassign(cluster, "t", None)
        assert code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert message == (
            "Unable to revert partition assignment for t:0 because it would require an unclean leader election."
        )

    def test_cancelling_where_records_may_be_lost_marks_the_leader_as_recovering(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1, 2, 3)
        cluster.create("t", [1], unclean_leader_election_enable="true")
        reassign(cluster, "t", [2, 3])
        cluster.alter_isr("t", 0, [1, 2])
        cluster.fence(1)
        cluster.heartbeat(1, want_fence=False)
        assert reassign(cluster, "t", None) == (0, None)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.replicas) == (1, (1,), (1,))
        assert partition.leader_recovery_state == LeaderRecoveryState.RECOVERING

    @pytest.mark.parametrize(
        ("name", "replicas", "code", "message"),
        [
            ("nope", [1], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "Unable to find a topic named nope."),
            ("t", None, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None),
            (
                "t",
                [],
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes an empty replica list.",
            ),
            (
                "t",
                [1, 9],
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes broker 9, but no such broker is registered.",
            ),
        ],
    )
    def test_refusals(
        self, cluster: Cluster, name: str, replicas: list[int] | None, code: int, message: str | None
    ) -> None:
        assert reassign(cluster, name, replicas) == (code, message)

    def test_unknown_partition(self, cluster: Cluster) -> None:
        assert reassign(cluster, "t", [1], index=3) == (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "Unable to find partition t:3.",
        )

    def test_the_replication_factor_stays_unless_it_may_change(self, cluster: Cluster) -> None:
        assert reassign(cluster, "t", [1, 2], change_factor=False) == (
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "The replication factor is changed from 3 to 2",
        )
        assert reassign(cluster, "t", [1, 2, 4], change_factor=False) == (0, None)

    def test_an_empty_target_is_no_question_of_the_factor(self, cluster: Cluster) -> None:
        assert reassign(cluster, "t", [], change_factor=False)[0] == ErrorCode.INVALID_REPLICA_ASSIGNMENT

    def test_a_partition_named_twice_is_refused(self, cluster: Cluster) -> None:
        cluster.create("u", [1, 2])
        before = cluster.partition("t")
        topics = [
            ReassignableTopic(name=name, partitions=[ReassignablePartition(partition_index=0, replicas=replicas)])
            for name, replicas in (("t", [4, 2, 3]), ("u", [1, 3]), ("t", [1, 2]))
        ]
        responses = cluster.ask(AlterPartitionReassignmentsRequest(topics=topics)).responses
        codes = [response.partitions[0].error_code for response in responses]
        assert codes == [ErrorCode.INVALID_REQUEST, 0, ErrorCode.INVALID_REQUEST]
        assert cluster.partition("t") == before
        assert cluster.partition("u").adding_replicas == (3,)


class TestAssignReplicasToDirs:
    def assign(self, cluster: Cluster, broker_id: int, directory: Any, *partitions: tuple[Any, int]) -> list[int]:
        topics = [
            RequestTopicData(topic_id=topic_id, partitions=[RequestPartitionData(partition_index=index)])
            for topic_id, index in partitions
        ]
        request = AssignReplicasToDirsRequest(
            broker_id=broker_id,
            broker_epoch=cluster.image.cluster.brokers[broker_id].epoch,
            directories=[RequestDirectoryData(id=directory, topics=topics)],
        )
        response = cluster.ask(request)
        return [
            partition.error_code
            for directory in response.directories
            for topic in directory.topics
            for partition in topic.partitions
        ]

    def test_notes_where_a_replica_lives(self) -> None:
        cluster = Cluster()
        cluster.start(1, log_dirs=[directory_of(1), directory_of(1, 1)])
        cluster.create("t", [1])
        before = cluster.partition("t")
        assert self.assign(cluster, 1, directory_of(1, 1), (cluster.image.topics.ids["t"], 0)) == [0]
        after = cluster.partition("t")
        assert after.directories == (directory_of(1, 1),)
        assert (after.leader_epoch, after.partition_epoch) == (before.leader_epoch, before.partition_epoch + 1)

    def test_a_replica_in_an_offline_directory_loses_its_place(self, cluster: Cluster) -> None:
        assert self.assign(cluster, 1, LOST, (cluster.image.topics.ids["t"], 0)) == [0]
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.directory(1)) == (2, (2, 3), LOST)

    def test_a_replica_lives_in_one_place(self) -> None:
        cluster = Cluster()
        cluster.start(1, log_dirs=[directory_of(1), directory_of(1, 1)])
        cluster.create("t", [1])
        place = (cluster.image.topics.ids["t"], 0)
        before = cluster.partition("t")
        assert self.assign(cluster, 1, directory_of(1), place, place) == [ErrorCode.INVALID_REQUEST] * 2
        assert cluster.partition("t") == before

    def test_then_losing_that_directory_moves_the_leader(self) -> None:
        cluster = Cluster()
        cluster.start(1, log_dirs=[directory_of(1), directory_of(1, 1)])
        cluster.start(2)
        cluster.create("t", [1, 2])
        self.assign(cluster, 1, directory_of(1, 1), (cluster.image.topics.ids["t"], 0))
        cluster.heartbeat(1, offline_log_dirs=[directory_of(1)])
        assert cluster.partition("t").leader == 1
        cluster.heartbeat(1, offline_log_dirs=[directory_of(1, 1)])
        assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2,))

    def test_refusals(self, cluster: Cluster) -> None:
        topic_id = cluster.image.topics.ids["t"]
        assert self.assign(cluster, 4, directory_of(4), (uuid_of(1), 0), (topic_id, 7), (topic_id, 0)) == [
            ErrorCode.UNKNOWN_TOPIC_ID,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ]

    def test_needs_its_metadata_version(self) -> None:
        cluster = Cluster(MetadataVersion.V3_7_IV0)
        cluster.start(1)
        with pytest.raises(UnsupportedVersionError, match="Directory assignment is not supported yet"):
            self.assign(cluster, 1, directory_of(1))
