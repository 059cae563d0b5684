"""DescribeGroups in all versions and states."""

import pytest

from ottla.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsRequest
from tests.unit.coordinator.group.member import (
    DELAY_MS,
    Member,
    commit_request,
    join_request,
    settle_group,
    subscription,
)
from tests.unit.coordinator.group.rig import Rig


def _describe(rig: Rig, group_id: str, version: int) -> DescribedGroup:
    (group,) = rig.ask(DescribeGroupsRequest(groups=[group_id]), version).groups
    assert isinstance(group, DescribedGroup)
    return group


@pytest.mark.parametrize("version", range(7))
def test_a_stable_group_shows_its_protocol_and_its_members(version: int) -> None:
    rig = Rig()
    member = Member(rig, group_instance_id="i", client="payments")
    settle_group(rig, member)
    shown = DescribedGroupMember(
        member_id=member.id,
        group_instance_id="i",
        client_id="payments",
        client_host="/10.0.0.1",
        member_metadata=subscription("t"),
        member_assignment=member.id.encode(),
    )
    assert _describe(rig, "g", version) == DescribedGroup(
        group_id="g", group_state="Stable", protocol_type="consumer", protocol_data="range", members=[shown]
    )


def test_metadata_is_shown_only_while_the_group_is_stable() -> None:
    rig = Rig()
    one, two = Member(rig), Member(rig)
    one.join()
    preparing = _describe(rig, "g", 6)
    assert (preparing.group_state, preparing.protocol_data) == ("PreparingRebalance", "")
    assert [member.member_metadata for member in preparing.members] == [b""]
    rig.advance(DELAY_MS)
    assert _describe(rig, "g", 6).group_state == "CompletingRebalance"
    two.join()
    rig.advance(2 * 60_000)
    two.leave()
    empty = _describe(rig, "g", 6)
    assert (empty.group_state, empty.protocol_type, empty.members) == ("Empty", "consumer", [])


@pytest.mark.parametrize("group_id", ["nobody", ""])
def test_an_unknown_group_is_dead_and_from_v6_on_not_found(group_id: str) -> None:
    rig = Rig()
    assert _describe(rig, group_id, 5) == DescribedGroup(group_id=group_id, group_state="Dead")
    assert _describe(rig, group_id, 6) == DescribedGroup(
        group_id=group_id, group_state="Dead", error_code=69, error_message=f"Group {group_id} not found."
    )


def test_groups_without_members_are_empty() -> None:
    rig = Rig()
    rig.ask(join_request("pending"))
    rig.ask(commit_request("simple"), 8)
    assert _describe(rig, "pending", 6) == DescribedGroup(group_id="pending", group_state="Empty")
    assert _describe(rig, "simple", 6) == DescribedGroup(group_id="simple", group_state="Empty")


def test_a_broker_that_does_not_coordinate_the_group_says_so() -> None:
    rig = Rig()
    rig.resign()
    assert _describe(rig, "g", 6).error_code == 16
    rig.begin_load()
    assert _describe(rig, "g", 6).error_code == 14
