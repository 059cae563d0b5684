"""SyncGroup: everybody gets their share once the leader's assignment is written."""

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.group_log.classic import GroupMetadataValue
from ottla.protocol.messages.sync_group import SyncGroupRequest
from tests.unit.coordinator.group.member import (
    DELAY_MS,
    REBALANCE_MS,
    SESSION_MS,
    Member,
    finish_rebalance,
    settle_group,
    sync_request,
)
from tests.unit.coordinator.group.rig import Rig


def _joined(rig: Rig) -> tuple[Member, Member]:
    leader, follower = Member(rig), Member(rig)
    leader.join()
    follower.join()
    rig.advance(2 * DELAY_MS)
    assert leader.join_answer.error_code == follower.join_answer.error_code == 0
    return leader, follower


@pytest.mark.parametrize("is_leader_first", [True, False])
def test_followers_wait_for_the_leader(is_leader_first: bool) -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    shares = {leader.id: b"L", follower.id: b"F"}
    if is_leader_first:
        of_leader, of_follower = leader.sync(shares), follower.sync()
    else:
        of_follower = follower.sync()
        assert of_follower.given == []
        of_leader = leader.sync(shares)
    assert (of_leader.only.assignment, of_follower.only.assignment) == (b"L", b"F")
    assert (of_leader.only.protocol_type, of_leader.only.protocol_name) == ("consumer", "range")


def test_nobody_hears_before_the_assignment_is_committed() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    rig.is_replicating = False
    of_follower = follower.sync()
    of_leader = leader.sync({leader.id: b"L", follower.id: b"F"})
    assert of_leader.given == of_follower.given == []
    rig.replicate()
    assert (of_leader.only.assignment, of_follower.only.assignment) == (b"L", b"F")


def test_whoever_the_leader_forgot_gets_nothing() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    leader.sync({leader.id: b"L", "stranger": b"S"})
    answer = follower.sync().only
    assert (answer.error_code, answer.assignment) == (0, b"")


def test_in_a_stable_group_the_share_can_be_asked_for_again() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    assert member.sync({member.id: b"another"}).only.assignment == member.id.encode()


def test_a_leader_that_asks_twice_assigns_once() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    rig.is_replicating = False
    first = leader.sync({leader.id: b"1", follower.id: b"1"})
    second = leader.sync({leader.id: b"2", follower.id: b"2"})
    rig.replicate()
    rig.is_replicating = True
    assert first.only.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert second.only.assignment == follower.sync().only.assignment == b"1"
    rig.restart()
    assert leader.sync().only.assignment == b"1"


def test_unknown_members_groups_and_generations_are_refused() -> None:
    rig = Rig()
    leader, _ = _joined(rig)
    codes = [
        rig.ask(sync_request(group_id, generation, member_id), 4).error_code
        for group_id, generation, member_id in (
            ("", 1, leader.id),
            ("other", 1, leader.id),
            ("g", 1, "stranger"),
            ("g", 2, leader.id),
        )
    ]
    assert codes == [24, 25, 25, 22]


@pytest.mark.parametrize(("protocol_type", "name"), [("connect", "range"), ("consumer", "sticky")])
def test_another_protocol_than_the_groups_is_refused(protocol_type: str, name: str) -> None:
    rig = Rig()
    leader, _ = _joined(rig)
    request = SyncGroupRequest(
        group_id="g", generation_id=1, member_id=leader.id, protocol_type=protocol_type, protocol_name=name
    )
    assert rig.ask(request).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(("protocol_type", "name"), [(None, "range"), ("consumer", None), (None, None)])
def test_from_v5_on_the_protocol_must_be_named(protocol_type: str | None, name: str | None) -> None:
    request = SyncGroupRequest(group_id="nobody", generation_id=1, protocol_type=protocol_type, protocol_name=name)
    assert Rig().ask(request, 5).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert Rig().ask(request, 4).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_while_a_rebalance_is_prepared_members_are_told_to_join() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    finish_rebalance(leader, follower)
    leader.join()
    assert follower.sync().only.error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_new_rebalance_sends_waiting_members_back_to_join() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    waiting = follower.sync()
    Member(rig).join()
    assert waiting.only.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert leader.sync({}).only.error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_members_that_never_ask_are_removed_after_the_rebalance_timeout() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    of_leader = leader.sync({leader.id: b"L", follower.id: b"F"})
    assert of_leader.only.error_code == 0
    for _ in range(REBALANCE_MS // 5_000 - 1):
        rig.advance(5_000)
        assert leader.heartbeat() == follower.heartbeat() == 0
    rig.advance(5_000)
    assert leader.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert follower.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_never_assigns_is_removed_and_the_others_join_again() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    waiting = follower.sync()
    for _ in range(REBALANCE_MS // 5_000):
        leader.heartbeat()
        rig.advance(5_000)
    assert waiting.only.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    follower.join()
    assert follower.join_answer.leader == follower.id


def test_a_member_that_waits_for_its_share_needs_no_heartbeat() -> None:
    rig = Rig()
    leader, follower = _joined(rig)
    waiting = follower.sync()
    for _ in range(3):
        rig.advance(SESSION_MS - 1)
        assert leader.heartbeat() == 0
    leader.sync({follower.id: b"F"})
    assert waiting.only.assignment == b"F"
    rig.advance(SESSION_MS - 1)
    assert follower.heartbeat() == 0


def test_a_parked_sync_of_a_member_that_leaves_is_answered() -> None:
    rig = Rig()
    _, follower = _joined(rig)
    waiting = follower.sync()
    assert follower.leave() == 0
    assert waiting.only.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_record_is_written_when_the_rebalance_ends_and_as_kafka_writes_it() -> None:
    rig = Rig()
    member = Member(rig, client="payments")
    settle_group(rig, member)
    created, settled = rig.records()
    assert created.value == GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=1_000_000)
    assert (created.version, settled.version) == (3, 3)
    value = settled.value
    assert isinstance(value, GroupMetadataValue)
    assert (value.protocol_type, value.protocol, value.leader) == ("consumer", "range", member.id)
    assert (value.generation, value.current_state_timestamp) == (1, 1_003_000)
    (stored,) = value.members
    assert (stored.member_id, stored.group_instance_id) == (member.id, None)
    assert (stored.client_id, stored.client_host) == ("payments", "/10.0.0.1")
    assert (stored.session_timeout, stored.rebalance_timeout) == (SESSION_MS, REBALANCE_MS)
    assert stored.assignment == member.id.encode()
