"""What time does to consumer groups."""

from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.coordinator.runtime.shard import TIMER_RETRY_MS
from ottla.protocol.errors import ErrorCode, NotEnoughReplicasError
from tests.unit.coordinator.consumer.classic import ClassicConsumer
from tests.unit.coordinator.consumer.rig import GROUP, Consumer, ConsumerRig


def test_a_silent_member_is_fenced() -> None:
    rig = ConsumerRig({"t": 2})
    member = Consumer(rig, "a", ["t"])
    member.join()
    rig.advance(44_999)
    assert member.beat().error_code == 0
    rig.advance(45_000)
    assert member.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert rig.rebalances.counts[RebalanceReason.SESSION_TIMED_OUT] == 1


def test_a_member_that_never_revokes_becomes_unknown() -> None:
    rig = ConsumerRig({"t": 2})
    first = Consumer(rig, "a", ["t"], rebalance_timeout_ms=60_000)
    second = Consumer(rig, "b", ["t"])
    first.join()
    second.join()
    first.silent_beat()
    for _ in range(6):
        rig.advance(9_999)
        assert first.silent_beat().error_code == 0
        assert second.beat().error_code == 0
    rig.advance(9_999)
    assert first.silent_beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    second.beat()
    assert second.partitions("t") == [0, 1]


def test_one_that_revokes_in_time_stays() -> None:
    rig = ConsumerRig({"t": 2})
    first = Consumer(rig, "a", ["t"], rebalance_timeout_ms=20_000)
    second = Consumer(rig, "b", ["t"])
    first.join()
    second.join()
    first.beat()
    first.beat()
    rig.advance(30_000)
    assert first.beat().error_code == 0


def test_timers_are_set_up_again_after_a_restart() -> None:
    rig = ConsumerRig({"t": 2})
    first = Consumer(rig, "a", ["t"], rebalance_timeout_ms=20_000)
    second = Consumer(rig, "b", ["t"])
    first.join()
    second.join()
    first.silent_beat()
    rig.advance(19_000)
    rig.restart()
    rig.advance(19_999)
    assert first.silent_beat().error_code == 0
    rig.advance(1)
    assert first.silent_beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    rig.advance(45_000)
    assert not rig.group.members


def test_members_go_on_after_a_restart() -> None:
    rig = ConsumerRig({"t": 2, "u": 1})
    member = Consumer(rig, "a", ["t", "u"], rack_id="r", instance_id="i", server_assignor="range")
    member.join()
    before = rig.group
    rig.restart()
    assert rig.group == before
    assert member.beat().member_epoch == 2


def test_a_member_whose_leave_could_not_be_written_does_not_stay_for_ever() -> None:
    rig = ConsumerRig({"t": 2})
    gone = Consumer(rig, "gone", ["t"])
    gone.join()
    rig.logs[0].fail_with = NotEnoughReplicasError()
    assert gone.leave().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    rig.logs[0].fail_with = None
    assert list(rig.group.members) == [gone.member_id]
    rig.advance(TIMER_RETRY_MS)
    assert not rig.group.members


def test_members_that_stay_have_sessions_when_a_downgrade_could_not_be_written() -> None:
    rig = ConsumerRig({"t": 2})
    old = ClassicConsumer(rig, ["t"])
    new = Consumer(rig, "new", ["t"])
    new.join()
    old.join()
    old.sync()
    rig.logs[0].fail_with = NotEnoughReplicasError()
    assert new.leave().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    rig.logs[0].fail_with = None
    assert len(rig.group.members) == 2
    rig.advance(60_000)
    # One was silent, and with it gone the other's group turned classic; then that one was silent, too.
    assert rig.classic.is_empty(rig.shards.get(0).state, GROUP)
