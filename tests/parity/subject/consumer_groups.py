"""Groups of the consumer protocol (KIP-848): ConsumerGroupHeartbeat and ConsumerGroupDescribe."""

from typing import Any

from ottla.base.ids import Uuid
from ottla.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups import ListGroupsRequest
from tests.clients.patience import until
from tests.parity.subject.classic_groups import await_coordinators, enter, join, sync
from tests.parity.talk import Talk, Topic


def run(talk: Talk) -> None:
    """All about these groups."""
    await_coordinators(talk)
    topic = talk.topic("modern", 4)
    for version in (0, 1):
        _life(talk, topic, version)
    _bad_joins(talk)
    _bad_members(talk, topic)
    _two_members(talk, topic)
    _static_members(talk, topic)
    _classic_calls(talk)
    _patterns(talk)
    _described(talk)


def beat(group: str, member: str, epoch: int, **others: Any) -> ConsumerGroupHeartbeatRequest:
    """A heartbeat; one that joins says everything."""
    if epoch == 0:
        others = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["modern"], "topic_partitions": []} | others
    return ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=epoch, **others)


def owned(topic: Topic, *partitions: int) -> list[TopicPartitions]:
    """What a member says that it owns."""
    return [TopicPartitions(topic_id=topic.id, partitions=list(partitions))]


def describe(*groups: str, **others: bool) -> ConsumerGroupDescribeRequest:
    """Asks about groups."""
    return ConsumerGroupDescribeRequest(group_ids=list(groups), **others)


def _life(talk: Talk, topic: Topic, version: int) -> None:
    group = f"modern-{version}"
    joined: Any = talk.ask("joins", beat(group, "a", 0), version)
    epoch = joined.member_epoch
    talk.ask("owns what it was given", beat(group, "a", epoch, topic_partitions=owned(topic, 0, 1, 2, 3)), version)
    talk.ask("says nothing", beat(group, "a", epoch), version)
    talk.ask("alone", describe(group), version)
    talk.ask("joins again", beat(group, "a", 0), version)
    changed: Any = talk.ask(
        "wants another topic too", beat(group, "a", epoch, subscribed_topic_names=["none"]), version
    )
    talk.ask("with another topic", describe(group), version)
    talk.ask("leaves", beat(group, "a", -1), version)
    talk.ask("after it left", beat(group, "a", changed.member_epoch), version)
    talk.ask("left", describe(group), version)
    talk.ask("no member id", beat(f"{group}-anonymous", "", 0), version)


def _bad_joins(talk: Talk) -> None:
    for version in (0, 1):
        for name, group, fields in (
            ("no group", "", {}),
            ("no rebalance time-out", "bad-modern", {"rebalance_timeout_ms": -1}),
            ("a rebalance time-out of 0", "bad-modern", {"rebalance_timeout_ms": 0}),
            ("no subscription", "bad-modern", {"subscribed_topic_names": None}),
            ("no list of partitions", "bad-modern", {"topic_partitions": None}),
            ("partitions at the start", "bad-modern", {"topic_partitions": [TopicPartitions(partitions=[0])]}),
            ("an unknown assignor", "bad-modern", {"server_assignor": "nonsense"}),
            ("an empty assignor", "bad-modern", {"server_assignor": ""}),
            ("an empty instance id", "bad-modern", {"instance_id": ""}),
            ("an empty rack", "bad-modern", {"rack_id": ""}),
            ("a topic without a name", "empty-name", {"subscribed_topic_names": [""]}),
            ("no topics", "no-topics", {"subscribed_topic_names": []}),
            ("the range assignor", "ranged", {"server_assignor": "range"}),
        ):
            talk.ask(name, beat(group, f"b{version}", 0, **fields), version)
        talk.ask("an epoch of -3", beat("bad-modern", "b", -3), version)
        talk.ask("of nobody: -1", beat("bad-modern", "b", -1), version)
        talk.ask("of nobody: -2", beat("bad-modern", "b", -2, instance_id="i"), version)
        talk.ask("of nobody: -2 without an instance", beat("bad-modern", "b", -2), version)
        talk.ask("of nobody: 5", beat("bad-modern", "b", 5), version)


def _bad_members(talk: Talk, topic: Topic) -> None:
    group = "modern-checked"
    joined = talk.quietly(beat(group, "m", 0), 1)
    epoch = joined.member_epoch
    for version in (0, 1):
        for name, fields in (
            ("an unknown member", {"member": "nobody"}),
            ("an old epoch", {"epoch": epoch - 1}),
            ("an old epoch, owning all", {"epoch": epoch - 1, "topic_partitions": owned(topic, 0, 1, 2, 3)}),
            ("a later epoch", {"epoch": epoch + 5}),
            ("a far later epoch", {"epoch": 2**31 - 1}),
            ("an empty id", {"member": ""}),
            ("an instance that it is not", {"instance_id": "x"}),
            ("an unknown assignor", {"server_assignor": "nonsense"}),
            ("partitions that it was not given", {"topic_partitions": owned(topic, 0, 77)}),
            (
                "partitions of no topic",
                {"topic_partitions": [TopicPartitions(topic_id=Uuid(b"\x07" * 16), partitions=[0])]},
            ),
            ("leaving for a while without an instance", {"epoch": -2}),
        ):
            others = dict(fields)
            who, when = others.pop("member", "m"), others.pop("epoch", epoch)
            talk.ask(f"a member with {name}", beat(group, who, when, **others), version)
    talk.ask("nothing of it changed the group", describe(group), 1)


def _two_members(talk: Talk, topic: Topic) -> None:
    group = "modern-two"
    first: Any = talk.quietly(beat(group, "a", 0), 1)
    all_of_it = owned(topic, 0, 1, 2, 3)
    talk.quietly(beat(group, "a", first.member_epoch, topic_partitions=all_of_it), 1)
    second: Any = talk.ask("a second one", beat(group, "b", 0), 1)
    talk.ask("two, nothing is free", describe(group), 1)
    asked: Any = talk.ask("is asked to give some", beat(group, "a", first.member_epoch, topic_partitions=all_of_it), 1)
    kept = asked.assignment.topic_partitions[0].partitions if asked.assignment else [0, 1]
    talk.ask("still owns all", beat(group, "a", first.member_epoch, topic_partitions=all_of_it), 1)
    given: Any = talk.ask("gives them", beat(group, "a", first.member_epoch, topic_partitions=owned(topic, *kept)), 1)
    talk.ask("gets them", beat(group, "b", second.member_epoch, topic_partitions=[]), 1)
    talk.ask(
        "the old epoch of the last answer",
        beat(group, "a", first.member_epoch, topic_partitions=owned(topic, *kept)),
        1,
    )
    talk.ask("the epoch before, owning more", beat(group, "a", given.member_epoch - 1, topic_partitions=all_of_it), 1)
    talk.ask("two", describe(group), 1)
    talk.ask("one leaves", beat(group, "b", -1), 1)
    talk.ask("the other gets all", beat(group, "a", given.member_epoch, topic_partitions=owned(topic, *kept)), 1)


def _static_members(talk: Talk, topic: Topic) -> None:
    group = "modern-static"
    joined: Any = talk.ask("a static one", beat(group, "s", 0, instance_id="i"), 1)
    talk.quietly(beat(group, "s", joined.member_epoch, instance_id="i", topic_partitions=owned(topic, 0, 1, 2, 3)), 1)
    talk.ask("a static one joins again", beat(group, "s", 0, instance_id="i"), 1)
    talk.ask("the instance is taken", beat(group, "t", 0, instance_id="i"), 1)
    talk.ask("another member as the instance", beat(group, "t", joined.member_epoch, instance_id="i"), 1)
    talk.ask("another instance", beat(group, "s", joined.member_epoch, instance_id="j"), 1)
    talk.ask("goes for a while", beat(group, "s", -2, instance_id="i"), 1)
    talk.ask("while it is away", describe(group), 1)
    talk.ask("comes back under another id", beat(group, "t", 0, instance_id="i"), 1)
    talk.ask("the old one", beat(group, "s", joined.member_epoch, instance_id="i"), 1)
    talk.ask("the old one goes", beat(group, "s", -1, instance_id="i"), 1)
    talk.ask("goes for good", beat(group, "t", -1, instance_id="i"), 1)
    talk.ask("gone for good", describe(group), 1)


def _patterns(talk: Talk) -> None:
    for number, (name, pattern) in enumerate(
        (
            ("all of it", "modern"),
            ("some letters", "mod.*"),
            ("an open bracket", "("),
            ("a reference back", r"(a)\1"),
            ("nothing to repeat", "*a"),
            ("an empty one", ""),
            ("a look ahead", "a(?=b)"),
        )
    ):
        fields: dict[str, Any] = {"subscribed_topic_names": None, "subscribed_topic_regex": pattern}
        talk.ask(f"a pattern: {name}", beat(f"pattern-{number}", "p", 0, **fields), 1)
    epoch = 0

    def is_resolved() -> bool:
        nonlocal epoch
        answer = talk.quietly(beat("pattern-1", "p", epoch or 1), 1)
        epoch = answer.member_epoch
        return epoch > 1

    until(True, is_resolved)
    talk.ask("a pattern that matches", describe("pattern-1"), 1)
    fields = {"subscribed_topic_names": ["none"], "subscribed_topic_regex": "nothing.*"}
    talk.ask("a pattern and names", beat("pattern-both", "p", 0, **fields), 1)


def _classic_calls(talk: Talk) -> None:
    """Calls of one protocol to a group of the other."""
    group = "modern-checked"
    talk.ask_all_versions("a consumer group", DescribeGroupsRequest(groups=[group]))
    talk.ask("of consumer groups", ListGroupsRequest(types_filter=["consumer"]), 5)
    talk.ask("a consumer group with members", DeleteGroupsRequest(groups_names=[group]), 2)
    for version in (0, 3, 4, 7, 9):
        talk.ask("into a consumer group, a bad subscription", join(version, group), version)
    talk.ask("into a consumer group as nobody's instance", join(9, group, "x", group_instance_id="none"), 9)
    talk.ask("into a consumer group of another type", join(9, group, "m", protocol_type="connect"), 9)
    talk.ask("of a consumer group", sync(5, group, 1, "m"), 5)
    talk.ask("of a consumer group", HeartbeatRequest(group_id=group, generation_id=1, member_id="m"), 4)
    talk.ask("of a consumer group", LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id="m")]), 5)
    talk.ask(
        "of a consumer group, by nobody", LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id="x")]), 5
    )
    enter(talk, "old-fashioned")
    talk.ask("into a classic group of another assignor's", beat("old-fashioned", "n", 0), 1)
    talk.ask("a classic group", describe("old-fashioned"), 1)
    enter(talk, "connectors", protocol_type="connect")
    talk.ask("into a group of connectors", beat("connectors", "n", 0), 1)


def _described(talk: Talk) -> None:
    for version in (0, 1):
        talk.ask("an unknown group", describe("nowhere"), version)
        talk.ask("no name", describe(""), version)
        talk.ask("none", describe(), version)
        talk.ask("no name among others", describe("nowhere", "", "modern-two", ""), version)
        talk.ask("one twice", describe("modern-two", "modern-two"), version)
        talk.ask("authorised operations", describe("modern-two", include_authorized_operations=True), version)
