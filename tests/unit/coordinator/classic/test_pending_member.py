"""Ids that were handed out and did not come back yet (KIP-394)."""

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups import ListGroupsRequest
from tests.unit.coordinator.group.member import (
    DELAY_MS,
    SESSION_MS,
    Member,
    join_request,
    protocols,
    settle_group,
    sync_request,
)
from tests.unit.coordinator.group.rig import Rig


def _pending(rig: Rig) -> str:
    member_id: str = rig.ask(join_request()).member_id
    return member_id


def test_a_pending_member_can_only_join() -> None:
    rig = Rig()
    member_id = _pending(rig)
    heartbeat = HeartbeatRequest(group_id="g", generation_id=0, member_id=member_id)
    assert rig.ask(heartbeat).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert rig.ask(sync_request("g", 0, member_id), 4).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_id_is_good_for_a_session() -> None:
    rig = Rig()
    early, late = _pending(rig), _pending(rig)
    rig.advance(SESSION_MS - 1)
    assert rig.send(join_request(member_id=early)).given == []
    rig.advance(1)
    assert rig.ask(join_request(member_id=late)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_with_only_a_pending_member_is_dropped_by_the_retention_check() -> None:
    rig = Rig(offsets_retention_check_interval_ms=1_000)
    member_id = _pending(rig)
    assert [group.group_state for group in rig.ask(ListGroupsRequest()).groups] == ["Empty"]
    rig.advance(1_000)
    assert rig.ask(ListGroupsRequest()).groups == []
    assert rig.ask(join_request(member_id=member_id)).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    rig.advance(SESSION_MS)
    assert len(rig.shards.get(0).timers) == 1, "only the retention check is left"


def test_a_rebalance_waits_for_pending_members_and_goes_on_without_them() -> None:
    rig = Rig()
    leader = Member(rig)
    settle_group(rig, leader)
    _pending(rig)
    leader.join()
    assert leader.joined.given == []
    rig.advance(SESSION_MS)
    assert leader.join_answer.generation_id == 2


def test_a_pending_member_may_leave_and_nobody_rebalances() -> None:
    rig = Rig()
    leader = Member(rig)
    settle_group(rig, leader)
    member_id = _pending(rig)
    leave = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=member_id)])
    assert rig.ask(leave).members[0].error_code == 0
    assert leader.heartbeat() == 0
    assert rig.ask(join_request(member_id=member_id)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_that_only_waits_for_a_pending_member_ends_when_it_leaves() -> None:
    rig = Rig()
    leader = Member(rig)
    settle_group(rig, leader)
    member_id = _pending(rig)
    leader.join(protocols=protocols("range", metadata=b"other"))
    assert leader.joined.given == []
    rig.ask(LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id=member_id)]))
    assert leader.join_answer.generation_id == 2


def test_ids_do_not_survive_a_restart() -> None:
    rig = Rig()
    member_id = _pending(rig)
    rig.restart()
    assert rig.ask(join_request(member_id=member_id)).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert [group.group_state for group in rig.ask(ListGroupsRequest()).groups] == ["Empty"]
    rig.advance(DELAY_MS)
