"""Static members of consumer groups (KIP-345, KIP-848)."""

from ottla.protocol.errors import ErrorCode
from tests.unit.coordinator.consumer.rig import Consumer, ConsumerRig


def test_a_member_that_will_be_back_keeps_its_partitions() -> None:
    rig = ConsumerRig({"t": 4})
    first = Consumer(rig, "a", ["t"], instance_id="one")
    other = Consumer(rig, "b", ["t"])
    first.join()
    other.join()
    first.beat()
    first.beat()
    other.beat()
    epoch = rig.group.epoch
    answer = first.leave(-2)
    assert (answer.error_code, answer.member_epoch) == (0, -2)
    other.beat()
    assert other.partitions("t") == [2, 3]
    back = Consumer(rig, "a2", ["t"], instance_id="one")
    assert back.join().member_epoch == epoch, "no rebalance"
    assert back.partitions("t") == [0, 1]
    assert set(rig.group.members) == {"a2", "b"}


def test_one_that_does_not_come_back_is_fenced_when_its_session_ends() -> None:
    rig = ConsumerRig({"t": 4})
    first = Consumer(rig, "a", ["t"], instance_id="one")
    first.join()
    first.leave(-2)
    rig.advance(45_000)
    assert not rig.group.members
    assert not rig.group.static_members


def test_an_instance_in_use_is_not_given_away() -> None:
    rig = ConsumerRig({"t": 4})
    Consumer(rig, "a", ["t"], instance_id="one").join()
    assert Consumer(rig, "b", ["t"], instance_id="one").join().error_code == ErrorCode.UNRELEASED_INSTANCE_ID


def test_the_former_self_is_fenced() -> None:
    rig = ConsumerRig({"t": 4})
    first = Consumer(rig, "a", ["t"], instance_id="one")
    first.join()
    first.leave(-2)
    Consumer(rig, "b", ["t"], instance_id="one").join()
    assert first.beat().error_code == ErrorCode.FENCED_INSTANCE_ID
    assert first.leave().error_code == ErrorCode.FENCED_INSTANCE_ID


def test_an_unknown_instance() -> None:
    rig = ConsumerRig({"t": 4})
    Consumer(rig, "a", ["t"]).join()
    stranger = Consumer(rig, "b", ["t"], instance_id="two")
    stranger.epoch = 2
    assert stranger.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert stranger.leave(-2).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_leaving_for_good_frees_the_instance() -> None:
    rig = ConsumerRig({"t": 4})
    first = Consumer(rig, "a", ["t"], instance_id="one")
    first.join()
    assert first.leave(-1).error_code == 0
    assert Consumer(rig, "b", ["t"], instance_id="one").join().error_code == 0


def test_a_fenced_member_may_join_again_under_its_own_id() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"], instance_id="one")
    member.join()
    member.epoch = 9
    assert member.beat().error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert member.join().error_code == 0
    assert member.partitions("t") == [0, 1]
