"""Heartbeats, leaving and what each state allows; the end of a group."""

import pytest

from ottla.coordinator.group.classic.group import ClassicGroup
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.state import PREVIOUS, ClassicState, TransitionError
from ottla.protocol.errors import ErrorCode
from ottla.protocol.group_log.classic import GroupMetadataValue
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from tests.unit.coordinator.group.member import (
    DELAY_MS,
    SESSION_MS,
    Member,
    commit_request,
    finish_rebalance,
    settle_group,
)
from tests.unit.coordinator.group.rig import Rig


def test_each_state_allows_what_kafka_allows() -> None:
    """Completing: heartbeat 0, commit 27. Preparing: heartbeat 27, sync 27, commit accepted."""
    rig = Rig()
    one, two = Member(rig), Member(rig)
    one.join()
    two.join()
    rig.advance(2 * DELAY_MS)
    assert one.join_answer.error_code == two.join_answer.error_code == 0
    assert (one.heartbeat(), one.commit()) == (0, ErrorCode.REBALANCE_IN_PROGRESS)
    finish_rebalance(one, two)
    assert (one.heartbeat(), one.commit()) == (0, 0)
    Member(rig).join()
    assert (one.heartbeat(), one.sync().only.error_code, one.commit()) == (27, 27, 0)


@pytest.mark.parametrize("previous", ClassicState)
@pytest.mark.parametrize("state", ClassicState)
def test_a_group_goes_only_where_the_table_says(previous: ClassicState, state: ClassicState) -> None:
    group = LiveGroup("g", ClassicGroup())
    group.state = previous
    if previous in PREVIOUS[state]:
        group.transition(state, 5)
        assert (group.state, group.previous_state, group.state_timestamp_ms) == (state, previous, 5)
    else:
        with pytest.raises(TransitionError, match=f"from {previous.value} to {state.value}"):
            group.transition(state, 5)


@pytest.mark.parametrize(
    ("group_id", "generation", "member_id", "instance_id", "code"),
    [
        ("", 1, None, None, 24),
        ("other", 1, None, None, 25),
        ("g", 1, "stranger", None, 25),
        ("g", 1, None, "stranger", 25),
        ("g", 0, None, None, 22),
        ("g", 2, None, None, 22),
        ("g", 1, None, None, 0),
    ],
)
def test_heartbeats_are_refused_with_kafkas_codes(
    group_id: str, generation: int, member_id: str | None, instance_id: str | None, code: int
) -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    request = HeartbeatRequest(
        group_id=group_id,
        generation_id=generation,
        member_id=member.id if member_id is None else member_id,
        group_instance_id=instance_id,
    )
    assert rig.ask(request).error_code == code


def test_a_member_without_heartbeats_is_removed_and_the_others_rebalance() -> None:
    rig = Rig()
    alive, silent = Member(rig), Member(rig)
    settle_group(rig, alive, silent, delay_ms=2 * DELAY_MS)
    rig.advance(SESSION_MS // 2)
    assert alive.heartbeat() == 0
    rig.advance(SESSION_MS // 2)
    assert alive.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert silent.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    alive.join()
    assert alive.join_answer.generation_id == 2


def test_a_commit_keeps_the_session_alive() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    for _ in range(4):
        rig.advance(SESSION_MS - 1)
        assert member.commit() == 0
    assert member.heartbeat() == 0


def test_a_group_that_empties_is_written_so_and_keeps_no_soft_state() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    rig.advance(SESSION_MS)
    value = rig.records()[-1].value
    assert isinstance(value, GroupMetadataValue)
    assert (value.generation, value.protocol_type, value.members) == (2, "consumer", [])
    assert (value.protocol, value.leader) == (None, None)
    assert value.current_state_timestamp == rig.now_ms
    assert len(rig.classic.groups) == 0
    assert len(rig.shards.get(0).timers) == 1, "only the retention check is left"


@pytest.mark.parametrize("version", range(6))
def test_leaving_in_every_version(version: int) -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)

    def leave(group_id: str) -> list[int]:
        identity = MemberIdentity(member_id=member.id)
        request = (
            LeaveGroupRequest(group_id=group_id, member_id=member.id)
            if version < 3
            else LeaveGroupRequest(group_id=group_id, members=[identity])
        )
        answer = rig.ask(request, version)
        return [answer.error_code, *(result.error_code for result in answer.members)]

    assert leave("") == [24]
    unknown = [25] if version < 3 else [0, 25]
    assert leave("other") == unknown
    assert leave("g") == ([0] if version < 3 else [0, 0])
    assert leave("g") == unknown


def test_many_leave_at_once_with_a_result_each_and_one_rebalance() -> None:
    rig = Rig()
    dynamic, static, stays = Member(rig), Member(rig, group_instance_id="i"), Member(rig)
    settle_group(rig, stays, dynamic, static, delay_ms=2 * DELAY_MS)
    before = rig.rebalances.counts.total()
    members = [
        MemberIdentity(member_id=dynamic.id, reason="scaled down"),
        MemberIdentity(member_id="", group_instance_id="i"),
        MemberIdentity(member_id="stranger"),
        MemberIdentity(member_id="", group_instance_id="nobody"),
        MemberIdentity(member_id=""),
        MemberIdentity(member_id=dynamic.id),
    ]
    answer = rig.ask(LeaveGroupRequest(group_id="g", members=members))
    assert answer.error_code == 0
    assert [result.error_code for result in answer.members] == [0, 0, 25, 25, 25, 25]
    assert [result.group_instance_id for result in answer.members] == [None, "i", None, "nobody", None, None]
    assert rig.rebalances.counts.total() == before + 1
    assert stays.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    stays.join()
    assert [member.member_id for member in stays.join_answer.members] == [stays.id]


def test_nobody_leaves_if_nobody_is_named() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    assert rig.ask(LeaveGroupRequest(group_id="g", members=[])).error_code == 0
    assert member.heartbeat() == 0


def test_an_anonymous_commit_is_for_groups_without_members() -> None:
    rig = Rig()
    member = Member(rig)

    def commit(group_id: str) -> int:
        code: int = rig.ask(commit_request(group_id), 8).topics[0].partitions[0].error_code
        return code

    assert commit("g") == 0
    settle_group(rig, member)
    assert commit("g") == ErrorCode.UNKNOWN_MEMBER_ID
    assert member.leave() == 0
    assert commit("g") == 0
    assert commit("") == 0


@pytest.mark.parametrize(("version", "code"), [(8, 22), (9, 69)])
def test_a_commit_with_a_generation_needs_a_group(version: int, code: int) -> None:
    answer = Rig().ask(commit_request("nobody", 1, "m"), version)
    assert answer.topics[0].partitions[0].error_code == code


def test_a_commit_of_another_generation_is_refused() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    for generation, code in ((0, 22), (2, 22), (-1, 22), (1, 0)):
        answer = rig.ask(commit_request("g", generation, member.id), 8)
        assert answer.topics[0].partitions[0].error_code == code
