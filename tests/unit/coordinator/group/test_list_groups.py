"""ListGroups: all groups of the broker, filtered as Kafka filters."""

import pytest

from ottla.protocol.messages.list_groups import ListedGroup, ListGroupsRequest
from tests.unit.coordinator.group.member import Member, commit_request, join_request, settle_group
from tests.unit.coordinator.group.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A stable group, one with an id handed out, and one that only has offsets, on several partitions."""
    rig = Rig(partitions=5)
    settle_group(rig, Member(rig, "stable"))
    rig.ask(join_request("pending"))
    rig.ask(commit_request("simple"), 8)
    return rig


def test_all_groups_with_type_and_state(rig: Rig) -> None:
    answer = rig.ask(ListGroupsRequest())
    assert answer.error_code == 0
    assert sorted(answer.groups, key=lambda group: group.group_id) == [
        ListedGroup(group_id="pending", group_state="Empty", group_type="classic"),
        ListedGroup(group_id="simple", group_state="Empty", group_type="classic"),
        ListedGroup(group_id="stable", protocol_type="consumer", group_state="Stable", group_type="classic"),
    ]


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        (["Stable"], [], {"stable"}),
        ([" STABLE "], [], {"stable"}),
        (["empty"], [], {"pending", "simple"}),
        (["empty", "stable"], ["CLASSIC"], {"pending", "simple", "stable"}),
        ([], ["Classic", "bogus"], {"pending", "simple", "stable"}),
        ([], [" classic"], set()),
        ([], ["consumer"], set()),
        ([], ["bogus"], set()),
        (["bogus"], [], set()),
        (["Stable"], ["consumer"], set()),
    ],
)
def test_filters(rig: Rig, states: list[str], types: list[str], found: set[str]) -> None:
    answer = rig.ask(ListGroupsRequest(states_filter=states, types_filter=types))
    assert {group.group_id for group in answer.groups} == found


def test_partitions_of_other_brokers_are_left_out(rig: Rig) -> None:
    other = Rig(partitions=5)
    other.resign()
    answer = other.ask(ListGroupsRequest())
    assert (answer.error_code, answer.groups) == (0, [])
