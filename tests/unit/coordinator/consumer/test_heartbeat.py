"""ConsumerGroupHeartbeat as members see it."""

from typing import Any

import pytest

from ottla.coordinator.group.config import ConsumerGroupConfig
from ottla.coordinator.group.consumer.group import ConsumerState
from ottla.protocol.errors import ErrorCode, NotLeaderOrFollowerError
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from tests.unit.coordinator.consumer.rig import GROUP, Consumer, ConsumerRig


def test_the_first_member_gets_everything_at_epoch_two() -> None:
    rig = ConsumerRig({"t": 3})
    member = Consumer(rig, "a", ["t"])
    answer = member.join()
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "a", 2)
    assert answer.heartbeat_interval_ms == 5_000
    assert member.partitions("t") == [0, 1, 2]
    assert rig.group.state is ConsumerState.STABLE


def test_an_empty_subscription_starts_at_epoch_one_with_nothing() -> None:
    rig = ConsumerRig({"t": 3})
    answer = Consumer(rig, "a", []).join()
    assert answer.member_epoch == 1
    assert answer.assignment is not None
    assert answer.assignment.topic_partitions == []


def test_version_zero_is_given_an_id() -> None:
    rig = ConsumerRig({"t": 1})
    first, second = Consumer(rig, "", ["t"]), Consumer(rig, "", ["t"])
    first.join(version=0)
    second.join(version=0)
    assert len(first.member_id) == 22
    assert first.member_id != second.member_id
    assert not first.member_id.startswith("-")


def test_a_second_joiner_waits_for_the_assignment_interval() -> None:
    rig = ConsumerRig({"t": 2}, ConsumerGroupConfig())
    first, second = Consumer(rig, "a", ["t"]), Consumer(rig, "b", ["t"])
    first.join()
    answer = second.join()
    assert answer.member_epoch == 2
    assert second.partitions("t") == []
    assert rig.group.state is ConsumerState.ASSIGNING
    rig.advance(999)
    assert first.beat().member_epoch == 2
    assert rig.group.state is ConsumerState.ASSIGNING
    rig.advance(1)
    first.beat()
    assert rig.group.state is ConsumerState.RECONCILING
    first.beat()
    second.beat()
    assert (first.partitions("t"), second.partitions("t")) == ([0], [1])
    assert rig.group.state is ConsumerState.STABLE


def test_a_group_may_set_its_own_interval_within_the_limits() -> None:
    rig = ConsumerRig({"t": 2}, ConsumerGroupConfig(max_heartbeat_interval_ms=6_000))
    rig.cluster.configs[GROUP] = {
        "consumer.assignment.interval.ms": "0",
        "consumer.heartbeat.interval.ms": "9000",
        "consumer.session.timeout.ms": "50000",
    }
    first, second = Consumer(rig, "a", ["t"]), Consumer(rig, "b", ["t"])
    assert first.join().heartbeat_interval_ms == 6_000
    assert second.join().member_epoch == 3
    rig.advance(49_999)
    assert "a" in rig.group.members
    rig.advance(1)
    assert not rig.group.members


def test_an_owner_keeps_its_epoch_until_it_reports_the_revocation() -> None:
    rig = ConsumerRig({"t": 2})
    first, second = Consumer(rig, "a", ["t"]), Consumer(rig, "b", ["t"])
    first.join()
    second.join()
    told = first.silent_beat()
    assert told.member_epoch == 2
    assert told.assignment is not None
    assert [topic.partitions for topic in told.assignment.topic_partitions] == [[0]]
    assert first.silent_beat().member_epoch == 2
    assert second.beat().assignment is None
    both = [TopicPartitions(topic_id=rig.cluster.id("t"), partitions=[0, 1])]
    assert first.beat(topic_partitions=both).member_epoch == 2
    assert first.beat().member_epoch == 3
    second.beat()
    assert (first.partitions("t"), second.partitions("t")) == ([0], [1])


def test_a_steady_heartbeat_brings_no_assignment_and_writes_nothing() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    count = len(rig.records())
    assert member.beat().assignment is None
    assert len(rig.records()) == count


def test_a_full_heartbeat_brings_the_assignment_again() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    answer = member.beat(rebalance_timeout_ms=300_000, subscribed_topic_names=["t"])
    assert answer.assignment is not None
    assert member.partitions("t") == [0, 1]


def test_another_subscription_takes_effect_at_once() -> None:
    rig = ConsumerRig({"t": 2, "u": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    answer = member.beat(subscribed_topic_names=["u"])
    assert answer.member_epoch == 2
    assert (member.partitions("t"), member.partitions("u")) == ([], [])
    assert member.beat().member_epoch == 3
    assert member.partitions("u") == [0, 1]


def test_a_lost_answer_may_be_asked_for_again() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    member.beat(subscribed_topic_names=["t", "x"])
    assert (member.epoch, rig.group.members["a"].previous_member_epoch) == (3, 2)
    member.epoch = 2
    assert member.beat().member_epoch == 3


@pytest.mark.parametrize("epoch", [1, 9])
def test_a_wrong_epoch_is_fenced(epoch: int) -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    member.epoch = epoch
    assert member.beat().error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert member.join().member_epoch == 2, "it may join again"


def test_the_previous_epoch_with_foreign_partitions_is_fenced() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    member.beat(subscribed_topic_names=["t", "x"])
    member.epoch = 2
    member.owned = {rig.cluster.id("t"): {0, 1, 2}}
    assert member.beat().error_code == ErrorCode.FENCED_MEMBER_EPOCH
    member.owned = {}
    assert member.silent_beat().error_code == ErrorCode.FENCED_MEMBER_EPOCH


def test_strangers_are_refused() -> None:
    rig = ConsumerRig({"t": 2})
    stranger = Consumer(rig, "b", ["t"])
    stranger.epoch = 1
    assert stranger.beat().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert stranger.leave().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    Consumer(rig, "a", ["t"]).join()
    assert stranger.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert stranger.leave().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_full_group_takes_nobody_but_its_members() -> None:
    rig = ConsumerRig({"t": 2}, ConsumerGroupConfig(max_size=1, assignment_interval_ms=0))
    first = Consumer(rig, "a", ["t"])
    first.join()
    assert Consumer(rig, "b", ["t"]).join().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert first.join().error_code == 0


JOIN = {"member_id": "a", "rebalance_timeout_ms": 1, "subscribed_topic_names": ["t"], "topic_partitions": []}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"group_id": " "}, ErrorCode.INVALID_REQUEST),
        ({"member_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"instance_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"rack_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"rebalance_timeout_ms": -1}, ErrorCode.INVALID_REQUEST),
        ({"topic_partitions": None}, ErrorCode.INVALID_REQUEST),
        ({"topic_partitions": [TopicPartitions(partitions=[1])]}, ErrorCode.INVALID_REQUEST),
        ({"subscribed_topic_names": None}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -3}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -2}, ErrorCode.INVALID_REQUEST),
        ({"server_assignor": ""}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"server_assignor": "sticky"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
    ],
)
def test_requests_that_make_no_sense(changes: dict[str, Any], code: ErrorCode) -> None:
    rig = ConsumerRig({"t": 1})
    request = ConsumerGroupHeartbeatRequest(**{"group_id": GROUP, "member_epoch": 0} | JOIN | changes)
    answer = rig.beat(request)
    assert answer.error_code == code
    assert answer.error_message
    assert not rig.records()


def test_most_votes_choose_the_assignor() -> None:
    rig = ConsumerRig({"t": 4})
    members = [Consumer(rig, name, ["t"], server_assignor="range") for name in "ab"]
    for member in (*members, Consumer(rig, "c", ["t"], server_assignor="uniform")):
        member.join()
    assert rig.describe().assignor_name == "range"
    assert dict(rig.group.target("a")) == {rig.cluster.id("t"): frozenset({0, 1})}


def test_leaving_frees_partitions_at_once() -> None:
    rig = ConsumerRig({"t": 2})
    first, second = Consumer(rig, "a", ["t"]), Consumer(rig, "b", ["t"])
    first.join()
    second.join()
    answer = first.leave()
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "a", -1)
    second.beat()
    assert second.partitions("t") == [0, 1]
    assert second.leave().error_code == 0
    assert rig.group.state is ConsumerState.EMPTY


def test_an_empty_group_goes_on_counting() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    member.leave()
    assert rig.group.epoch == 3
    assert member.join().member_epoch == 4


def test_a_write_that_is_lost_changes_nothing() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    rig.cluster.grow("t", 3)
    rig.topics_changed("t")
    rig.logs[0].fail_with = NotLeaderOrFollowerError()
    assert member.beat().error_code == ErrorCode.NOT_COORDINATOR
    rig.logs[0].fail_with = None
    assert member.beat().member_epoch == 3, "the change of the topic is noticed again"
    assert member.partitions("t") == [0, 1, 2]
