"""ListGroups: all groups of the broker, filtered as Kafka filters."""

import pytest

from ottla.coordinator.group.listing import PAGE_GROUPS
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
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


def test_a_list_of_many_groups_is_made_of_short_pages() -> None:
    rig = Rig(partitions=2)
    names = {f"g{number}" for number in range(3 * PAGE_GROUPS)}
    for name in names:
        rig.send(commit_request(name), 8)
    pages = list(rig.coordinator.list_groups(ListGroupsRequest()))
    assert max(len(page) for page in pages) == PAGE_GROUPS
    assert sorted(group.group_id for page in pages for group in page) == sorted(names)


def test_a_page_without_a_match_ends_nothing() -> None:
    rig = Rig()
    for number in range(2 * PAGE_GROUPS):
        rig.send(commit_request(f"g{number}"), 8)
    settle_group(rig, Member(rig, "stable"))
    pages = list(rig.coordinator.list_groups(ListGroupsRequest(states_filter=["Stable"])))
    assert [group.group_id for page in pages for group in page] == ["stable"]
    assert len(pages) == 3


def test_groups_that_come_and_go_between_pages_hide_no_other_and_show_none_twice() -> None:
    rig = Rig(partitions=2)
    names = [f"g{number}" for number in range(3 * PAGE_GROUPS)]
    for name in names:
        rig.send(commit_request(name), 8)
    pages = rig.coordinator.list_groups(ListGroupsRequest())
    found = next(pages)
    for name in names[::2]:
        assert rig.ask(DeleteGroupsRequest(groups_names=[name])).results[0].error_code == 0
        rig.send(commit_request(f"new-{name}"), 8)
    rig.resign()
    found += [group for page in pages for group in page]
    assert sorted(group.group_id for group in found) == sorted(names)
