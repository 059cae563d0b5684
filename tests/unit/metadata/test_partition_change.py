"""Leaders, ISRs and eligible leader replicas: what a partition becomes when brokers come and go (KIP-966)."""

import pytest

from ottla.metadata.controller.context import TopicRules
from ottla.metadata.controller.topic.partition_change import Election, PartitionChangeBuilder
from ottla.metadata.controller.topic.reassignment_replica import Completed, ReassignmentReplicas
from ottla.metadata.image.partition import LeaderRecoveryState
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.metadata_log.topic import PartitionChangeRecord
from tests.unit.metadata.cluster import Cluster, directory_of


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.start(1, 2, 3)
    return cluster


def change_of(cluster: Cluster, name: str, rules: TopicRules | None = None, **targets: object) -> object:
    """The record that the builder makes for partition 0 with those targets set."""
    topic = cluster.image.topics.topic(name)
    assert topic is not None
    builder = PartitionChangeBuilder(cluster.context(), topic, 0, rules or cluster.context().rules_of(topic))
    for target, value in targets.items():
        setattr(builder, target, value)
    built = builder.build()
    return None if built is None else built.record


class TestElection:
    def test_a_partition_that_is_as_it_should_be_is_left_alone(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2, 3])
        assert change_of(cluster, "t") is None

    def test_a_fenced_leader_is_replaced_by_the_next_replica_in_sync(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2, 3])
        cluster.fence(1)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr) == (2, (2, 3))
        assert (partition.leader_epoch, partition.partition_epoch) == (1, 1)

    def test_a_fenced_follower_costs_no_leader_epoch(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2, 3])
        cluster.fence(3)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.leader_epoch, partition.partition_epoch) == (1, (1, 2), 0, 1)

    def test_before_3_6_a_shrunken_isr_bumped_the_leader_epoch(self) -> None:
        cluster = Cluster(MetadataVersion.V3_5_IV2)
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        cluster.fence(2)
        assert cluster.partition("t").leader_epoch == 1

    def test_the_preferred_leader_comes_back_only_when_asked_for(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2])
        cluster.fence(1)
        cluster.heartbeat(1)
        cluster.alter_isr("t", 0, [2, 1])
        assert cluster.partition("t").leader == 2
        assert change_of(cluster, "t", election=Election.PREFERRED) == PartitionChangeRecord(
            topic_id=cluster.image.topics.ids["t"], partition_id=0, leader=1
        )

    def test_a_replica_whose_directory_is_offline_does_not_lead(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2])
        cluster.heartbeat(1, offline_log_dirs=[directory_of(1)])
        cluster.register(1, log_dirs=[directory_of(1, 1)])
        cluster.fence(2)
        assert cluster.partition("t").leader == -1


class TestEligibleLeaderReplicas:
    def test_who_leaves_an_isr_below_the_minimum_stays_eligible(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2, 3], min_insync_replicas="2")
        cluster.fence(1)
        assert cluster.partition("t").elr == ()
        cluster.fence(2)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.elr) == (3, (3,), (2,))

    def test_the_last_one_out_is_eligible_and_remembered_as_leader(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2], min_insync_replicas="2")
        cluster.fence(2, 1)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr) == (-1, ())
        assert (partition.elr, partition.last_known_elr) == ((1, 2), (1,))

    def test_an_eligible_replica_that_returns_leads_with_nothing_lost(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2], min_insync_replicas="2")
        cluster.fence(2, 1)
        cluster.heartbeat(2)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.elr, partition.last_known_elr) == (2, (2,), (1,), ())
        assert partition.leader_recovery_state == LeaderRecoveryState.RECOVERED

    def test_an_isr_at_the_minimum_clears_the_eligible(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2, 3], min_insync_replicas="2")
        cluster.fence(1, 2)
        cluster.heartbeat(1)
        assert cluster.partition("t").elr == (2,)
        cluster.alter_isr("t", 0, [3, 1])
        assert cluster.partition("t").elr == ()

    def test_the_minimum_is_no_more_than_the_topic_has_replicas(self, cluster: Cluster) -> None:
        cluster.create("t", [1], min_insync_replicas="2")
        cluster.fence(1)
        assert cluster.partition("t").elr == (1,)

    def test_after_a_crash_a_replica_is_not_eligible(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2], min_insync_replicas="2")
        cluster.fence(2, 1)
        cluster.pass_time(60_000)
        cluster.register(2, incarnation_id=directory_of(2, 50), previous_broker_epoch=-1)
        assert cluster.partition("t").elr == (1,)

    def test_after_a_clean_stop_it_stays_eligible(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2], min_insync_replicas="2")
        cluster.fence(2, 1)
        cluster.pass_time(60_000)
        epoch = cluster.image.cluster.brokers[2].epoch
        cluster.register(2, incarnation_id=directory_of(2, 50), previous_broker_epoch=epoch)
        assert cluster.partition("t").elr == (1, 2)

    def test_the_last_known_leader_leads_when_nobody_is_eligible(self, cluster: Cluster) -> None:
        cluster.create("t", [1])
        cluster.fence(1)
        cluster.pass_time(60_000)
        cluster.register(1, incarnation_id=directory_of(1, 50))
        assert (cluster.partition("t").elr, cluster.partition("t").last_known_elr) == ((), (1,))
        cluster.heartbeat(1)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.last_known_elr) == (1, (1,), ())
        assert partition.leader_recovery_state == LeaderRecoveryState.RECOVERING

    def test_a_last_known_leader_that_was_reassigned_away_is_forgotten(self, cluster: Cluster) -> None:
        cluster.create("t", [1, 2], min_insync_replicas="2")
        cluster.fence(2, 1)
        assert (cluster.partition("t").elr, cluster.partition("t").last_known_elr) == ((1, 2), (1,))
        change = change_of(cluster, "t", replicas=(2,))
        assert isinstance(change, PartitionChangeRecord)
        assert (change.replicas, change.last_known_elr) == ([2], [])
        cluster.write(change, version=2)
        cluster.heartbeat(1)
        assert cluster.partition("t").leader == -1

    def test_a_last_known_leader_that_holds_the_partition_no_longer_does_not_lead_it(self, cluster: Cluster) -> None:
        """As a controller of Apache Kafka leaves it behind."""
        cluster.create("t", [1, 2], min_insync_replicas="2")
        cluster.fence(2, 1)
        topic = cluster.image.topics.topic("t")
        assert topic is not None
        moved = PartitionChangeRecord(
            topic_id=topic.id, partition_id=0, replicas=[2], directories=[directory_of(2)], eligible_leader_replicas=[]
        )
        cluster.write(moved, version=2)
        cluster.heartbeat(1)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.last_known_elr) == (-1, (), ())

    def test_without_elr_the_last_replica_stays_in_the_isr(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1)
        cluster.create("t", [1])
        cluster.fence(1)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr, partition.elr) == (-1, (1,), ())


class TestUncleanElection:
    def test_takes_any_live_replica_and_says_that_it_recovers(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1, 2)
        cluster.create("t", [1, 2], unclean_leader_election_enable="true")
        cluster.fence(2)
        cluster.heartbeat(2)
        cluster.fence(1)
        partition = cluster.partition("t")
        assert (partition.leader, partition.isr) == (2, (2,))
        assert partition.leader_recovery_state == LeaderRecoveryState.RECOVERING

    def test_is_refused_by_default(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        cluster.fence(2)
        cluster.heartbeat(2)
        cluster.fence(1)
        assert cluster.partition("t").leader == -1


class TestReassignmentReplicas:
    def test_what_is_removed_stays_at_the_end_until_all_that_is_added_is_in_sync(self) -> None:
        move = ReassignmentReplicas((1, 2, 3), (), ()).redirected((2, 3, 4))
        assert move == ReassignmentReplicas((2, 3, 4, 1), (4,), (1,))
        assert move.completed((1, 2, 3)) is None
        assert move.completed((1, 2, 3, 4)) == Completed((2, 3, 4), (2, 3, 4))

    def test_a_smaller_replica_set_waits_for_all_that_remain(self) -> None:
        move = ReassignmentReplicas((0, 1, 2, 3, 4), (), ()).redirected((2, 3, 4, 5))
        assert move.completed((0, 1, 5)) is None
        assert move.completed((0, 1, 2, 3, 4, 5)) == Completed((2, 3, 4, 5), (2, 3, 4, 5))

    def test_nothing_to_do_is_never_complete(self) -> None:
        assert ReassignmentReplicas((1, 2), (), ()).completed((1, 2)) is None

    def test_turned_back_it_waits_for_nobody(self) -> None:
        move = ReassignmentReplicas((1, 2, 4, 3), (4,), (3,)).redirected((1, 2, 3))
        assert move == ReassignmentReplicas((1, 2, 3, 4), (), (4,))
        assert move.completed((1, 2, 3)) == Completed((1, 2, 3), (1, 2, 3))
