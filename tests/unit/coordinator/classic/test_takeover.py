"""A new coordinator takes groups over from the log, and a failing log does not leave members in doubt."""

import pytest

from ottla.coordinator.group.config import ClassicGroupConfig
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.protocol.errors import ErrorCode, NotEnoughReplicasError, NotLeaderOrFollowerError
from ottla.protocol.messages.list_groups import ListGroupsRequest
from tests.unit.coordinator.group.member import (
    DELAY_MS,
    SESSION_MS,
    Member,
    finish_rebalance,
    join_request,
    protocols,
    settle_group,
)
from tests.unit.coordinator.group.rig import Rig


def test_members_heartbeat_on_without_rejoining_and_sync_returns_the_old_assignment() -> None:
    rig = Rig()
    one, two = Member(rig), Member(rig, group_instance_id="i")
    shares = settle_group(rig, one, two, delay_ms=2 * DELAY_MS)
    rig.restart()
    for member in (one, two):
        assert member.heartbeat() == 0
        assert member.commit() == 0
        assert member.sync().only.assignment == shares[member.id]


def test_sessions_start_anew_with_the_new_coordinator() -> None:
    rig = Rig()
    alive, dead = Member(rig), Member(rig)
    settle_group(rig, alive, dead, delay_ms=2 * DELAY_MS)
    rig.advance(SESSION_MS - 1)
    rig.restart()
    rig.advance(SESSION_MS - 1)
    assert alive.heartbeat() == 0
    rig.advance(1)
    assert alive.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert dead.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_generations_go_on_after_a_takeover() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    rig.restart()
    member.join()
    assert member.join_answer.generation_id == 2
    assert finish_rebalance(member) == {member.id: member.id.encode()}


def test_an_unfinished_rebalance_is_forgotten() -> None:
    rig = Rig()
    one, two = Member(rig), Member(rig)
    settle_group(rig, one)
    two.join()
    rig.restart()
    assert two.joined.only.error_code == ErrorCode.NOT_COORDINATOR
    assert one.heartbeat() == 0
    assert rig.ask(join_request(member_id=two.id)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_whoever_waits_is_sent_to_the_new_coordinator() -> None:
    rig = Rig()
    one, two, new = Member(rig), Member(rig), Member(rig, "other")
    one.join()
    two.join()
    rig.advance(2 * DELAY_MS)
    assert two.join_answer.error_code == 0
    syncing, joining = two.sync(), new.join()
    rig.resign()
    assert (syncing.only.error_code, joining.only.error_code) == (16, 16)
    assert one.heartbeat() == ErrorCode.NOT_COORDINATOR


def test_while_loading_members_stay_calm() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    rig.resign()
    rig.begin_load()
    assert member.heartbeat() == 0
    assert member.sync().only.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    answer = rig.ask(join_request(member_id=member.id))
    assert (answer.error_code, answer.member_id) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "")
    assert member.leave() == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert rig.ask(ListGroupsRequest()).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    rig.finish_load()
    assert member.heartbeat() == 0


def test_a_group_that_is_too_large_now_rebalances() -> None:
    rig = Rig()
    members = [Member(rig) for _ in range(3)]
    settle_group(rig, *members, delay_ms=2 * DELAY_MS)
    small = Rig(ClassicGroupConfig(max_size=2))
    small.logs = rig.logs
    small.restart()
    small.advance(0)
    assert small.rebalances.counts == {RebalanceReason.OVER_CAPACITY: 1}
    for member in members:
        member.rig = small
    assert members[0].heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    codes = []
    for member in members:
        member.join()
        codes.append([answer.error_code for answer in member.joined.given])
    assert codes[2] == [ErrorCode.GROUP_MAX_SIZE_REACHED]
    assert [member.join_answer.generation_id for member in members[:2]] == [2, 2]


@pytest.mark.parametrize(
    ("error", "code"), [(NotEnoughReplicasError(), 15), (NotLeaderOrFollowerError(), 16)], ids=["replicas", "leader"]
)
def test_an_assignment_that_can_not_be_written_makes_everybody_join_again(error: Exception, code: int) -> None:
    rig = Rig()
    leader, follower = Member(rig), Member(rig)
    leader.join()
    follower.join()
    rig.advance(2 * DELAY_MS)
    assert leader.join_answer.error_code == follower.join_answer.error_code == 0
    rig.logs[0].fail_with = error  # type: ignore[assignment]
    waiting = follower.sync()
    answer = leader.sync({leader.id: b"L", follower.id: b"F"})
    assert (answer.only.error_code, waiting.only.error_code) == (code, code)
    rig.logs[0].fail_with = None
    rig.advance(0)
    assert leader.heartbeat() == follower.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert rig.rebalances.counts[RebalanceReason.STORE_FAILED] == 1
    leader.join()
    follower.join()
    assert finish_rebalance(leader, follower)[follower.id] == follower.id.encode()


def test_a_group_that_can_not_be_written_does_not_come_about() -> None:
    rig = Rig()
    rig.logs[0].fail_with = NotEnoughReplicasError()
    assert rig.ask(join_request()).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert rig.ask(join_request(group_instance_id="i")).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert len(rig.classic.groups) == 0
    rig.logs[0].fail_with = None
    assert rig.ask(ListGroupsRequest()).groups == []
    member = Member(rig)
    assert settle_group(rig, member) == {member.id: member.id.encode()}


def test_a_static_return_that_can_not_be_written_is_taken_back() -> None:
    rig = Rig()
    old, other = Member(rig, group_instance_id="i"), Member(rig)
    settle_group(rig, old, other, delay_ms=2 * DELAY_MS)
    rig.logs[0].fail_with = NotEnoughReplicasError()
    answer = rig.ask(join_request(group_instance_id="i", protocols=protocols("range", metadata=b"new")))
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    rig.logs[0].fail_with = None
    assert old.heartbeat() == other.heartbeat() == 0
    assert old.sync().only.assignment == old.id.encode()
    rig.restart()
    assert old.heartbeat() == 0


def test_an_emptied_group_is_written_once_the_log_takes_it() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    rig.logs[0].fail_with = NotEnoughReplicasError()
    rig.advance(SESSION_MS)
    assert member.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    rig.logs[0].fail_with = None
    rig.advance(1_000)
    rig.restart()
    assert [group.group_state for group in rig.ask(ListGroupsRequest()).groups] == ["Empty"]
    assert member.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
