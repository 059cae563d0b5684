"""JoinGroup: who is let in, and with what answer."""

import pytest

from ottla.coordinator.group.config import ClassicGroupConfig
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.list_groups import ListGroupsRequest
from tests.unit.coordinator.group.member import (
    DELAY_MS,
    REBALANCE_MS,
    SESSION_MS,
    Member,
    finish_rebalance,
    join_request,
    protocols,
    settle_group,
)
from tests.unit.coordinator.group.rig import Rig


def test_a_dynamic_member_is_first_given_an_id_that_starts_with_its_client_id() -> None:
    rig = Rig()
    answer = rig.ask(join_request(), client="payments")
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("payments-")
    assert len(answer.member_id) == len("payments-") + 36


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_before_v4_no_id_is_required(version: int) -> None:
    rig = Rig()
    answers = rig.send(join_request(), version)
    assert answers.given == []
    rig.advance(DELAY_MS)
    assert answers.only.error_code == 0
    assert answers.only.generation_id == 1


@pytest.mark.parametrize("version", range(10))
def test_the_leader_is_told_everybodys_metadata_and_the_others_nobodys(version: int) -> None:
    rig = Rig()
    first, second = Member(rig, version=version), Member(rig, version=version)
    first.join(protocols=protocols("range", metadata=b"one"))
    second.join(protocols=protocols("range", metadata=b"two"))
    rig.advance(2 * DELAY_MS)
    leader, follower = first.join_answer, second.join_answer
    leader.encode(version)
    assert leader.leader == follower.leader == leader.member_id
    assert {member.member_id: member.metadata for member in leader.members} == {first.id: b"one", second.id: b"two"}
    assert follower.members == []
    assert (leader.protocol_type, leader.protocol_name) == ("consumer", "range")


@pytest.mark.parametrize("session_ms", [5_999, 1_800_001, 0, -1])
def test_a_session_timeout_outside_the_limits_is_refused(session_ms: int) -> None:
    answer = Rig().ask(join_request(session_timeout_ms=session_ms))
    assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_the_empty_group_id_can_not_be_joined() -> None:
    assert Rig().ask(join_request("")).error_code == ErrorCode.INVALID_GROUP_ID


def test_an_id_that_nobody_gave_out_is_unknown_and_makes_no_group() -> None:
    rig = Rig()
    answer = rig.ask(join_request(member_id="stranger"))
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "stranger")
    assert rig.ask(ListGroupsRequest()).groups == []


@pytest.mark.parametrize(
    "fields", [{"protocols": []}, {"protocol_type": ""}, {"protocol_type": "", "protocols": []}], ids=str
)
def test_a_first_member_without_a_protocol_is_refused_and_makes_the_group(fields: dict[str, object]) -> None:
    rig = Rig()
    assert rig.ask(join_request(**fields)).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    [group] = rig.ask(ListGroupsRequest()).groups
    assert (group.group_state, group.protocol_type) == ("Empty", "")
    assert len(rig.records()) == 1


@pytest.mark.parametrize(
    "fields", [{"protocol_type": "connect"}, {"protocols": protocols("sticky")}, {"protocols": []}], ids=str
)
def test_who_has_nothing_in_common_with_the_members_is_refused(fields: dict[str, object]) -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    assert rig.ask(join_request(**fields)).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert member.heartbeat() == 0


@pytest.mark.parametrize("version", [0, 6, 7, 9])
def test_a_refusal_has_no_protocol(version: int) -> None:
    answer = Rig().ask(join_request(member_id="stranger"), version)
    assert answer.protocol_name == ("" if version < 7 else None)


def test_an_id_given_to_a_dynamic_member_does_not_come_back_with_an_instance() -> None:
    rig = Rig()
    member_id = rig.ask(join_request()).member_id
    answer = rig.ask(join_request(member_id=member_id, group_instance_id="i"))
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_SERVER_ERROR, "")
    assert rig.send(join_request(member_id=member_id)).given == []


def test_a_follower_with_the_same_metadata_gets_the_same_generation_at_once() -> None:
    rig = Rig()
    leader, follower = Member(rig), Member(rig)
    settle_group(rig, leader, follower, delay_ms=2 * DELAY_MS)
    follower.join()
    answer = follower.join_answer
    assert (answer.error_code, answer.generation_id, answer.members) == (0, 1, [])
    assert leader.heartbeat() == 0


def test_a_follower_with_other_metadata_makes_the_group_rebalance() -> None:
    rig = Rig()
    leader, follower = Member(rig), Member(rig)
    settle_group(rig, leader, follower, delay_ms=2 * DELAY_MS)
    follower.join(protocols=protocols("range", metadata=b"other"))
    assert leader.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    leader.join()
    assert leader.join_answer.generation_id == follower.join_answer.generation_id == 2


def test_the_leader_makes_the_group_rebalance_by_joining_again() -> None:
    rig = Rig()
    leader, follower = Member(rig), Member(rig)
    settle_group(rig, leader, follower, delay_ms=2 * DELAY_MS)
    leader.join()
    assert follower.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


def test_while_the_assignment_is_awaited_a_join_with_the_same_metadata_is_answered_again() -> None:
    rig = Rig()
    leader, follower = Member(rig), Member(rig)
    leader.join()
    follower.join()
    rig.advance(2 * DELAY_MS)
    before = leader.join_answer
    assert follower.join_answer.generation_id == 1
    leader.join()
    assert leader.join_answer == before
    leader.join(protocols=protocols("range", metadata=b"other"))
    assert follower.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_join_takes_the_place_of_one_that_waits() -> None:
    rig = Rig()
    leader, follower = Member(rig), Member(rig)
    settle_group(rig, leader, follower, delay_ms=2 * DELAY_MS)
    former = leader.join()
    leader.join()
    assert former.only.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    follower.join()
    assert leader.join_answer.generation_id == 2


def test_the_group_rebalances_without_dynamic_members_that_do_not_join() -> None:
    rig = Rig()
    leader, follower = Member(rig, session_timeout_ms=1_000_000), Member(rig, session_timeout_ms=1_000_000)
    settle_group(rig, leader, follower, delay_ms=2 * DELAY_MS)
    follower.join(protocols=protocols("range", metadata=b"other"))
    rig.advance(REBALANCE_MS - 1)
    assert follower.joined.given == []
    rig.advance(1)
    assert follower.join_answer.leader == follower.id
    assert [member.member_id for member in follower.join_answer.members] == [follower.id]
    assert leader.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_in_v0_the_session_timeout_is_the_rebalance_timeout_too() -> None:
    rig = Rig()
    first, second = Member(rig, version=0), Member(rig, version=0)
    first.join()
    second.join()
    rig.advance(2 * DELAY_MS)
    finish_rebalance(first, second)
    second.join(protocols=protocols("range", metadata=b"other"))
    for _ in range(SESSION_MS // 1_000):
        assert second.joined.given == []
        first.heartbeat()
        rig.advance(1_000)
    assert second.join_answer.generation_id == 2


def test_a_new_member_that_is_never_answered_is_forgotten_after_five_minutes() -> None:
    rig = Rig()
    settled, new = Member(rig, rebalance_timeout_ms=900_000), Member(rig)
    settle_group(rig, settled)
    new.join()
    for _ in range(299):
        rig.advance(1_000)
        assert settled.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert new.joined.given == []
    rig.advance(1_000)
    assert new.join_answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", [3, 9])
def test_a_full_group_takes_nobody_in(version: int) -> None:
    rig = Rig(ClassicGroupConfig(max_size=2))
    first, second = Member(rig), Member(rig)
    settle_group(rig, first, second, delay_ms=2 * DELAY_MS)
    answer = rig.ask(join_request(), version)
    assert (answer.error_code, answer.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert first.heartbeat() == second.heartbeat() == 0


def test_while_a_rebalance_is_prepared_the_last_of_too_many_are_turned_away() -> None:
    rig = Rig(ClassicGroupConfig(max_size=2))
    members = [Member(rig) for _ in range(3)]
    for member in members:
        member.join()
    rig.advance(2 * DELAY_MS)
    assert [member.joined.only.error_code for member in members] == [0, 0, ErrorCode.GROUP_MAX_SIZE_REACHED]


def test_groups_of_any_protocol_type_are_served() -> None:
    rig = Rig()
    workers = [Member(rig, "connect-1", protocol_type="connect", protocols=protocols("sessioned", metadata=b"\xff"))]
    registries = [Member(rig, "schema-registry", protocol_type="sr", protocols=protocols("v0", metadata=b"{}"))]
    for members in (workers, registries):
        assert settle_group(rig, *members) == {members[0].id: members[0].id.encode()}
    groups = {group.group_id: group.protocol_type for group in rig.ask(ListGroupsRequest()).groups}
    assert groups == {"connect-1": "connect", "schema-registry": "sr"}
