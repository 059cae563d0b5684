"""Groups and offsets as a client sees them, on real logs: what is answered, what is kept, who answers."""

from collections.abc import Callable

import pytest

from ottla.base.ids import Uuid
from ottla.base.metric_text import render
from ottla.broker.request.metadata.authorized_operation import group_operations
from ottla.broker.security.rights import EVERY_RIGHT
from ottla.coordinator.runtime.shard import ShardStatus
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.unit.broker.coordinator_host.conftest import CoordinatorBroker

STRANGER = Uuid(b"nobody knows me!")


def commit(
    coordinator: CoordinatorBroker, topic: str | Uuid, *partitions: int, offset: int = 5, **request: object
) -> list[tuple[int, int]]:
    """Commits an offset for some partitions of a topic; each with its code."""
    named = OffsetCommitRequestTopic(
        partitions=[
            OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata="")
            for index in partitions
        ]
    )
    version = 9
    if isinstance(topic, Uuid):
        named.topic_id, version = topic, 10
    else:
        named.name = topic
    response = coordinator.ask(
        OffsetCommitRequest(group_id="g", topics=[named], **request), version, OffsetCommitResponse
    )
    return [(found.partition_index, found.error_code) for topic in response.topics for found in topic.partitions]


def fetch(coordinator: CoordinatorBroker, *topics: str, version: int = 9) -> dict[tuple[str, int], int]:
    """The offsets of partition 0 of topics, or of everything."""
    asked = [OffsetFetchRequestTopics(name=topic, partition_indexes=[0]) for topic in topics] or None
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=asked)])
    (group,) = coordinator.ask(request, version, OffsetFetchResponse).groups
    assert not group.error_code
    return {
        (topic.name, found.partition_index): found.committed_offset
        for topic in group.topics
        for found in topic.partitions
    }


def join(coordinator: CoordinatorBroker, member_id: str = "") -> JoinGroupResponse:
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\1" + bytes(8))],
    )
    return coordinator.ask(request, 7, JoinGroupResponse)


def member(coordinator: CoordinatorBroker) -> str:
    """A member of a stable group; its id."""
    required = join(coordinator)
    assert required.error_code == ErrorCode.MEMBER_ID_REQUIRED
    exchange = coordinator.broker.send(_join(required.member_id), 7)
    coordinator.broker.loop.advance(100)
    joined = exchange.response(JoinGroupRequest.api, 7)
    assert isinstance(joined, JoinGroupResponse)
    assert (joined.error_code, joined.generation_id, joined.leader) == (0, 1, required.member_id)
    request = SyncGroupRequest(
        group_id="g",
        generation_id=1,
        member_id=joined.member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"all")],
    )
    assert coordinator.ask(request, 5, SyncGroupResponse).assignment == b"all"
    return joined.member_id


def _join(member_id: str) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\1" + bytes(8))],
    )


def beat(coordinator: CoordinatorBroker, member_id: str) -> int:
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id=member_id)
    return coordinator.ask(request, 4, HeartbeatResponse).error_code


def test_a_commit_is_read_back(coordinator: CoordinatorBroker) -> None:
    coordinator.broker.create("orders", 2)
    assert commit(coordinator, "orders", 0, 1) == [(0, 0), (1, 0)]
    assert fetch(coordinator) == {("orders", 0): 5, ("orders", 1): 5}
    assert fetch(coordinator, "orders", "others") == {("orders", 0): 5, ("others", 0): -1}


def test_partitions_that_are_not_there_are_refused_one_by_one(coordinator: CoordinatorBroker) -> None:
    topic_id = coordinator.broker.create("orders")
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(coordinator, "orders", 3, 0, -1) == [(3, unknown), (-1, unknown), (0, 0)]
    assert commit(coordinator, "others", 0) == [(0, unknown)]
    assert commit(coordinator, topic_id, 0, 7) == [(7, unknown), (0, 0)]
    assert commit(coordinator, STRANGER, 0) == [(0, ErrorCode.UNKNOWN_TOPIC_ID)]
    assert fetch(coordinator) == {("orders", 0): 5}


def test_offsets_by_topic_id(coordinator: CoordinatorBroker) -> None:
    topic_id = coordinator.broker.create("orders")
    assert commit(coordinator, topic_id, 0, offset=8) == [(0, 0)]
    asked = [OffsetFetchRequestTopics(topic_id=found, partition_indexes=[0]) for found in (STRANGER, topic_id)]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=asked)])
    (group,) = coordinator.ask(request, 10, OffsetFetchResponse).groups
    found = [
        (topic.topic_id, topic.partitions[0].error_code, topic.partitions[0].committed_offset) for topic in group.topics
    ]
    assert found == [(topic_id, 0, 8), (STRANGER, ErrorCode.UNKNOWN_TOPIC_ID, -1)]
    everything = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    (group,) = coordinator.ask(everything, 10, OffsetFetchResponse).groups
    assert [topic.topic_id for topic in group.topics] == [topic_id]


def test_deleted_offsets_and_topics(coordinator: CoordinatorBroker) -> None:
    orders, _ = coordinator.broker.create("orders", 2), coordinator.broker.create("kept")
    commit(coordinator, "orders", 0, 1)
    commit(coordinator, "kept", 0)
    asked = [OffsetDeleteRequestPartition(partition_index=index) for index in (1, 9)]
    request = OffsetDeleteRequest(group_id="g", topics=[OffsetDeleteRequestTopic(name="orders", partitions=asked)])
    response = coordinator.ask(request, 0, OffsetDeleteResponse)
    codes = [(found.partition_index, found.error_code) for topic in response.topics for found in topic.partitions]
    assert codes == [(9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (1, 0)]
    assert fetch(coordinator) == {("orders", 0): 5, ("kept", 0): 5}
    coordinator.broker.delete(orders)
    coordinator.broker.loop.advance(100)
    assert fetch(coordinator) == {("kept", 0): 5}


def test_the_life_of_a_group(coordinator: CoordinatorBroker) -> None:
    coordinator.broker.create("orders")
    member_id = member(coordinator)
    assert beat(coordinator, member_id) == ErrorCode.NONE
    assert commit(coordinator, "orders", 0) == [(0, ErrorCode.UNKNOWN_MEMBER_ID)]
    assert commit(coordinator, "orders", 0, generation_id_or_member_epoch=1, member_id=member_id) == [(0, 0)]
    request = DescribeGroupsRequest(groups=["g"], include_authorized_operations=True)
    (described,) = coordinator.ask(request, 5, DescribeGroupsResponse).groups
    assert (described.group_state, described.authorized_operations) == ("Stable", group_operations(EVERY_RIGHT, "g"))
    assert [(found.member_id, found.client_id, found.client_host) for found in described.members] == [
        (member_id, "probe", "/192.0.2.7")
    ]
    listed = coordinator.ask(ListGroupsRequest(), 4, ListGroupsResponse).groups
    assert [(found.group_id, found.group_state) for found in listed] == [("g", "Stable")]
    refused = coordinator.ask(DeleteGroupsRequest(groups_names=["g"]), 2, DeleteGroupsResponse)
    assert [found.error_code for found in refused.results] == [ErrorCode.NON_EMPTY_GROUP]
    leaving = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=member_id)])
    assert coordinator.ask(leaving, 4, LeaveGroupResponse).error_code == 0
    deleted = coordinator.ask(DeleteGroupsRequest(groups_names=["g"]), 2, DeleteGroupsResponse)
    assert [found.error_code for found in deleted.results] == [0]
    assert coordinator.ask(ListGroupsRequest(), 4, ListGroupsResponse).groups == []


def test_rebalances_are_counted_by_reason(coordinator: CoordinatorBroker) -> None:
    def counted() -> dict[str, str]:
        lines = render(coordinator.broker.metrics).split("\n")
        found = (line.partition('rebalances_total{reason="')[2] for line in lines)
        return dict(line.split('"} ') for line in found if line)

    assert set(counted().values()) == {"0"}
    member(coordinator)
    coordinator.broker.loop.advance(11_000)
    assert {reason for reason, count in counted().items() if count == "1"} == {"member_joined", "session_timed_out"}


def test_a_silent_member_is_removed(coordinator: CoordinatorBroker) -> None:
    member_id = member(coordinator)
    coordinator.broker.loop.advance(9_000)
    assert beat(coordinator, member_id) == 0
    coordinator.broker.loop.advance(9_000)
    assert beat(coordinator, member_id) == 0
    coordinator.broker.loop.advance(10_500)
    assert beat(coordinator, member_id) == ErrorCode.UNKNOWN_MEMBER_ID


def test_everything_is_there_after_a_restart(make_coordinator: Callable[..., CoordinatorBroker]) -> None:
    coordinator = make_coordinator()
    coordinator.create_internal()
    coordinator.broker.create("orders")
    member_id = member(coordinator)
    commit(coordinator, "orders", 0, generation_id_or_member_epoch=1, member_id=member_id)
    coordinator.broker.close()
    again = make_coordinator()
    again.create_internal()
    again.broker.create("orders")
    assert fetch(again) == {("orders", 0): 5}
    assert beat(again, member_id) == 0


def test_another_leader_takes_over(make_coordinator: Callable[..., CoordinatorBroker]) -> None:
    coordinator = make_coordinator(brokers=2)
    offsets, _ = coordinator.create_internal()
    coordinator.broker.create("orders")
    commit(coordinator, "orders", 0)
    for index in range(3):
        coordinator.broker.move(offsets, 2, index)
    assert commit(coordinator, "orders", 0) == [(0, ErrorCode.NOT_COORDINATOR)]
    for index in range(3):
        coordinator.broker.move(offsets, 1, index)
    assert fetch(coordinator) == {("orders", 0): 5}


def test_an_answer_waits_for_the_replicas(make_coordinator: Callable[..., CoordinatorBroker]) -> None:
    coordinator = make_coordinator(brokers=2)
    coordinator.create_internal(replicas=2)
    coordinator.broker.create("orders")
    topic = OffsetCommitRequestTopic(
        name="orders", partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=5)]
    )
    exchange = coordinator.broker.send(OffsetCommitRequest(group_id="g", topics=[topic]), 9)
    coordinator.broker.loop.run()
    assert not exchange.is_done
    # The follower never comes: it is given up, and what was written may still count.
    coordinator.broker.loop.advance(6_000)
    response = exchange.response(OffsetCommitRequest.api, 9)
    assert isinstance(response, OffsetCommitResponse)
    assert response.topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_a_damaged_log_is_not_served(make_coordinator: Callable[..., CoordinatorBroker]) -> None:
    coordinator = make_coordinator(log_message_timestamp_type="CreateTime")
    coordinator.create_internal()
    coordinator.broker.create("orders")
    commit(coordinator, "orders", 0)
    partition = coordinator.broker.coordinators.groups.partition_for("g")
    log = coordinator.broker.replicas.leader("__consumer_offsets", partition).log
    path = f"{log.directory}/00000000000000000000.log"
    with open(path, "r+b") as file:
        file.seek(-3, 2)
        file.write(b"\xff\xff")
    offsets = coordinator.broker.metadata.topic_id("__consumer_offsets")
    coordinator.broker.move(offsets, -1, partition)
    coordinator.broker.move(offsets, 1, partition)
    assert commit(coordinator, "orders", 0) == [(0, ErrorCode.NOT_COORDINATOR)]


@pytest.mark.parametrize("version", range(1, 8))
def test_early_versions_of_offset_fetch(coordinator: CoordinatorBroker, version: int) -> None:
    coordinator.broker.create("orders")
    commit(coordinator, "orders", 0)
    topics = [OffsetFetchRequestTopic(name="orders", partition_indexes=[0, 4])]
    response = coordinator.ask(OffsetFetchRequest(group_id="g", topics=topics), version, OffsetFetchResponse)
    assert [(found.partition_index, found.committed_offset) for found in response.topics[0].partitions] == [
        (0, 5),
        (4, -1),
    ]


@pytest.mark.parametrize("version", [7, 9, 10])
def test_offsets_of_very_many_topics_stand_together(coordinator: CoordinatorBroker, version: int) -> None:
    topic_id = coordinator.broker.create("orders")
    commit(coordinator, "orders", 0)
    if version < 8:
        names = [OffsetFetchRequestTopic(name=name, partition_indexes=[0]) for name in _many("orders")]
        topics = coordinator.ask(OffsetFetchRequest(group_id="g", topics=names), version, OffsetFetchResponse).topics
        found = [(topic.name, topic.partitions[0].committed_offset) for topic in topics]
        assert found == [(name, 5 if name == "orders" else -1) for name in _many("orders")]
        return
    asked = [OffsetFetchRequestTopics(name=name, topic_id=STRANGER, partition_indexes=[0]) for name in _many("orders")]
    asked[-1].topic_id = topic_id
    few = OffsetFetchRequestGroup(group_id="other", topics=asked[-1:])
    request = OffsetFetchRequest(groups=[few, OffsetFetchRequestGroup(group_id="g", topics=asked), few])
    first, group, last = coordinator.ask(request, version, OffsetFetchResponse).groups
    assert [(one.group_id, len(one.topics)) for one in (first, group, last)] == [
        ("other", 1),
        ("g", len(asked)),
        ("other", 1),
    ]
    assert [topic.partitions[0].committed_offset for topic in group.topics].count(5) == 1


def test_very_many_groups_are_answered_in_their_order(coordinator: CoordinatorBroker) -> None:
    coordinator.broker.create("orders")
    commit(coordinator, "orders", 0)
    names = _many("g")
    described = coordinator.ask(DescribeGroupsRequest(groups=names), 6, DescribeGroupsResponse).groups
    assert [group.group_id for group in described] == names
    everything = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=name, topics=None) for name in names])
    fetched = coordinator.ask(everything, 9, OffsetFetchResponse).groups
    assert [(group.group_id, len(group.topics)) for group in fetched] == [(name, int(name == "g")) for name in names]
    deleted = coordinator.ask(DeleteGroupsRequest(groups_names=[*names, "g"]), 2, DeleteGroupsResponse).results
    assert sorted(result.group_id for result in deleted) == sorted(names)
    assert [result.group_id for result in deleted if not result.error_code] == ["g"]


def _many(last: str) -> list[str]:
    return [*(f"n{number}" for number in range(2_500)), last]


def test_a_list_that_would_lack_groups_is_refused(coordinator: CoordinatorBroker) -> None:
    coordinator.broker.loop.run()
    coordinator.broker.coordinators.groups.shards.get(1).status = ShardStatus.LOADING
    listed = coordinator.ask(ListGroupsRequest(), 4, ListGroupsResponse)
    assert listed == ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
