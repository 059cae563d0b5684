"""Which of their protocols a group uses: one that all speak, by vote."""

import pytest

from ottla.protocol.messages.join_group import JoinGroupRequestProtocol
from tests.unit.coordinator.group.member import DELAY_MS, Member, join_request, protocols, settle_group
from tests.unit.coordinator.group.rig import Rig


@pytest.mark.parametrize(
    ("spoken", "chosen"),
    [
        ([("a", "b")], "a"),
        ([("a", "b"), ("b", "a"), ("b",)], "b"),
        ([("a", "b", "c"), ("c", "a"), ("c", "a")], "c"),
        ([("a", "b"), ("a", "b"), ("b", "a")], "a"),
        ([("a", "b"), ("b", "c"), ("c", "b")], "b"),
    ],
)
def test_the_favourite_of_most_among_those_that_all_speak(spoken: list[tuple[str, ...]], chosen: str) -> None:
    rig = Rig()
    members = [Member(rig, protocols=protocols(*names)) for names in spoken]
    settle_group(rig, *members, delay_ms=2 * DELAY_MS)
    assert {member.join_answer.protocol_name for member in members} == {chosen}


def test_a_newcomer_needs_a_protocol_that_all_speak_not_one_that_some_do() -> None:
    rig = Rig()
    one, two = Member(rig, protocols=protocols("a", "b")), Member(rig, protocols=protocols("b", "c"))
    settle_group(rig, one, two, delay_ms=2 * DELAY_MS)
    assert rig.ask(join_request(protocols=protocols("a", "c"))).error_code == 23
    assert rig.ask(join_request(protocols=protocols("c", "b"))).error_code == 79


def test_what_the_last_member_to_disagree_spoke_counts_no_more_once_it_left() -> None:
    rig = Rig()
    one, two = Member(rig, protocols=protocols("a", "b")), Member(rig, protocols=protocols("b"))
    settle_group(rig, one, two, delay_ms=2 * DELAY_MS)
    assert two.leave() == 0
    one.join()
    assert one.join_answer.protocol_name == "a"


def test_a_protocol_given_twice_counts_once_and_its_first_metadata_holds() -> None:
    rig = Rig()
    twice = [JoinGroupRequestProtocol(name="a", metadata=data) for data in (b"1", b"2")]
    one, two = Member(rig, protocols=twice), Member(rig, protocols=protocols("a", metadata=b"3"))
    settle_group(rig, one, two, delay_ms=2 * DELAY_MS)
    assert {member.metadata for member in one.join_answer.members} == {b"1", b"3"}
