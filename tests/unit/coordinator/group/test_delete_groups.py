"""DeleteGroups and OffsetDelete, and the tombstones that they leave."""

from typing import Any

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.unit.coordinator.group.member import (
    Member,
    commit_request,
    join_request,
    protocols,
    settle_group,
    subscription,
)
from tests.unit.coordinator.group.rig import Rig


def _delete(rig: Rig, *group_ids: str) -> list[tuple[str, int]]:
    results: list[DeletableGroupResult] = rig.ask(DeleteGroupsRequest(groups_names=list(group_ids))).results
    return [(result.group_id, result.error_code) for result in results]


def _offsets(rig: Rig, group_id: str) -> dict[str, Any]:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)])
    (group,) = rig.ask(request, 8).groups
    assert group.error_code == 0
    return {topic.name: topic.partitions[0].committed_offset for topic in group.topics}


def _delete_offsets(rig: Rig, group_id: str, *topics: str) -> OffsetDeleteResponse:
    partitions = [OffsetDeleteRequestPartition(partition_index=0)]
    asked = [OffsetDeleteRequestTopic(name=topic, partitions=partitions) for topic in topics]
    answer: OffsetDeleteResponse = rig.ask(OffsetDeleteRequest(group_id=group_id, topics=asked))
    return answer


def test_each_group_has_its_own_result() -> None:
    rig = Rig(partitions=5)
    settle_group(rig, Member(rig, "used"))
    for group_id in ("one", "two", ""):
        rig.ask(commit_request(group_id), 8)
    assert _delete(rig, "one", "used", "nobody", "", "one") == [("one", 0), ("used", 68), ("nobody", 69), ("", 0)]
    assert {group.group_id for group in rig.ask(ListGroupsRequest()).groups} == {"used", "two"}


def test_a_deleted_group_takes_its_offsets_with_it_also_over_a_restart() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    assert member.commit() == 0
    assert member.leave() == 0
    assert _offsets(rig, "g") == {"t": 5}
    assert _delete(rig, "g") == [("g", 0)]
    assert [record.value for record in rig.records()[-2:]] == [None, None]
    for _ in range(2):
        assert _offsets(rig, "g") == {}
        assert rig.ask(ListGroupsRequest()).groups == []
        rig.restart()


def test_an_id_that_was_handed_out_is_void_once_the_group_is_deleted() -> None:
    rig = Rig()
    member_id = rig.ask(join_request()).member_id
    assert _delete(rig, "g") == [("g", 0)]
    assert rig.ask(join_request(member_id=member_id)).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert len(rig.shards.get(0).timers) == 1, "only the retention check is left"


def test_a_deleted_group_starts_again_with_its_first_generation() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    member.leave()
    _delete(rig, "g")
    again = Member(rig)
    settle_group(rig, again)
    assert again.generation == 1


def test_a_coordinator_that_is_none_says_so_for_each_group() -> None:
    rig = Rig()
    rig.resign()
    assert _delete(rig, "a", "b") == [("a", 16), ("b", 16)]
    assert _delete(rig) == []


def test_offsets_of_topics_in_use_are_not_deleted() -> None:
    rig = Rig()
    member = Member(rig, protocols=protocols("range", metadata=subscription("u")))
    settle_group(rig, member)
    assert member.commit() == 0
    answer = _delete_offsets(rig, "g", "t", "u")
    assert answer.error_code == 0
    assert [topic.partitions[0].error_code for topic in answer.topics] == [0, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]
    assert _offsets(rig, "g") == {}
    assert [group.group_state for group in rig.ask(ListGroupsRequest()).groups] == ["Stable"]


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\0\0\0\0\0\5"], ids=repr)
def test_if_a_subscription_can_not_be_read_every_topic_counts_as_used(metadata: bytes) -> None:
    rig = Rig()
    settle_group(rig, Member(rig, protocols=protocols("range", metadata=metadata)))
    answer = _delete_offsets(rig, "g", "t")
    assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_a_group_with_other_members_than_consumers_keeps_all_its_offsets() -> None:
    rig = Rig()
    member = Member(rig, protocol_type="connect")
    settle_group(rig, member)
    assert _delete_offsets(rig, "g", "t").error_code == ErrorCode.NON_EMPTY_GROUP
    member.leave()
    assert _delete_offsets(rig, "g", "t").error_code == 0


def test_a_group_whose_last_offset_was_deleted_is_still_listed() -> None:
    rig = Rig()
    rig.ask(commit_request("simple"), 8)
    assert _delete_offsets(rig, "simple", "t").error_code == 0
    assert [group.group_id for group in rig.ask(ListGroupsRequest()).groups] == ["simple"]


def test_deleting_offsets_needs_a_group() -> None:
    rig = Rig()
    assert _delete_offsets(rig, "nobody", "t").error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert _delete_offsets(rig, "", "t").error_code == ErrorCode.INVALID_GROUP_ID
