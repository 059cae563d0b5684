"""OffsetFetch: by partition, of a whole group, and only what no transaction may still change."""

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.fetch import fetch
from ottla.coordinator.group.offsets.fetch_version import fetch_answer, groups_asked
from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetAndMetadata, OffsetsState
from ottla.coordinator.group.offsets.record import offset_record
from ottla.coordinator.group.offsets.refusal import refused_fetch
from ottla.protocol.errors import ErrorCode, StaleMemberEpochError
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)
from tests.unit.coordinator.offsets.fake import RULES, FakeRules, replayed

OLD_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAg")
NEW_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAw")


def stored(offset: int, topic_id: Uuid = ZERO_UUID) -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, 4, "mine", 0, -1, topic_id, -1)


def state_with_a_transaction() -> OffsetsState:
    """Partitions 0 and 1 are committed; a transaction is about to change 1 and 2."""
    state = replayed([offset_record("g", "t", partition, stored(10 + partition)) for partition in (0, 1)])
    pending = [offset_record("g", "t", partition, stored(20)) for partition in (1, 2)]
    return replayed(pending, state, offset=2, producer_id=1)


def asking(*partitions: int, topic_id: Uuid = ZERO_UUID) -> OffsetFetchRequestGroup:
    topic = OffsetFetchRequestTopics(name="t", topic_id=topic_id, partition_indexes=list(partitions))
    return OffsetFetchRequestGroup(group_id="g", topics=[topic])


def found(answer: OffsetFetchResponseGroup) -> list[tuple[int, int, int]]:
    return [
        (partition.partition_index, partition.committed_offset, partition.error_code)
        for topic in answer.topics
        for partition in topic.partitions
    ]


def test_what_is_committed_and_nothing_else() -> None:
    answer = fetch(state_with_a_transaction(), RULES, asking(0, 1, 2, 3), require_stable=False)
    assert found(answer) == [(0, 10, 0), (1, 11, 0), (2, -1, 0), (3, -1, 0)]
    first = answer.topics[0].partitions[0]
    assert (first.committed_leader_epoch, first.metadata) == (4, "mine")
    assert answer.topics[0].partitions[3].metadata == ""


def test_what_a_transaction_may_change_is_unstable() -> None:
    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    answer = fetch(state_with_a_transaction(), RULES, asking(0, 1, 2), require_stable=True)
    assert found(answer) == [(0, 10, 0), (1, -1, unstable), (2, -1, unstable)]
    everything = OffsetFetchRequestGroup(group_id="g", topics=None)
    answer = fetch(state_with_a_transaction(), RULES, everything, require_stable=True)
    assert found(answer) == [(0, 10, 0), (1, -1, unstable)]


def test_all_of_a_group() -> None:
    everything = OffsetFetchRequestGroup(group_id="g", topics=None)
    assert found(fetch(state_with_a_transaction(), RULES, everything, require_stable=False)) == [(0, 10, 0), (1, 11, 0)]
    everything.group_id = "other"
    assert fetch(state_with_a_transaction(), RULES, everything, require_stable=False).topics == []


def test_an_unknown_group_has_no_offsets() -> None:
    assert found(fetch(EMPTY_OFFSETS, None, asking(0, 1), require_stable=True)) == [(0, -1, 0), (1, -1, 0)]
    everything = OffsetFetchRequestGroup(group_id="g", topics=None)
    assert fetch(EMPTY_OFFSETS, None, everything, require_stable=False).topics == []


@pytest.mark.parametrize(
    ("committed_id", "asked_id", "offset"),
    [(OLD_ID, OLD_ID, 5), (OLD_ID, ZERO_UUID, 5), (ZERO_UUID, NEW_ID, 5), (OLD_ID, NEW_ID, -1)],
)
def test_offsets_of_a_topic_that_was_made_anew_are_not_its_own(committed_id: Uuid, asked_id: Uuid, offset: int) -> None:
    state = replayed([offset_record("g", "t", 0, stored(5, committed_id))])
    assert found(fetch(state, RULES, asking(0, topic_id=asked_id), require_stable=False)) == [(0, offset, 0)]


def test_the_group_may_refuse() -> None:
    with pytest.raises(StaleMemberEpochError):
        fetch(EMPTY_OFFSETS, FakeRules(StaleMemberEpochError()), asking(0), require_stable=False)


@pytest.mark.parametrize("version", range(1, 11))
def test_every_version_asks_and_is_answered(version: int) -> None:
    if version < 8:
        topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0])
        request = OffsetFetchRequest(group_id="g", topics=[topic])
    else:
        request = OffsetFetchRequest(groups=[asking(0)])
    asked = groups_asked(request, version)
    groups = [fetch(state_with_a_transaction(), RULES, group, require_stable=False) for group in asked]
    for group in groups:
        for answered in group.topics:
            answered.topic_id = NEW_ID if version >= 10 else ZERO_UUID
    answer = OffsetFetchResponse.decode(fetch_answer(groups, version).encode(version), version)
    topics = answer.topics if version < 8 else answer.groups[0].topics
    assert topics[0].partitions[0].committed_offset == 10


def test_all_offsets_are_asked_for_by_null_before_there_were_groups() -> None:
    (group,) = groups_asked(OffsetFetchRequest(group_id="g", topics=None), 5)
    assert group.topics is None


@pytest.mark.parametrize("version", [1, 2, 7, 8, 10])
def test_a_refusal_reaches_the_client_in_every_version(version: int) -> None:
    refused = refused_fetch(asking(0), ErrorCode.NOT_COORDINATOR, version)
    answer = OffsetFetchResponse.decode(fetch_answer([refused], version).encode(version), version)
    if version == 1:
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
    elif version < 8:
        assert answer.error_code == ErrorCode.NOT_COORDINATOR
    else:
        assert answer.groups[0].error_code == ErrorCode.NOT_COORDINATOR
