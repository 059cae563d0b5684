"""What is left of a group after calls that were refused, or that came from the other protocol while it was empty."""

from typing import Any

from ottla.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups import ListGroupsRequest
from tests.parity.subject.classic_groups import await_coordinators, enter, join, sync
from tests.parity.subject.commits import commit, fetch
from tests.parity.subject.consumer_groups import beat
from tests.parity.talk import Talk, Topic


def run(talk: Talk) -> None:
    """All about what is left."""
    await_coordinators(talk)
    topic = talk.topic("left", 2)
    _refused(talk)
    _empty_consumer_groups(talk, topic)
    _empty_classic_groups(talk, topic)


def look(talk: Talk, name: str, group: str) -> None:
    """Everything that can be seen of a group, once what was written before is committed."""
    talk.quietly(commit(9, "barrier", Topic("left", talk.id_of("left")), (0, 0)), 9)
    talk.ask(name, DescribeGroupsRequest(groups=[group]), 6)
    talk.ask(name, ConsumerGroupDescribeRequest(group_ids=[group]), 1)
    talk.ask(name, fetch(9, group, None), 9)
    listed = talk.quietly(ListGroupsRequest(), 5)
    listed.groups = [found for found in listed.groups if found.group_id == group]
    talk.note(f"{name}: listed", listed)


def _refused(talk: Talk) -> None:
    for number, (name, fields) in enumerate(
        (
            ("no protocols", {"protocols": ()}),
            ("no protocol type", {"protocol_type": ""}),
            ("a session too short", {"session_timeout_ms": 1}),
            ("an unknown member", {"member": "nobody"}),
            ("an unknown member, no protocols", {"member": "nobody", "protocols": ()}),
            ("no member id yet", {}),
            ("an empty protocol name", {"protocols": (("", b""),)}),
            ("an unknown instance with an id", {"member": "nobody", "group_instance_id": "i"}),
        )
    ):
        for version in (3, 4, 9):
            if version == 3 and not {"protocols", "protocol_type", "session_timeout_ms", "member"} & set(fields):
                continue
            group = f"refused-{number}-{version}"
            talk.ask(f"{name}, {version}", join(version, group, **fields), version)
            look(talk, f"after {name}, {version}", group)
            talk.ask(f"after {name}, {version}", DeleteGroupsRequest(groups_names=[group]), 2)
    group = "refused-others"
    talk.ask("a sync", sync(5, group, 1, "m"), 5)
    talk.ask("a heartbeat", HeartbeatRequest(group_id=group, generation_id=1, member_id="m"), 4)
    talk.ask("a leave", LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id="m")]), 5)
    talk.ask("a beat", beat(group, "m", 3), 1)
    talk.ask("a beat that leaves", beat(group, "m", -1), 1)
    talk.ask("a beat with an unknown assignor", beat(group, "m", 0, server_assignor="x"), 1)
    talk.ask("a beat with a bad pattern", beat(group, "m", 0, subscribed_topic_regex="("), 1)
    look(talk, "after these", group)


def _emptied(talk: Talk, group: str, topic: Topic) -> None:
    """A consumer group whose only member has left."""
    joined: Any = talk.quietly(beat(group, "m", 0, subscribed_topic_names=[topic.name]), 1)
    where = {"generation_id_or_member_epoch": joined.member_epoch, "member_id": "m"}
    talk.quietly(commit(9, group, topic, (0, 5), **where), 9)
    talk.quietly(beat(group, "m", -1), 1)


def _empty_consumer_groups(talk: Talk, topic: Topic) -> None:
    for name, version, fields in (
        ("with a member id", 9, {"member": "nobody"}),
        ("with a member id, long ago", 3, {"member": "nobody"}),
        ("without one", 9, {}),
        ("without one, long ago", 3, {}),
        ("as an instance", 9, {"group_instance_id": "i"}),
        ("without protocols", 9, {"protocols": ()}),
        ("as a connector", 3, {"protocol_type": "connect"}),
    ):
        group = f"left-consumers-{name.replace(' ', '-')}"
        _emptied(talk, group, topic)
        look(talk, f"{group}: before", group)
        joined: Any = talk.ask(f"into an empty consumer group {name}", join(version, group, **fields), version)
        if joined.member_id:
            talk.call(joined.member_id, f"MEMBER of {group}")
        look(talk, f"{group}: after", group)
    for name, request, version in (
        ("heartbeat", HeartbeatRequest(group_id="left-called", generation_id=1, member_id="m"), 4),
        ("sync", sync(5, "left-called", 1, "m"), 5),
        ("leave", LeaveGroupRequest(group_id="left-called", members=[MemberIdentity(member_id="m")]), 5),
        ("commit", commit(9, "left-called", topic, (0, 6)), 9),
        ("beat", beat("left-called", "m", 1), 1),
        ("join", beat("left-called", "m", 0, subscribed_topic_names=["left"]), 1),
    ):
        if name == "heartbeat":
            _emptied(talk, "left-called", topic)
        talk.ask(f"an empty consumer group: {name}", request, version)
        look(talk, f"an empty consumer group after {name}", "left-called")


def _empty_classic_groups(talk: Talk, topic: Topic) -> None:
    for name, epoch, fields in (
        ("joins", 0, {}),
        ("joins badly", 0, {"server_assignor": "x"}),
        ("joins as an instance", 0, {"instance_id": "i"}),
        ("beats", 1, {}),
        ("leaves", -1, {}),
    ):
        group = f"left-classic-{name.replace(' ', '-')}"
        member = enter(talk, group)
        talk.quietly(
            commit(9, group, topic, (0, 5), generation_id_or_member_epoch=1, member_id=member),
            9,
        )
        talk.quietly(LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=member)]), 5)
        look(talk, f"{group}: before", group)
        talk.ask(f"{group}: {name}", beat(group, "m", epoch, **fields), 1)
        look(talk, f"{group}: after", group)
    group = "left-offsets"
    talk.quietly(commit(9, group, topic, (0, 5)), 9)
    look(talk, "only offsets", group)
    talk.ask("into offsets", beat(group, "m", 0, subscribed_topic_names=["left"]), 1)
    look(talk, "only offsets, then a member", group)
    talk.ask("out of offsets", beat(group, "m", -1), 1)
    look(talk, "only offsets, then nobody", group)
