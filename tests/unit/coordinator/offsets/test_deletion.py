"""Deleted offsets stay deleted, whatever transactions were open."""

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.deletion import DeletedTopic, delete, delete_all, delete_of_topics
from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetAndMetadata, OffsetsState
from ottla.coordinator.group.offsets.record import offset_record
from ottla.coordinator.group.offsets.refusal import refused_commit, refused_delete, refused_transactional
from ottla.coordinator.group.offsets.replay import replay_offset_marker
from ottla.protocol.errors import ErrorCode, GroupIdNotFoundError, NonEmptyGroupError
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.unit.coordinator.offsets.fake import RULES, FakeRules, commit_request, replayed, txn_request

OLD_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAg")
NEW_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAw")


def stored(topic_id: Uuid = ZERO_UUID) -> OffsetAndMetadata:
    return OffsetAndMetadata(5, -1, "", 0, -1, topic_id, -1)


def some_offsets() -> OffsetsState:
    """g has t-0, t-1 and u-0, and a transaction of producer 1 is about to change t-1 and t-2; h has t-0."""
    places = [("g", "t", 0), ("g", "t", 1), ("g", "u", 0), ("h", "t", 0)]
    state = replayed([offset_record(*place, stored()) for place in places])
    pending = [offset_record("g", "t", partition, stored()) for partition in (1, 2)]
    return replayed(pending, state, offset=4, producer_id=1)


def deleting(topic: str, *partitions: int) -> OffsetDeleteRequest:
    asked = [OffsetDeleteRequestPartition(partition_index=partition) for partition in partitions]
    return OffsetDeleteRequest(group_id="g", topics=[OffsetDeleteRequestTopic(name=topic, partitions=asked)])


def test_only_what_is_there_gets_a_tombstone() -> None:
    outcome = delete(some_offsets(), RULES, deleting("t", 0, 2, 3, 0))
    assert [partition.error_code for partition in outcome.response.topics[0].partitions] == [0, 0, 0, 0]
    assert [record.key.partition for record in outcome.records] == [0, 2]
    state = replayed(outcome.records, some_offsets(), offset=6)
    state = replay_offset_marker(state, 1, committed=True)
    assert [state.offset("g", "t", partition) is None for partition in range(3)] == [True, False, True]


def test_a_topic_in_use_is_kept() -> None:
    outcome = delete(some_offsets(), FakeRules(subscribed=frozenset({"t"})), deleting("t", 0))
    assert outcome.records == []
    assert outcome.response.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_unknown_and_busy_groups_refuse() -> None:
    with pytest.raises(GroupIdNotFoundError):
        delete(EMPTY_OFFSETS, None, deleting("t", 0))
    with pytest.raises(NonEmptyGroupError):
        delete(EMPTY_OFFSETS, FakeRules(NonEmptyGroupError()), deleting("t", 0))


def test_a_deleted_group_leaves_nothing() -> None:
    records = delete_all(some_offsets(), "g")
    assert len(records) == 4
    state = replayed(records, some_offsets(), offset=6)
    assert state.is_idle("g")
    assert replay_offset_marker(state, 1, committed=True).is_idle("g")
    assert not state.is_idle("h")


def test_a_deleted_topic_takes_the_offsets_of_all_groups_along() -> None:
    records = delete_of_topics(some_offsets(), [DeletedTopic("t", OLD_ID), DeletedTopic("unknown", NEW_ID)])
    assert len(records) == 4
    state = replayed(records, some_offsets(), offset=6)
    assert list(state.committed["g"]) == ["u"]
    assert state.is_idle("h")
    assert not state.pending


@pytest.mark.parametrize("others", [0, 1, 100])
def test_a_topic_is_found_among_any_number_of_deleted_ones(others: int) -> None:
    deleted = [DeletedTopic(f"other-{number}", OLD_ID) for number in range(others)]
    deleted += [DeletedTopic("t", NEW_ID), DeletedTopic("t", OLD_ID)]
    assert len(delete_of_topics(some_offsets(), deleted)) == 4


def test_the_offsets_of_the_next_topic_of_that_name_are_kept() -> None:
    records = [offset_record("g", "t", 0, stored(OLD_ID)), offset_record("g", "t", 1, stored(NEW_ID))]
    (tombstone,) = delete_of_topics(replayed(records), [DeletedTopic("t", OLD_ID)])
    assert tombstone.key.partition == 0


def test_whole_refusals() -> None:
    code = ErrorCode.NOT_COORDINATOR
    commit = refused_commit(commit_request("g", [("t", 0, 1), ("t", 1, 1)]), code)
    in_transaction = refused_transactional(txn_request("g", [("t", 0, 1)]), code)
    assert [partition.error_code for topic in commit.topics for partition in topic.partitions] == [code, code]
    assert in_transaction.topics[0].partitions[0].error_code == refused_delete(code).error_code == code
