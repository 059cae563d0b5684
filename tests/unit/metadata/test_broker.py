"""Brokers: registered, heard, fenced, shut down, unregistered, and with directories that fail."""

import pytest

from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import (
    BrokerIdNotRegisteredError,
    DuplicateBrokerRegistrationError,
    InconsistentClusterIdError,
    InvalidRegistrationError,
    StaleBrokerEpochError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    RequestDirectoryData,
    RequestPartitionData,
    RequestTopicData,
)
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_registration import Feature
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.protocol.metadata_log.broker import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from ottla.protocol.metadata_log.topic import PartitionChangeRecord
from tests.unit.metadata.cluster import CONTROLLER_ID, Cluster, directory_of, registration, uuid_of


class TestRegistration:
    def test_a_new_broker_is_fenced_and_its_epoch_is_the_offset_of_its_record(self) -> None:
        cluster = Cluster()
        offset = cluster.quorum.end_offset()
        assert cluster.register(1) == offset
        broker = cluster.image.cluster.brokers[1]
        assert (broker.fenced, broker.epoch, broker.listeners[0].port) == (True, offset, 9093)
        assert isinstance(cluster.quorum.records(offset)[-1], RegisterBrokerRecord)

    def test_another_cluster_is_refused(self) -> None:
        with pytest.raises(InconsistentClusterIdError, match="Expected cluster ID ottla-test-cluster-idA, but got"):
            Cluster().register(1, cluster_id="other")

    def test_an_id_whose_owner_lives_is_refused_until_its_session_ends(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        cluster.pass_time(9_000)
        with pytest.raises(DuplicateBrokerRegistrationError, match="Another broker is registered with that broker id"):
            cluster.register(1, incarnation_id=uuid_of(7))
        cluster.pass_time(1)
        assert cluster.register(1, incarnation_id=uuid_of(7)) > 0

    def test_a_broker_that_was_given_leave_to_stop_may_register_again_at_once(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        assert cluster.heartbeat(1, want_shut_down=True).should_shut_down
        assert cluster.register(1, incarnation_id=uuid_of(7)) > 0

    def test_a_broker_that_is_shutting_down_may_register_again_at_once(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        cluster.create("a", [1, 2])
        assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
        assert cluster.image.cluster.brokers[1].in_controlled_shutdown
        assert cluster.register(1, incarnation_id=uuid_of(7)) > 0
        assert not cluster.image.cluster.brokers[1].in_controlled_shutdown

    def test_the_broker_of_the_controllers_own_process_need_not_wait(self) -> None:
        cluster = Cluster(broker_incarnation_id=uuid_of(7))
        cluster.start(CONTROLLER_ID)
        with pytest.raises(DuplicateBrokerRegistrationError):
            cluster.register(CONTROLLER_ID, incarnation_id=uuid_of(8))
        cluster.register(CONTROLLER_ID, incarnation_id=uuid_of(7))
        assert cluster.image.cluster.brokers[CONTROLLER_ID].incarnation_id == uuid_of(7)
        cluster.heartbeat(CONTROLLER_ID)
        with pytest.raises(DuplicateBrokerRegistrationError):
            cluster.register(CONTROLLER_ID, incarnation_id=uuid_of(8))

    def test_a_negative_id_is_refused(self) -> None:
        with pytest.raises(InvalidRegistrationError, match="Invalid broker id -1"):
            Cluster().register(-1)

    def test_the_same_incarnation_amends_its_registration(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        epoch = cluster.image.cluster.brokers[1].epoch
        assert cluster.register(1, rack="b") == epoch
        broker = cluster.image.cluster.brokers[1]
        assert (broker.rack, broker.fenced) == ("b", False)

    @pytest.mark.parametrize(
        ("directories", "message"),
        [
            ([], "No directories specified in request"),
            ([uuid_of(-1_000)], "Reserved directory ID in request"),
            ([uuid_of(5), uuid_of(5)], "Duplicate directory ID in request"),
            ([directory_of(1)], "Broker 1 is already registered with directory"),
        ],
    )
    def test_directories_must_be_the_brokers_own(self, directories: list[object], message: str) -> None:
        cluster = Cluster()
        cluster.start(1)
        with pytest.raises(InvalidRegistrationError, match=message):
            cluster.register(2, log_dirs=directories)

    def test_finalized_levels_must_be_supported(self) -> None:
        old = [Feature(name="metadata.version", min_supported_version=7, max_supported_version=20)]
        with pytest.raises(
            UnsupportedVersionError, match=r"does not support finalized version 30 of metadata\.version"
        ):
            Cluster().register(1, features=old)

    def test_a_finalized_feature_that_the_broker_does_not_know_is_refused(self) -> None:
        known = [Feature(name="metadata.version", min_supported_version=7, max_supported_version=30)]
        with pytest.raises(UnsupportedVersionError, match=r"The broker wants a version between 0 and 0, inclusive\."):
            Cluster().register(1, features=known)

    def test_metadata_version_must_be_named(self) -> None:
        features = [f for f in registration(1).features if f.name != "metadata.version"]
        with pytest.raises(InvalidRegistrationError, match=r"Request features do not contain 'metadata\.version'"):
            Cluster().register(1, features=features)

    def test_zookeeper_brokers_are_refused(self) -> None:
        with pytest.raises(BrokerIdNotRegisteredError, match="does not support registering ZK brokers"):
            Cluster().register(1, is_migrating_zk_broker=True)

    def test_before_3_7_directories_are_not_written_down(self) -> None:
        cluster = Cluster(MetadataVersion.V3_6_IV2)
        cluster.start(1)
        assert cluster.image.cluster.brokers[1].directories == ()


class TestHeartbeat:
    def test_unfences_once_the_broker_has_read_its_registration(self) -> None:
        cluster = Cluster()
        epoch = cluster.register(1)
        reply = cluster.heartbeat(1, current_metadata_offset=epoch - 1)
        assert (reply.is_caught_up, reply.is_fenced) == (False, True)
        reply = cluster.heartbeat(1, current_metadata_offset=epoch)
        assert (reply.is_caught_up, reply.is_fenced) == (True, False)
        assert not cluster.image.cluster.brokers[1].fenced

    def test_stays_fenced_while_it_wants_to(self) -> None:
        cluster = Cluster()
        cluster.register(1)
        assert cluster.heartbeat(1, want_fence=True).is_fenced

    def test_an_earlier_life_is_refused(self) -> None:
        cluster = Cluster()
        epoch = cluster.register(1)
        with pytest.raises(StaleBrokerEpochError, match=f"Expected broker epoch {epoch}, but got broker epoch 1"):
            cluster.ask(BrokerHeartbeatRequest(broker_id=1, broker_epoch=1))

    def test_an_unknown_broker_is_refused(self) -> None:
        with pytest.raises(StaleBrokerEpochError, match="Receive a heartbeat from broker 9 before registration"):
            Cluster().ask(BrokerHeartbeatRequest(broker_id=9, broker_epoch=1))

    def test_a_broker_that_falls_silent_is_fenced(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        cluster.pass_time(5_000)
        cluster.heartbeat(2)
        cluster.pass_time(4_000)
        assert not cluster.image.cluster.brokers[1].fenced
        assert cluster.controller.next_tick_ms == 9_001
        cluster.pass_time(1)
        assert cluster.image.cluster.brokers[1].fenced
        assert not cluster.image.cluster.brokers[2].fenced
        assert cluster.partition("t").leader == 2

    def test_a_new_controller_gives_every_broker_a_fresh_session(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        cluster.controller.renounce()
        cluster.now_ms = 100_000
        cluster.controller.claim(2, cluster.loader.image, cluster.now_ms)
        cluster.pass_time(9_000)
        assert not cluster.image.cluster.brokers[1].fenced
        cluster.pass_time(1)
        assert cluster.image.cluster.brokers[1].fenced

    def test_what_kafka_writes_when_the_only_broker_stops_and_comes_back(self) -> None:
        """The records at 106 to 131 of the log in tests/fixtures/kafka-4.3.1-metadata."""
        cluster = Cluster()
        cluster.start(1)
        cluster.create("t", [1])
        start = cluster.quorum.end_offset()
        cluster.heartbeat(1, want_shut_down=True)
        topic_id = cluster.image.topics.ids["t"]
        leaderless = PartitionChangeRecord(
            topic_id=topic_id, partition_id=0, isr=[], leader=-1, eligible_leader_replicas=[1], last_known_elr=[1]
        )
        epoch = cluster.image.cluster.brokers[1].epoch
        assert cluster.quorum.records(start) == [
            BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=epoch, in_controlled_shutdown=1),
            leaderless,
        ]
        start = cluster.quorum.end_offset()
        assert cluster.heartbeat(1, want_shut_down=True).should_shut_down
        assert cluster.quorum.records(start) == [
            BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=epoch, fenced=1)
        ]
        cluster.pass_time(60_000)
        cluster.register(1, incarnation_id=uuid_of(7), previous_broker_epoch=epoch)
        start = cluster.quorum.end_offset()
        cluster.heartbeat(1)
        epoch = cluster.image.cluster.brokers[1].epoch
        assert cluster.quorum.records(start) == [
            BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=epoch, fenced=-1),
            PartitionChangeRecord(
                topic_id=topic_id, partition_id=0, isr=[1], leader=1, eligible_leader_replicas=[], last_known_elr=[]
            ),
        ]


class TestControlledShutdown:
    def test_a_broker_that_leads_may_stop_when_the_others_have_read_who_leads_now(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        behind = cluster.quorum.end_offset() - 1
        reply = cluster.heartbeat(1, want_shut_down=True)
        assert (reply.should_shut_down, reply.is_fenced) == (False, False)
        assert cluster.partition("t").leader == 2
        assert cluster.image.cluster.brokers[1].in_controlled_shutdown
        cluster.heartbeat(2, current_metadata_offset=behind)
        assert not cluster.heartbeat(1, want_shut_down=True).should_shut_down
        cluster.heartbeat(2)
        reply = cluster.heartbeat(1, want_shut_down=True)
        assert (reply.should_shut_down, reply.is_fenced) == (True, True)
        assert cluster.image.cluster.brokers[1].fenced

    def test_a_broker_that_leads_nothing_may_stop_at_once(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        assert cluster.heartbeat(2, want_shut_down=True).should_shut_down
        assert cluster.partition("t").isr == (1,)

    def test_a_broker_in_shutdown_gets_no_new_replicas(self) -> None:
        cluster = Cluster(default_replication_factor=1, num_partitions=4)
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        cluster.heartbeat(1, want_shut_down=True)
        cluster.create("new")
        topic = cluster.image.topics.topic("new")
        assert topic is not None
        assert {partition.replicas for partition in topic.partitions} == {(2,)}

    @pytest.mark.parametrize("elr", [False, True])
    def test_a_broker_in_shutdown_is_not_elected_when_it_is_heard_again(self, elr: bool) -> None:
        cluster = Cluster(elr=elr)
        cluster.start(1, 2)
        cluster.create("t", [1])
        cluster.create("u", [2])
        cluster.heartbeat(1, want_shut_down=True)
        cluster.pass_time(9_001)
        assert cluster.image.cluster.brokers[1].fenced
        cluster.heartbeat(1)
        broker = cluster.image.cluster.brokers[1]
        assert (broker.fenced, broker.in_controlled_shutdown) == (False, True)
        assert cluster.partition("t").leader == -1


class TestUnregistration:
    def test_removes_the_broker_from_isrs_and_from_the_cluster(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        records = cluster.written_by(UnregisterBrokerRequest(broker_id=1))
        assert isinstance(records[-1], UnregisterBrokerRecord)
        assert 1 not in cluster.image.cluster.brokers
        assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2,))

    def test_an_unknown_broker_is_refused(self) -> None:
        with pytest.raises(BrokerIdNotRegisteredError, match="Broker ID 4 is not currently registered"):
            Cluster().ask(UnregisterBrokerRequest(broker_id=4))


class TestDirectories:
    def test_partitions_in_a_lost_directory_move_to_other_brokers(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        start = cluster.quorum.end_offset()
        cluster.heartbeat(1, offline_log_dirs=[directory_of(1)])
        assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2,))
        change = cluster.quorum.records(start)[-1]
        assert change == BrokerRegistrationChangeRecord(
            broker_id=1, broker_epoch=cluster.image.cluster.brokers[1].epoch
        )

    def test_only_the_lost_directory_counts(self) -> None:
        cluster = Cluster()
        cluster.start(1, log_dirs=[directory_of(1), directory_of(1, 1)])
        cluster.heartbeat(1, offline_log_dirs=[directory_of(1, 1)])
        assert cluster.image.cluster.brokers[1].directories == (directory_of(1),)

    def test_a_broker_that_comes_back_without_a_directory_does_not_lead_there(self) -> None:
        cluster = Cluster()
        directories = [directory_of(1), directory_of(1, 1)]
        cluster.start(1, log_dirs=directories)
        for name, directory in zip("ab", directories, strict=True):
            cluster.create(name, [1])
            place = RequestTopicData(
                topic_id=cluster.image.topics.ids[name], partitions=[RequestPartitionData(partition_index=0)]
            )
            cluster.ask(
                AssignReplicasToDirsRequest(
                    broker_id=1,
                    broker_epoch=cluster.image.cluster.brokers[1].epoch,
                    directories=[RequestDirectoryData(id=directory, topics=[place])],
                )
            )
        cluster.fence(1)
        assert not cluster.heartbeat(1, offline_log_dirs=directories[:1]).is_fenced
        assert (cluster.partition("a").leader, cluster.partition("b").leader) == (-1, 1)

    def test_cordoned_directories_are_written_down_when_they_change(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        assert cluster.image.cluster.brokers[1].cordoned_directories == ()
        cluster.heartbeat(1, cordoned_log_dirs=[directory_of(1)])
        assert not cluster.image.cluster.brokers[1].takes_new_replicas
        start = cluster.quorum.end_offset()
        cluster.heartbeat(1, cordoned_log_dirs=[directory_of(1)])
        assert cluster.quorum.records(start) == []
