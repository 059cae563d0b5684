"""Offsets of consumer groups: who may commit, fetch and delete them."""

from typing import Any

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.unit.coordinator.consumer.rig import GROUP, Consumer, ConsumerRig


def commit(rig: ConsumerRig, member_id: str, epoch: int, version: int = 9, partition: int = 0) -> int:
    topic = OffsetCommitRequestTopic(
        name="t",
        topic_id=rig.cluster.id("t"),
        partitions=[OffsetCommitRequestPartition(partition_index=partition, committed_offset=7)],
    )
    request = OffsetCommitRequest(
        group_id=GROUP, member_id=member_id, generation_id_or_member_epoch=epoch, topics=[topic]
    )
    answer = rig.send(request, version).only
    code: int = answer.topics[0].partitions[0].error_code
    return code


def fetch(rig: ConsumerRig, member_id: str | None, epoch: int) -> Any:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    group = OffsetFetchRequestGroup(group_id=GROUP, member_id=member_id, member_epoch=epoch, topics=topics)
    (answer,) = rig.ask(OffsetFetchRequest(groups=[group]), 9).groups
    return answer


@pytest.fixture
def rig() -> ConsumerRig:
    """A group with one member, `a`, in epoch 3 and with t-0 since epoch 2."""
    rig = ConsumerRig({"t": 1, "u": 1})
    member = Consumer(rig, "a", ["t"])
    member.join()
    member.beat(subscribed_topic_names=["t", "u"])
    assert member.epoch == 3
    return rig


def test_a_member_commits_in_its_epoch(rig: ConsumerRig) -> None:
    assert commit(rig, "a", 3) == 0
    answer = fetch(rig, "a", 3)
    assert (answer.error_code, answer.topics[0].partitions[0].committed_offset) == (0, 7)


def test_an_older_epoch_will_do_for_what_the_member_has_had_since(rig: ConsumerRig) -> None:
    assert commit(rig, "a", 2, version=10) == 0
    assert commit(rig, "a", 1, version=10) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(rig, "a", 2, version=10, partition=5) == ErrorCode.STALE_MEMBER_EPOCH


def test_a_newer_epoch_is_stale_too(rig: ConsumerRig) -> None:
    assert commit(rig, "a", 4) == ErrorCode.STALE_MEMBER_EPOCH


def test_old_versions_can_t_commit(rig: ConsumerRig) -> None:
    assert commit(rig, "a", 3, version=8) == ErrorCode.UNSUPPORTED_VERSION


def test_strangers_can_t_commit_unless_the_group_is_empty(rig: ConsumerRig) -> None:
    assert commit(rig, "", -1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(rig, "b", 3) == ErrorCode.UNKNOWN_MEMBER_ID
    rig.advance(45_000)
    assert commit(rig, "", -1) == 0


def test_fetching_with_an_epoch(rig: ConsumerRig) -> None:
    assert fetch(rig, None, -1).error_code == 0
    assert fetch(rig, "a", 2).error_code == ErrorCode.STALE_MEMBER_EPOCH
    assert fetch(rig, "b", 3).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_subscribed_topics_are_not_deleted(rig: ConsumerRig) -> None:
    commit(rig, "a", 3)
    topic = OffsetDeleteRequestTopic(name="t", partitions=[OffsetDeleteRequestPartition(partition_index=0)])
    answer = rig.ask(OffsetDeleteRequest(group_id=GROUP, topics=[topic]))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_offsets_expire_once_nobody_is_subscribed() -> None:
    rig = ConsumerRig({"t": 1}, offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    member = Consumer(rig, "a", ["t"])
    member.join()
    commit(rig, "a", 2)
    for _ in range(20):
        rig.advance(10_000)
        member.beat()
    assert fetch(rig, None, -1).topics[0].partitions[0].committed_offset == 7
    member.leave()
    rig.advance(2_000)
    assert not rig.ask(ListGroupsRequest()).groups


def test_only_empty_groups_are_deleted(rig: ConsumerRig) -> None:
    request = DeleteGroupsRequest(groups_names=[GROUP])
    assert rig.ask(request).results[0].error_code == ErrorCode.NON_EMPTY_GROUP
    rig.advance(45_000)
    assert rig.ask(request).results[0].error_code == 0
    assert rig.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    rig.restart()
    assert not rig.ask(ListGroupsRequest()).groups


def test_a_group_that_only_had_offsets_becomes_a_consumer_group() -> None:
    rig = ConsumerRig({"t": 1})
    assert commit(rig, "", -1) == 0
    assert Consumer(rig, "a", ["t"]).join().error_code == 0
    assert fetch(rig, None, -1).topics[0].partitions[0].committed_offset == 7
    before = rig.group
    rig.restart()
    assert rig.group == before
