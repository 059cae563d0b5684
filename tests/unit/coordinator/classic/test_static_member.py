"""Static members (KIP-345): known by their instance id, fenced when somebody takes it over."""

import pytest

from ottla.coordinator.group.config import ClassicGroupConfig
from ottla.protocol.errors import ErrorCode
from ottla.protocol.group_log.classic import GroupMetadataValue
from ottla.protocol.messages.join_group import JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from tests.unit.coordinator.group.member import (
    DELAY_MS,
    REBALANCE_MS,
    Member,
    finish_rebalance,
    join_request,
    protocols,
    settle_group,
)
from tests.unit.coordinator.group.rig import Rig


def _static(rig: Rig, instance_id: str, *, version: int = 9, **fields: object) -> Member:
    return Member(rig, version=version, group_instance_id=instance_id, **fields)


def _two(rig: Rig) -> tuple[Member, Member]:
    leader, follower = _static(rig, "one"), _static(rig, "two")
    settle_group(rig, leader, follower, delay_ms=2 * DELAY_MS)
    return leader, follower


def _all_codes(member: Member) -> list[int]:
    """What a member is told on join, sync, heartbeat, commit and leave."""
    instance_id = member.fields["group_instance_id"]
    join = member.rig.ask(join_request(member_id=member.id, group_instance_id=instance_id))
    return [
        join.error_code,
        member.sync().only.error_code,
        member.heartbeat(),
        member.commit(),
        member.leave(),
    ]


def test_a_static_member_needs_no_second_join_and_its_id_starts_with_the_instance_id() -> None:
    rig = Rig()
    member = _static(rig, "pod-7")
    member.join()
    rig.advance(DELAY_MS)
    assert member.join_answer.error_code == 0
    assert member.id.startswith("pod-7-")


@pytest.mark.parametrize("is_leader", [True, False])
def test_a_rejoin_keeps_the_generation_changes_the_id_and_fences_the_old_one(is_leader: bool) -> None:
    rig = Rig()
    leader, follower = _two(rig)
    old, other = (leader, follower) if is_leader else (follower, leader)
    instance_id = old.fields["group_instance_id"]
    new = _static(rig, instance_id)
    new.join()
    answer = new.join_answer
    assert (answer.error_code, answer.generation_id) == (0, 1)
    assert new.id != old.id
    assert _all_codes(old) == [ErrorCode.FENCED_INSTANCE_ID] * 5
    assert other.heartbeat() == new.heartbeat() == 0
    assert new.sync().only.assignment == old.id.encode(), "the share of its former self"


def test_a_leader_that_is_back_is_told_to_skip_the_assignment() -> None:
    rig = Rig()
    leader, follower = _two(rig)
    new = _static(rig, "one")
    new.join()
    answer = new.join_answer
    assert answer.skip_assignment
    assert answer.leader == new.id
    assert {member.member_id for member in answer.members} == {new.id, follower.id}
    back = _static(rig, "two")
    back.join()
    assert not back.join_answer.skip_assignment
    assert leader.id not in {back.join_answer.leader, back.id}


@pytest.mark.parametrize("version", [5, 8])
def test_a_version_that_can_not_skip_is_told_that_its_former_self_leads(version: int) -> None:
    rig = Rig()
    leader, _ = _two(rig)
    new = _static(rig, "one", version=version)
    new.join()
    answer: JoinGroupResponse = new.join_answer
    assert (answer.leader, answer.members, answer.generation_id) == (leader.id, [], 1)


def test_the_new_id_is_in_the_log_and_survives_a_restart() -> None:
    rig = Rig()
    leader, follower = _two(rig)
    new = _static(rig, "one")
    new.join()
    assert new.join_answer.error_code == 0
    value = rig.records()[-1].value
    assert isinstance(value, GroupMetadataValue)
    assert {member.group_instance_id: member.member_id for member in value.members} == {
        "one": new.id,
        "two": follower.id,
    }
    assert value.generation == 1
    rig.restart()
    assert new.heartbeat() == follower.heartbeat() == 0
    assert leader.heartbeat() == ErrorCode.FENCED_INSTANCE_ID


def test_a_rejoin_that_changes_the_chosen_protocol_rebalances() -> None:
    rig = Rig()
    both = protocols("range", "sticky")
    one, two = _static(rig, "one", protocols=both), _static(rig, "two", protocols=both)
    settle_group(rig, one, two, delay_ms=2 * DELAY_MS)
    assert one.join_answer.protocol_name == "range"
    back = _static(rig, "one", protocols=protocols("sticky"))
    back.join()
    assert back.joined.given == []
    assert two.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    two.join()
    assert (back.join_answer.protocol_name, back.join_answer.generation_id) == ("sticky", 2)


def test_other_metadata_for_the_chosen_protocol_is_written_without_a_rebalance() -> None:
    rig = Rig()
    _, follower = _two(rig)
    back = _static(rig, "one", protocols=protocols("range", metadata=b"other"), session_timeout_ms=20_000)
    back.join()
    assert back.join_answer.generation_id == 1
    assert follower.heartbeat() == 0
    value = rig.records()[-1].value
    assert isinstance(value, GroupMetadataValue)
    (stored,) = [member for member in value.members if member.group_instance_id == "one"]
    assert (stored.subscription, stored.session_timeout) == (b"other", 20_000)


def test_a_rejoin_between_join_and_sync_begins_the_rebalance_again() -> None:
    rig = Rig()
    one, two = _static(rig, "one"), _static(rig, "two")
    one.join()
    two.join()
    rig.advance(2 * DELAY_MS)
    assert one.join_answer.generation_id == two.join_answer.generation_id == 1
    waiting = two.sync()
    back = _static(rig, "two")
    back.join()
    assert waiting.only.error_code == ErrorCode.FENCED_INSTANCE_ID
    one.join()
    assert back.join_answer.generation_id == one.join_answer.generation_id == 2
    assert finish_rebalance(one, back) == {one.id: one.id.encode(), back.id: back.id.encode()}


def test_a_join_that_waits_is_fenced_by_the_next_one_with_its_instance_id() -> None:
    rig = Rig()
    first, second = _static(rig, "one"), _static(rig, "one")
    first.join()
    second.join()
    assert first.joined.only.error_code == ErrorCode.FENCED_INSTANCE_ID
    rig.advance(2 * DELAY_MS)
    assert second.join_answer.generation_id == 1


def test_a_static_member_that_does_not_join_keeps_its_place_until_its_session_ends() -> None:
    rig = Rig()
    away = _static(rig, "away", session_timeout_ms=600_000)
    leader = Member(rig, session_timeout_ms=600_000)
    leader.join()
    away.join()
    rig.advance(2 * DELAY_MS)
    finish_rebalance(leader, away)
    leader.join()
    rig.advance(REBALANCE_MS)
    assert {member.member_id for member in leader.join_answer.members} == {leader.id, away.id}


def test_while_only_absent_static_members_are_left_the_group_waits_for_their_sessions() -> None:
    rig = Rig(ClassicGroupConfig(min_session_timeout_ms=1))
    away, leader = _static(rig, "away", session_timeout_ms=100_000, rebalance_timeout_ms=0), Member(rig)
    away.join()
    leader.join()
    rig.advance(2 * DELAY_MS)
    finish_rebalance(away, leader)
    assert leader.leave() == 0
    rig.advance(50_000)
    assert away.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    rig.advance(100_000)
    assert away.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("member_id", ["", "gone"])
def test_unknown_instances_are_unknown_members(member_id: str) -> None:
    rig = Rig()
    _two(rig)
    identity = MemberIdentity(member_id=member_id, group_instance_id="three")
    answer = rig.ask(LeaveGroupRequest(group_id="g", members=[identity]))
    assert answer.members[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    if member_id:
        join = rig.ask(join_request(member_id=member_id, group_instance_id="three"))
        assert join.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_in_a_full_group_a_static_member_can_not_come_back() -> None:
    """As in Kafka, which counts it as one more."""
    rig = Rig(ClassicGroupConfig(max_size=2))
    _two(rig)
    answer = rig.ask(join_request(group_instance_id="one"))
    assert answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
