"""A group that was empty waits for more members before its first generation."""

import pytest

from ottla.coordinator.group.config import ClassicGroupConfig
from tests.unit.coordinator.group.member import DELAY_MS, Member, finish_rebalance, settle_group
from tests.unit.coordinator.group.rig import Rig


def test_the_first_join_is_answered_after_the_delay() -> None:
    rig = Rig()
    member = Member(rig)
    member.join()
    rig.advance(DELAY_MS - 1)
    assert member.joined.given == []
    rig.advance(1)
    assert member.join_answer.generation_id == 1


def test_whoever_comes_within_the_delay_makes_it_longer_by_one() -> None:
    rig = Rig()
    first, second = Member(rig), Member(rig)
    first.join()
    rig.advance(DELAY_MS - 1)
    second.join()
    rig.advance(DELAY_MS)
    assert first.joined.given == []
    rig.advance(1)
    assert first.join_answer.generation_id == second.join_answer.generation_id == 1


def test_the_delay_ends_with_the_rebalance_timeout_however_many_come() -> None:
    rig = Rig()
    members = [Member(rig, rebalance_timeout_ms=10_000) for _ in range(9)]
    for member in members:
        member.join()
        rig.advance(1_500)
        if members[0].joined.given:
            break
    assert rig.now_ms - 1_000_000 <= 12_000
    assert members[0].join_answer.generation_id == 1


def test_no_delay_is_none() -> None:
    rig = Rig(ClassicGroupConfig(initial_rebalance_delay_ms=0))
    member = Member(rig)
    member.join()
    rig.advance(0)
    assert member.join_answer.generation_id == 1


def test_an_emptied_group_waits_again_and_has_used_up_a_generation() -> None:
    rig = Rig()
    member = Member(rig)
    settle_group(rig, member)
    assert member.leave() == 0
    again = Member(rig)
    again.join()
    rig.advance(DELAY_MS - 1)
    assert again.joined.given == []
    rig.advance(1)
    assert again.join_answer.generation_id == 3


@pytest.mark.parametrize("is_restarted", [False, True])
def test_all_may_leave_during_the_delay(is_restarted: bool) -> None:
    rig = Rig()
    member = Member(rig)
    answers = member.join()
    assert member.leave() == 0
    assert answers.only.error_code == 25
    if is_restarted:
        rig.restart()
    rig.advance(DELAY_MS)
    again = Member(rig)
    again.join()
    rig.advance(2 * DELAY_MS)
    assert finish_rebalance(again) == {again.id: again.id.encode()}
