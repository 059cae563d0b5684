"""AddPartitionsToTxn from producers and brokers, AddOffsetsToTxn, and verification."""

import pytest

from ottla.coordinator.ports import PartitionKey
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from tests.unit.coordinator.runtime.fake import Answers
from tests.unit.coordinator.txn.world import A0, A1, B0, ID, World


def test_partitions_join_the_transaction() -> None:
    world = World()
    producer = world.producer()
    assert world.add(producer, A0) == 0
    world.pass_ms(10)
    assert world.add(producer, B0, A1) == 0
    found = world.describe()
    assert {(topic.topic, tuple(topic.partitions)) for topic in found.topics} == {("a", (0, 1)), ("b", (0,))}
    assert (found.transaction_state, found.transaction_start_time_ms) == ("Ongoing", 1_000)


def test_partitions_that_are_in_already_write_nothing() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0, A1)
    before = len(world.log.batches)
    assert world.add(producer, A1) == 0
    assert len(world.log.batches) == before


@pytest.mark.parametrize(("version", "code"), [(0, 47), (1, 47), (2, 90), (3, 90), (5, 90)])
def test_zombies_are_fenced(version: int, code: int) -> None:
    world = World()
    zombie = world.producer()
    world.producer()
    before = len(world.log.batches)
    assert world.add(zombie, A0, version=version) == code
    assert world.add_offsets(zombie, version=min(version, 4)) == code
    assert len(world.log.batches) == before


def test_a_higher_epoch_than_was_given_is_fenced_too() -> None:
    world = World()
    pid, epoch = world.producer()
    assert world.add((pid, epoch + 1), A0) == 90


def test_unknown_ids_and_foreign_producers() -> None:
    world = World()
    assert world.add((1, 0), A0) == 49
    pid, epoch = world.producer()
    assert world.add((pid + 1, epoch), A0) == 49


def test_one_bad_topic_refuses_all() -> None:
    world = World()
    producer = world.producer()
    missing = PartitionKey("missing", 0)
    response = world.add_raw(producer, A0, missing, version=3)
    codes = {
        topic.name: topic.results_by_partition[0].partition_error_code
        for topic in response.results_by_topic_v3_and_below
    }
    assert codes == {"a": 55, "missing": 3}
    assert world.state == "Empty"


def test_unauthorized_topics_refuse_all() -> None:
    world = World()
    pid, epoch = world.producer()
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ID,
        v3_and_below_producer_id=pid,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=[0]) for name in "ab"],
    )
    answers = Answers()
    world.coordinator.add_partitions_to_txn(request, 3, world.now, answers, frozenset({"b"}))
    codes = [topic.results_by_partition[0].partition_error_code for topic in answers.only.results_by_topic_v3_and_below]
    assert codes == [55, 29]


def test_while_a_transaction_ends_nothing_joins() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0)
    next_epoch = world.end(producer).producer_epoch
    assert world.add((producer[0], next_epoch), A0) == 51
    assert world.verify((producer[0], next_epoch), A0) == {A0: 51}
    world.write_markers()
    assert world.add((producer[0], next_epoch), A0) == 0


def test_offsets_join_by_their_groups_partition() -> None:
    world = World()
    producer = world.producer()
    assert world.add_offsets(producer) == 0
    assert [(topic.topic, topic.partitions) for topic in world.describe().topics] == [("__consumer_offsets", [0])]


def test_verification_tells_what_was_added_and_adds_nothing() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0)
    assert world.verify(producer, A0, A1) == {A0: 0, A1: 120}
    assert world.verify((producer[0], producer[1] + 1), A0) == {A0: 90}
    assert world.verify((7, 0), A0) == {A0: 49}
    assert len(world.describe().topics) == 1


def test_verification_sees_committed_data_alone() -> None:
    world = World()
    producer = world.producer()
    world.commits = False
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ID,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="a", partitions=[0])],
    )
    answers = Answers()
    world.coordinator.add_partitions_to_txn(request, 3, world.now, answers)
    world.settle()
    assert world.verify(producer, A0) == {A0: 120}
    world.commit()
    assert answers.given
    assert world.verify(producer, A0) == {A0: 0}


def test_a_batch_of_transactions_gets_one_answer() -> None:
    world = World()
    pid, epoch = world.producer()
    topics = [AddPartitionsToTxnTopic(name="a", partitions=[0])]
    entries = [
        AddPartitionsToTxnTransaction(transactional_id=ID, producer_id=pid, producer_epoch=epoch, topics=topics),
        AddPartitionsToTxnTransaction(
            transactional_id="other", producer_id=1, producer_epoch=0, verify_only=True, topics=topics
        ),
        AddPartitionsToTxnTransaction(transactional_id="", producer_id=1, producer_epoch=0, topics=topics),
    ]
    answers = Answers()
    world.coordinator.add_partitions_to_txn(AddPartitionsToTxnRequest(transactions=entries), 5, world.now, answers)
    world.settle()
    codes = {
        result.transactional_id: result.topic_results[0].results_by_partition[0].partition_error_code
        for result in answers.only.results_by_transaction
    }
    assert codes == {ID: 0, "other": 49, "": 42}


def test_a_batch_of_nothing_is_answered() -> None:
    answers = Answers()
    World().coordinator.add_partitions_to_txn(AddPartitionsToTxnRequest(), 5, 0, answers)
    assert answers.only.results_by_transaction == []
