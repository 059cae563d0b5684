"""Classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups, FindCoordinator."""

from typing import Any

from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.clients.patience import until
from tests.parity.talk import Talk

SESSION_MS = 300_000
_RANGE = (("range", b"\x00\x01"),)


def run(talk: Talk) -> None:
    """All about classic groups."""
    await_coordinators(talk)
    _coordinators(talk)
    for version in range(10):
        _life(talk, version)
    _bad_joins(talk)
    _bad_members(talk)
    _two_members(talk)
    _static_members(talk)
    _described(talk)
    _deleted(talk)


def find(key: str, kind: int = 0) -> FindCoordinatorRequest:
    """Asks for one coordinator, in a version that takes many."""
    return FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])


def join(version: int, group: str, member: str = "", **others: Any) -> JoinGroupRequest:
    """A join; `protocols` are pairs of name and metadata."""
    protocols = [JoinGroupRequestProtocol(name=name, metadata=data) for name, data in others.pop("protocols", _RANGE)]
    fields = {"session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": 60_000, "protocol_type": "consumer"} | others
    if version < 5:
        fields.pop("group_instance_id", None)
    return JoinGroupRequest(group_id=group, member_id=member, protocols=protocols, **fields)


def sync(version: int, group: str, generation: int, member: str, **others: Any) -> SyncGroupRequest:
    """A sync; `assignments` are pairs of member and bytes."""
    given = [
        SyncGroupRequestAssignment(member_id=name, assignment=data) for name, data in others.pop("assignments", ())
    ]
    fields = {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}
    return SyncGroupRequest(
        group_id=group, generation_id=generation, member_id=member, assignments=given, **fields | others
    )


def enter(talk: Talk, group: str, **others: Any) -> str:
    """A group of one stable member, without a question; the member's id."""
    member: str = talk.quietly(join(4, group, **others), 4).member_id
    joined = talk.quietly(join(4, group, member, **others), 4)
    assert joined.error_code == 0, joined
    talk.quietly(sync(3, group, joined.generation_id, member, assignments=[(member, b"mine")]), 3)
    return talk.call(member, f"MEMBER of {group}")


def await_coordinators(talk: Talk) -> None:
    """Returns when groups and transactions can be asked about: their topics are made by the first question."""
    for kind in (0, 1):
        until(0, lambda kind=kind: talk.quietly(find("any", kind), 4).coordinators[0].error_code)
    beat = HeartbeatRequest(group_id="any", generation_id=1, member_id="any")
    until(25, lambda: talk.quietly(beat, 4).error_code)


def _coordinators(talk: Talk) -> None:
    for kind, key in ((0, "groups"), (1, "transactional")):
        talk.ask_all_versions(f"of type {kind}", FindCoordinatorRequest(key=key, key_type=kind), "1-3")
        talk.ask_all_versions(f"of type {kind}", find(key, kind), "4-6")
    talk.ask("of a group", FindCoordinatorRequest(key="groups"), 0)
    for version in (1, 3):
        talk.ask("of an unknown type", FindCoordinatorRequest(key="groups", key_type=5), version)
        talk.ask("of no name", FindCoordinatorRequest(key=""), version)
    for version in (4, 6):
        talk.ask("of an unknown type", find("groups", 5), version)
        talk.ask("of no name", find(""), version)
        talk.ask("of many", FindCoordinatorRequest(coordinator_keys=["a", "b", "a"]), version)
        talk.ask("of none", FindCoordinatorRequest(coordinator_keys=[]), version)
    talk.ask("of a share in an old version", find("a:b:0", 2), 5)
    talk.ask("of a share with a bad key", find("nonsense", 2), 6)


def _life(talk: Talk, version: int) -> None:
    """One member joins, syncs, beats and leaves, in one version of everything."""
    group = f"life-{version}"
    joined: Any = talk.ask("the first", join(version, group), version)
    member = talk.call(joined.member_id, f"MEMBER of {group}")
    if version >= 4:
        joined = talk.ask("the first, with its id", join(version, group, member), version)
    generation = joined.generation_id
    beat = HeartbeatRequest(group_id=group, generation_id=generation, member_id=member)
    talk.ask(f"before the sync, {version}", beat, min(version, 4))
    synced = sync(min(version, 5), group, generation, member, assignments=[(member, b"mine")])
    talk.ask(f"by the leader, {version}", synced, min(version, 5))
    talk.ask(f"again, {version}", sync(min(version, 5), group, generation, member), min(version, 5))
    talk.ask(f"stable, {version}", beat, min(version, 4))
    talk.ask(f"stable, {version}", DescribeGroupsRequest(groups=[group]), min(version, 6))
    if version >= 4:
        again: Any = talk.ask("the leader again", join(version, group, member), version)
        generation = again.generation_id
    leaving = min(version, 5)
    left = (
        LeaveGroupRequest(group_id=group, member_id=member)
        if leaving < 3
        else LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=member)])
    )
    talk.ask(f"the only one, {version}", left, leaving)
    talk.ask(f"left already, {version}", left, leaving)
    talk.ask(f"after it left, {version}", beat, min(version, 4))
    talk.ask(f"empty, {version}", DescribeGroupsRequest(groups=[group]), min(version, 6))


def _bad_joins(talk: Talk) -> None:
    enter(talk, "taken")
    for name, group, fields in (
        ("no group", "", {}),
        ("an unknown member", "unknown", {"member": "nobody"}),
        ("an unknown member of a group", "taken", {"member": "nobody"}),
        ("a session too short", "bad", {"session_timeout_ms": 1}),
        ("a session too long", "bad", {"session_timeout_ms": 10**8}),
        ("a negative session", "bad", {"session_timeout_ms": -1}),
        ("no protocols", "bad", {"protocols": ()}),
        ("no protocol type", "bad", {"protocol_type": ""}),
        ("another protocol type", "taken", {"protocol_type": "connect"}),
        ("no common protocol", "taken", {"protocols": (("roundrobin", b""),)}),
        ("an empty protocol name", "taken", {"protocols": (("", b""),)}),
    ):
        talk.ask_all_versions(name, lambda version, group=group, fields=fields: join(version, group, **fields))
    talk.ask("an empty instance id", join(7, "bad", group_instance_id=""), 7)
    talk.ask("a bad instance id", join(7, "bad", group_instance_id="a/b"), 7)


def _bad_members(talk: Talk) -> None:
    member = enter(talk, "stable")
    for name, group, generation, who in (
        ("an unknown group", "nowhere", 1, member),
        ("no group", "", 1, member),
        ("an unknown member", "stable", 1, "nobody"),
        ("no member", "stable", 1, ""),
        ("an old generation", "stable", 0, member),
        ("a later generation", "stable", 9, member),
        ("a negative generation", "stable", -1, member),
    ):
        talk.ask_all_versions(name, HeartbeatRequest(group_id=group, generation_id=generation, member_id=who))
        talk.ask_all_versions(name, lambda version, call=(group, generation, who): sync(version, *call), "0-5")
    for name, group, who in (
        ("an unknown group", "nowhere", member),
        ("no group", "", member),
        ("nobody", "stable", "x"),
    ):
        talk.ask_all_versions(name, LeaveGroupRequest(group_id=group, member_id=who), "0-2")
        leaving = LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=who)])
        talk.ask_all_versions(name, leaving, "3-5")
    talk.ask("no members", LeaveGroupRequest(group_id="stable"), 5)
    two = [MemberIdentity(member_id="x"), MemberIdentity(member_id="", group_instance_id="y")]
    talk.ask("two unknown ones", LeaveGroupRequest(group_id="stable", members=two), 5)
    for name, fields in (
        ("another type", {"protocol_type": "connect"}),
        ("another name", {"protocol_name": "roundrobin"}),
        ("no type", {"protocol_type": None}),
        ("no name", {"protocol_name": None}),
        ("neither", {"protocol_type": None, "protocol_name": None}),
        ("an instance that it is not", {"group_instance_id": "x"}),
    ):
        talk.ask(name, sync(5, "stable", 1, member, **fields), 5)
    instance = HeartbeatRequest(group_id="stable", generation_id=1, member_id=member, group_instance_id="x")
    talk.ask("an instance that it is not", instance, 4)
    talk.ask("nothing of it changed the group", DescribeGroupsRequest(groups=["stable"]), 5)


def _two_members(talk: Talk) -> None:
    first = enter(talk, "two")
    second: Any = talk.quietly(join(7, "two"), 7)
    other = talk.call(second.member_id, "SECOND of two")
    late = talk.begin("a second one", join(7, "two", other), 7)
    beat = HeartbeatRequest(group_id="two", generation_id=1, member_id=first)
    until(27, lambda: talk.quietly(beat, 4).error_code)
    talk.ask("while members join", beat, 4)
    talk.ask("while members join", sync(5, "two", 1, first), 5)
    talk.ask("preparing", DescribeGroupsRequest(groups=["two"]), 5)
    talk.ask("the first one again", join(7, "two", first, protocols=(("range", b"new"), ("other", b""))), 7)
    late()
    talk.ask("while the leader is waited for", HeartbeatRequest(group_id="two", generation_id=2, member_id=other), 4)
    talk.ask("completing", DescribeGroupsRequest(groups=["two"]), 5)
    waiting = talk.begin("by a follower", sync(5, "two", 2, other), 5)
    given = [(first, b"one"), (other, b"two"), ("nobody", b"three")]
    talk.ask("by the leader, with one too many", sync(5, "two", 2, first, assignments=given), 5)
    waiting()
    talk.ask("two members", DescribeGroupsRequest(groups=["two"]), 5)
    talk.ask("a follower again", join(7, "two", other), 7)
    both = [MemberIdentity(member_id=first), MemberIdentity(member_id=other), MemberIdentity(member_id=first)]
    talk.ask("both, and one twice", LeaveGroupRequest(group_id="two", members=both), 5)


def _static_members(talk: Talk) -> None:
    group = "static"
    first: Any = talk.ask("a static one", join(7, group, group_instance_id="i"), 7)
    old = talk.call(first.member_id, "STATIC")
    talk.ask("a static leader", sync(5, group, 1, old, group_instance_id="i", assignments=[(old, b"mine")]), 5)
    for version in (5, 6, 7, 8, 9):
        again: Any = talk.ask("a static one comes back", join(version, group, group_instance_id="i"), version)
        newer = talk.call(again.member_id, f"STATIC {version}")
        talk.ask(f"the assignment of {version}", sync(5, group, 1, newer, group_instance_id="i"), 5)
    beat = HeartbeatRequest(group_id=group, generation_id=1, member_id=old, group_instance_id="i")
    talk.ask_all_versions("a fenced one", beat, "3-4")
    for version in (5, 7, 9):
        talk.ask("a fenced one", join(version, group, old, group_instance_id="i"), version)
    for version in (3, 5):
        talk.ask("a fenced one", sync(version, group, 1, old, group_instance_id="i"), version)
        fenced = [MemberIdentity(member_id=old, group_instance_id="i")]
        talk.ask("a fenced one", LeaveGroupRequest(group_id=group, members=fenced), version)
    talk.ask("an unknown instance", join(7, group, newer, group_instance_id="j"), 7)
    unknown = HeartbeatRequest(group_id=group, generation_id=1, member_id=newer, group_instance_id="j")
    talk.ask("an unknown instance", unknown, 4)
    talk.ask("static", DescribeGroupsRequest(groups=[group]), 5)
    by_instance = [MemberIdentity(member_id="", group_instance_id="i")]
    talk.ask("by instance alone", LeaveGroupRequest(group_id=group, members=by_instance), 5)


def _described(talk: Talk) -> None:
    for name, groups in (
        ("an unknown group", ["nowhere"]),
        ("no name", [""]),
        ("none", []),
        ("one twice", ["stable"] * 2),
    ):
        talk.ask_all_versions(name, DescribeGroupsRequest(groups=groups))
    allowed = DescribeGroupsRequest(groups=["stable"], include_authorized_operations=True)
    talk.ask_all_versions("authorised operations", allowed, "3-6")
    talk.ask_all_versions("all", ListGroupsRequest())
    for states in (["Stable"], ["Empty"], ["stable"], ["EMPTY"], ["nonsense"], ["Stable", "Empty"], [""]):
        talk.ask_all_versions(f"in {states}", ListGroupsRequest(states_filter=states), "4-5")
    for types in (["classic"], ["Consumer"], ["nonsense"], ["share", "streams"], [""]):
        talk.ask(f"of {types}", ListGroupsRequest(types_filter=types), 5)
    talk.ask("both filters", ListGroupsRequest(states_filter=["Empty"], types_filter=["classic"]), 5)


def _deleted(talk: Talk) -> None:
    for version in range(3):
        for name, groups in (
            ("an unknown one", ["nowhere"]),
            ("no name", [""]),
            ("none", []),
            ("one with members", ["stable"]),
            ("an empty one", [f"life-{version}"]),
            ("the same again", [f"life-{version}"]),
            ("several", ["nowhere", "stable", f"life-{version + 3}"]),
            ("one twice", [f"life-{version + 6}"] * 2),
        ):
            talk.ask(name, DeleteGroupsRequest(groups_names=groups), version)
