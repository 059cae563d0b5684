"""The records of consumer groups: which, and in what order, as Kafka 4.3 writes them; and what replaying them gives."""

from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import MemberState
from ottla.coordinator.group.consumer.replay import replay_consumer
from ottla.coordinator.group.group_state import EMPTY_STATE, GroupsState
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.group_log.consumer import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    TopicPartitions,
)
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from tests.unit.coordinator.consumer.rig import GROUP, Consumer, ConsumerRig


def written(rig: ConsumerRig, since: int = 0) -> list[tuple[int, str, bool]]:
    """Type, member and whether it is a tombstone."""
    return [
        (record.key.type_id, getattr(record.key, "member_id", ""), record.value is None)
        for record in rig.records()[since:]
    ]


def test_joining_and_leaving() -> None:
    rig = ConsumerRig({"t": 2})
    first, second = Consumer(rig, "a", ["t"]), Consumer(rig, "b", ["t"])
    first.join()
    assert written(rig) == [(5, "a", False), (3, "", False), (7, "a", False), (6, "", False), (8, "a", False)]
    at = len(rig.records())
    second.join()
    assert written(rig, at) == [
        (5, "b", False), (3, "", False), (7, "a", False), (7, "b", False), (6, "", False), (8, "b", False),
    ]  # fmt: skip
    at = len(rig.records())
    second.leave()
    assert written(rig, at) == [(8, "b", True), (7, "b", True), (5, "b", True), (3, "", False)]
    first.leave()
    at = len(rig.records())
    rig.ask(DeleteGroupsRequest(groups_names=[GROUP]))
    assert written(rig, at) == [(6, "", True), (4, "", True), (3, "", True)]


def test_a_static_member_that_comes_back() -> None:
    rig = ConsumerRig({"t": 2})
    first = Consumer(rig, "a", ["t"], instance_id="i")
    first.join()
    at = len(rig.records())
    first.leave(-2)
    assert written(rig, at) == [(8, "a", False)]
    at = len(rig.records())
    Consumer(rig, "b", ["t"], instance_id="i").join()
    assert written(rig, at) == [
        (8, "a", True), (7, "a", True), (5, "a", True),
        (5, "b", False), (7, "b", False), (8, "b", False),
        (8, "b", False),
    ]  # fmt: skip


def test_an_old_record_of_topic_metadata_is_deleted() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    key = ConsumerGroupPartitionMetadataKey(group_id=GROUP)
    codec = rig.shards.get(0).machine
    old = codec.encode(CoordinatorRecord(key, ConsumerGroupPartitionMetadataValue(), 0))
    rig.resign()
    rig.logs[0].append([old], None)
    rig.elect()
    assert rig.group.has_partition_metadata
    at = len(rig.records())
    member.beat()
    assert written(rig, at) == [(4, "", True)]
    assert not rig.group.has_partition_metadata


def replayed(*records: CoordinatorRecord) -> GroupsState:
    state = EMPTY_STATE
    for record in records:
        state = replay_consumer(state, record)
    return state


def test_tombstones_of_what_is_not_there_are_nothing() -> None:
    keys = (
        ConsumerGroupMetadataKey(group_id=GROUP),
        ConsumerGroupMemberMetadataKey(group_id=GROUP, member_id="a"),
        ConsumerGroupCurrentMemberAssignmentKey(group_id=GROUP, member_id="a"),
    )
    assert replayed(*(CoordinatorRecord(key, None, -1) for key in keys)) == EMPTY_STATE
    known = CoordinatorRecord(ConsumerGroupMetadataKey(group_id=GROUP), ConsumerGroupMetadataValue(epoch=4), 0)
    state = replayed(known, *(CoordinatorRecord(key, None, -1) for key in keys[1:]))
    assert state.groups[GROUP] == ConsumerGroup(epoch=4)


def test_records_from_before_there_were_assignment_epochs() -> None:
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=GROUP, member_id="a")
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=7, previous_member_epoch=6, state=55, assigned_partitions=[TopicPartitions(partitions=[1, 2])]
    )
    subscription = CoordinatorRecord(
        ConsumerGroupMemberMetadataKey(group_id=GROUP, member_id="a"), ConsumerGroupMemberMetadataValue(), 0
    )
    group = replayed(subscription, CoordinatorRecord(key, value, 0)).groups[GROUP]
    assert isinstance(group, ConsumerGroup)
    member = group.members["a"]
    assert list(member.assigned.values()) == [{1: 7, 2: 7}]
    assert member.state is MemberState.UNKNOWN
