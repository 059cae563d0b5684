"""The controller itself: when it answers, what it forgets, how it begins and how it writes."""

import gc
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ottla.metadata.batch import CommittedBatch
from ottla.metadata.controller.bootstrap import bootstrap_records
from ottla.metadata.controller.controller import Controller
from ottla.metadata.controller.controller_result import RECORDS_PER_BATCH_MAX
from ottla.metadata.errors import MetadataError
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import (
    BrokerIdNotRegisteredError,
    ErrorCode,
    InvalidRegistrationError,
    NotControllerError,
    RequestTimedOutError,
    TopicAlreadyExistsError,
)
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.controller_registration import ControllerRegistrationRequest
from ottla.protocol.messages.create_topics import CreateTopicsRequest
from ottla.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.record import NoOpRecord
from ottla.protocol.metadata_log.security import UserScramCredentialRecord
from ottla.protocol.metadata_log.topic import PartitionRecord, TopicRecord
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from tests.unit.metadata.cluster import Cluster, MemoryQuorum, registration, topic_of, uuid_of


def same(one: MetadataImage, other: MetadataImage) -> bool:
    """Whether two images say the same, wherever they stand."""
    parts = [name for name in MetadataImage.__slots__ if name != "provenance"]
    return all(getattr(one, part) == getattr(other, part) for part in parts)


class TestAnswers:
    def test_are_given_after_the_commit(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        cluster.auto_commit = False
        answer = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")]))
        seen = []
        answer.when_done(lambda answer: seen.append(answer.response.topics[0].error_code))
        assert not answer.is_done
        with pytest.raises(RuntimeError):
            _ = answer.response
        cluster.controller.committed(cluster.quorum.end_offset() - 2)
        assert not answer.is_done
        cluster.commit()
        assert seen == [0]

    def test_uncommitted_records_are_visible_to_later_operations(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        cluster.auto_commit = False
        cluster.ask(CreateTopicsRequest(topics=[topic_of("t")]))
        second = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")]))
        assert not second.is_done, "the refusal tells of a topic that is not committed yet"
        cluster.commit()
        assert second.response.topics[0].error_code == TopicAlreadyExistsError.code

    def test_a_read_is_answered_at_once_if_nothing_is_pending(self) -> None:
        cluster = Cluster()
        cluster.auto_commit = False
        assert cluster.ask(ListPartitionReassignmentsRequest(topics=None)).is_done

    def test_nothing_is_told_of_what_a_tick_wrote_before_it_is_committed(self) -> None:
        cluster = Cluster(metadata_max_idle_interval_ms=0)
        cluster.start(1, 2)
        cluster.create("t", [1, 2])
        cluster.auto_commit = False
        cluster.pass_time(9_001)
        broker = cluster.image.cluster.brokers[1]
        assert broker.fenced
        answers = [
            cluster.ask(BrokerHeartbeatRequest(broker_id=1, broker_epoch=broker.epoch, want_fence=True)),
            cluster.ask(ListPartitionReassignmentsRequest(topics=None)),
            cluster.ask(CreateTopicsRequest(topics=[topic_of("u", [[1]])], validate_only=True)),
            cluster.ask(UnregisterBrokerRequest(broker_id=9)),
        ]
        assert not any(answer.is_done for answer in answers)
        cluster.commit()
        assert answers[0].response.is_fenced
        assert answers[2].response.topics[0].error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert isinstance(answers[3].error, BrokerIdNotRegisteredError)

    def test_nor_of_what_a_new_controller_began_with(self) -> None:
        cluster = Cluster()
        cluster.controller.renounce()
        cluster.controller.claim(2, cluster.loader.image, 0, in_transaction=True)
        cluster.auto_commit = False
        answer = cluster.ask(ListPartitionReassignmentsRequest(topics=None))
        assert not answer.is_done
        cluster.controller.committed(cluster.quorum.end_offset() - 1)
        assert answer.is_done

    def test_a_quorum_that_commits_while_it_appends_is_answered_for(self) -> None:
        class Alone(MemoryQuorum):
            def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
                offset = super().append(epoch, records)
                controller.committed(offset)
                return offset

        cluster = Cluster()
        controller = Controller(cluster.settings, replace(cluster.ports, quorum=Alone()), bootstrap_records())
        controller.claim(1, EMPTY_IMAGE, now_ms=0)
        assert controller.submit(registration(1), 0).is_done

    def test_a_lost_leadership_fails_what_was_pending_and_rolls_it_back(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        cluster.auto_commit = False
        answer = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")]))
        cluster.quorum.leads = False
        cluster.controller.renounce()
        assert isinstance(answer.error, NotControllerError)
        cluster.quorum.leads = True
        cluster.controller.claim(2, cluster.loader.image, now_ms=0)
        assert cluster.image.topics.topic("t") is None

    def test_a_refusal_leaves_nothing_to_the_garbage_collector(self) -> None:
        cluster = Cluster()
        cluster.auto_commit = False
        cluster.quorum.leads = False
        cluster.controller.renounce()
        gc.collect()
        gc.disable()
        try:
            for _ in range(10):
                error = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")])).error
                assert isinstance(error, NotControllerError)
            assert not gc.collect()
        finally:
            gc.enable()

    def test_an_append_that_the_quorum_refuses_ends_the_term(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        cluster.auto_commit = False
        first = cluster.ask(CreateTopicsRequest(topics=[topic_of("a")]))
        cluster.quorum.leads = False
        second = cluster.ask(CreateTopicsRequest(topics=[topic_of("b")]))
        assert isinstance(first.error, NotControllerError)
        assert isinstance(second.error, NotControllerError)
        assert not cluster.controller.is_active

    def test_an_idle_controller_says_so(self) -> None:
        cluster = Cluster()
        cluster.controller.renounce()
        answer = cluster.controller.submit(CreateTopicsRequest(topics=[topic_of("t")]), 0)
        assert str(answer.error) == "No controller appears to be active."
        assert cluster.controller.next_tick_ms is None
        cluster.controller.tick(10**9)


class TestDeadlines:
    def test_what_cannot_be_committed_in_time_is_answered_so(self) -> None:
        cluster = Cluster(metadata_max_idle_interval_ms=0)
        cluster.start(1)
        cluster.auto_commit = False
        slow = cluster.ask(registration(2))
        quick = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")], timeout_ms=700))
        cluster.pass_time(699)
        assert not quick.is_done
        assert cluster.controller.next_tick_ms == 700
        cluster.pass_time(1)
        assert isinstance(quick.error, RequestTimedOutError)
        assert not slow.is_done
        cluster.pass_time(60_000)
        assert isinstance(slow.error, RequestTimedOutError)
        cluster.commit()
        assert cluster.loader.image.topics.topic("t") is not None

    def test_no_client_can_have_its_answer_kept_for_weeks(self) -> None:
        cluster = Cluster(metadata_max_idle_interval_ms=0)
        cluster.start(1)
        cluster.auto_commit = False
        answer = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")], timeout_ms=2**31 - 1))
        cluster.pass_time(600_000)
        assert isinstance(answer.error, RequestTimedOutError)

    def test_a_request_without_time_is_not_carried_out(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        with pytest.raises(RequestTimedOutError):
            cluster.ask(CreateTopicsRequest(topics=[topic_of("t")], timeout_ms=0))
        assert cluster.image.topics.topic("t") is None


class TestActivation:
    def test_a_claim_that_the_quorum_refuses_leaves_nobody_in_charge(self) -> None:
        cluster = Cluster()
        cluster.controller.renounce()
        cluster.quorum.leads = False
        with pytest.raises(NotControllerError):
            cluster.controller.claim(2, cluster.loader.image, 0, in_transaction=True)
        assert not cluster.controller.is_active
        assert cluster.controller.next_tick_ms is None

    def test_an_empty_log_begins_with_the_bootstrap_records(self) -> None:
        """Offsets 3 to 11 of the log in tests/fixtures/kafka-4.3.1-metadata."""
        records = Cluster().quorum.records()
        levels = [(r.name, r.feature_level) for r in records if isinstance(r, FeatureLevelRecord)]
        assert records[0] == BeginTransactionRecord(name="Bootstrap records")
        assert levels == [
            ("metadata.version", 30),
            ("eligible.leader.replicas.version", 1),
            ("group.version", 1),
            ("share.version", 1),
            ("streams.version", 1),
            ("transaction.version", 2),
        ]
        assert records[7:] == [
            ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="1"),
            EndTransactionRecord(),
        ]

    def test_before_transactions_they_come_without_brackets(self) -> None:
        records = Cluster(MetadataVersion.V3_6_IV0).quorum.records()
        assert records == [FeatureLevelRecord(name="metadata.version", feature_level=12)]

    def test_a_log_that_has_begun_is_left_alone(self) -> None:
        cluster = Cluster()
        end = cluster.quorum.end_offset()
        cluster.controller.claim(2, cluster.loader.image, now_ms=0)
        assert cluster.quorum.end_offset() == end

    def test_an_open_transaction_is_aborted(self) -> None:
        cluster = Cluster()
        cluster.controller.renounce()
        topic = TopicRecord(name="half", topic_id=uuid_of(1))
        offset = cluster.quorum.end_offset()
        cluster.quorum.batches.append(CommittedBatch(offset, offset + 1, 1, 0, [BeginTransactionRecord(), topic]))
        cluster.commit()
        assert cluster.loader.in_transaction
        cluster.controller.claim(2, cluster.loader.image, now_ms=0, in_transaction=cluster.loader.in_transaction)
        cluster.commit()
        assert cluster.quorum.records(offset + 2) == [AbortTransactionRecord(reason="Controller failover")]
        assert not cluster.loader.in_transaction
        assert cluster.loader.image.topics.topic("half") is None
        assert same(cluster.loader.image, cluster.image)

    def test_an_empty_log_without_bootstrap_records_is_an_error(self) -> None:
        cluster = Cluster()
        cluster.controller._bootstrap = ()
        cluster.controller.renounce()
        with pytest.raises(MetadataError, match="no bootstrap records"):
            cluster.controller.claim(2, EMPTY_IMAGE, now_ms=0)
        assert not cluster.controller.is_active


class TestWriting:
    def large(self, version: MetadataVersion) -> Cluster:
        """A cluster in which fencing broker 1 takes more records than fit a batch."""
        cluster = Cluster(version)
        cluster.start(1, 2)
        topic_id = uuid_of(77)
        partitions = [
            PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=[1, 2],
                isr=[1, 2],
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
            )
            for index in range(RECORDS_PER_BATCH_MAX + 1)
        ]
        records = [TopicRecord(name="large", topic_id=topic_id), *partitions]
        cluster.controller._write([VersionedRecord(record, 0) for record in records], 0)
        cluster.commit()
        return cluster

    def test_a_large_operation_is_a_metadata_transaction(self) -> None:
        cluster = self.large(MetadataVersion.V4_3_IV0)
        start = len(cluster.quorum.batches)
        cluster.fence(1)
        written = cluster.quorum.batches[start:]
        assert [len(batch.records) for batch in written] == [RECORDS_PER_BATCH_MAX, 4]
        assert isinstance(written[0].records[0], BeginTransactionRecord)
        assert isinstance(written[-1].records[-1], EndTransactionRecord)
        assert same(cluster.loader.image, cluster.image)

    def test_before_transactions_it_is_several_batches(self) -> None:
        cluster = self.large(MetadataVersion.V3_6_IV0)
        start = len(cluster.quorum.batches)
        cluster.fence(1)
        assert [len(batch.records) for batch in cluster.quorum.batches[start:]] == [RECORDS_PER_BATCH_MAX, 2]
        assert cluster.partition("large", 5).leader == 2

    def test_an_operation_that_breaks_half_way_ends_the_term(self) -> None:
        cluster = self.large(MetadataVersion.V4_3_IV0)
        before = cluster.loader.image
        cluster.auto_commit = False
        pending = cluster.ask(CreateTopicsRequest(topics=[topic_of("t")]))
        cluster.quorum.broken_after(1)
        with pytest.raises(MetadataError, match="no more"):
            cluster.fence(1)
        assert not cluster.controller.is_active
        assert isinstance(pending.error, NotControllerError)
        cluster.commit()
        assert cluster.loader.in_transaction
        assert cluster.loader.image.topics.partition(uuid_of(77), 0) == before.topics.partition(uuid_of(77), 0)
        cluster.quorum.broken_after(None)
        cluster.controller.claim(2, cluster.loader.image, 0, in_transaction=True)
        cluster.commit()
        assert isinstance(cluster.quorum.batches[-1].records[0], AbortTransactionRecord)
        assert not cluster.loader.in_transaction
        assert same(cluster.loader.image, cluster.image)

    def test_an_operation_that_breaks_before_it_is_written_changes_nothing(self) -> None:
        cluster = Cluster()
        cluster.start(1)
        before, end = cluster.image, cluster.quorum.end_offset()
        cluster.quorum.broken_after(0)
        with pytest.raises(MetadataError, match="no more"):
            cluster.create("t", [1])
        assert (cluster.image, cluster.quorum.end_offset()) == (before, end)
        cluster.quorum.broken_after(None)
        cluster.create("t", [1])
        assert same(cluster.loader.image, cluster.image)

    def test_a_contradiction_in_a_later_batch_keeps_the_first_out_of_the_log(self) -> None:
        cluster = Cluster()
        end = cluster.quorum.end_offset()
        records = [TopicRecord(name=f"t{index}", topic_id=uuid_of(index)) for index in range(RECORDS_PER_BATCH_MAX + 1)]
        records.append(TopicRecord(name="t0", topic_id=uuid_of(1 << 20)))
        with pytest.raises(MetadataError, match="exists as"):
            cluster.controller._write([VersionedRecord(record, 0) for record in records], 0)
        assert cluster.quorum.end_offset() == end
        assert cluster.controller.is_active

    def test_a_log_may_begin_with_more_than_fits_a_batch(self) -> None:
        users = [
            VersionedRecord(
                UserScramCredentialRecord(
                    name=f"user{index}", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"k", iterations=4096
                ),
                0,
            )
            for index in range(RECORDS_PER_BATCH_MAX)
        ]
        cluster = Cluster(users=users)
        first, _ = cluster.quorum.batches
        assert len(first.records) == RECORDS_PER_BATCH_MAX
        kinds = [type(record) for record in cluster.quorum.records()]
        assert (kinds.count(BeginTransactionRecord), kinds.count(EndTransactionRecord)) == (1, 1)
        assert len(cluster.loader.image.scram) == RECORDS_PER_BATCH_MAX
        assert same(cluster.loader.image, cluster.image)
        with pytest.raises(MetadataError, match="no transactions"):
            Cluster(MetadataVersion.V3_6_IV0, users=users)

    def test_a_beginning_that_breaks_half_way_is_begun_again(self) -> None:
        cluster = Cluster()
        users = [VersionedRecord(NoOpRecord(), 0)] * RECORDS_PER_BATCH_MAX
        quorum = MemoryQuorum()
        quorum.broken_after(1)
        ports = replace(cluster.ports, quorum=quorum)
        controller = Controller(cluster.settings, ports, [*bootstrap_records(), *users])
        with pytest.raises(MetadataError, match="no more"):
            controller.claim(1, EMPTY_IMAGE, 0)
        assert not controller.is_active
        quorum.broken_after(None)
        loader = MetadataLoader()
        loader.load(quorum.batches)
        controller.claim(2, loader.image, 0, in_transaction=loader.in_transaction)
        loader.load(quorum.batches[1:])
        assert same(loader.image, controller.image)
        assert loader.image.features.metadata_version is not None

    def test_an_idle_controller_writes_every_half_second(self) -> None:
        cluster = Cluster()
        end = cluster.quorum.end_offset()
        assert cluster.controller.next_tick_ms == 500
        cluster.controller.tick(499)
        assert cluster.quorum.end_offset() == end
        cluster.controller.tick(500)
        assert cluster.quorum.records(end) == [NoOpRecord()]
        cluster.controller.tick(600)
        assert cluster.quorum.records(end) == [NoOpRecord()]

    def test_controllers_register_too(self) -> None:
        cluster = Cluster()
        cluster.ask(ControllerRegistrationRequest(controller_id=3001, incarnation_id=uuid_of(1)))
        assert set(cluster.image.cluster.controllers) == {3001}

    def test_controllers_with_an_impossible_id_do_not(self) -> None:
        with pytest.raises(InvalidRegistrationError):
            Cluster().ask(ControllerRegistrationRequest(controller_id=-1, incarnation_id=uuid_of(1)))

    def test_the_loader_sees_what_the_controller_sees(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2, 3)
        cluster.create("t", [1, 2, 3])
        cluster.fence(1)
        assert same(cluster.loader.image, cluster.image)
        assert cluster.loader.image.provenance.offset == cluster.image.provenance.offset
