"""Groups that change their kind while they have members (KIP-848): classic ones taken over, and given back."""

from collections.abc import Sequence
from typing import Any

from ottla.protocol.consumer_protocol import (
    AssignedTopicPartition,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedTopicPartition,
)
from ottla.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from tests.parity.subject.classic_groups import await_coordinators, join, sync
from tests.parity.subject.commits import commit, fetch
from tests.parity.subject.consumer_groups import beat, owned
from tests.parity.talk import Talk, Topic

Names = Sequence[str]


def run(talk: Talk) -> None:
    """All about it."""
    await_coordinators(talk)
    topic = talk.topic("converted", 4)
    for version in range(4):
        _there_and_back(talk, topic, version)
    _last_consumer_leaves(talk, topic)
    _static_members(talk, topic)
    _replaced_one_by_one(talk, topic)
    _refused(talk)


def _subscription(version: int, *partitions: int, generation: int = -1, topics: Names = ("converted",)) -> bytes:
    held = [OwnedTopicPartition(topic="converted", partitions=list(partitions))] if partitions and version else []
    fields: dict[str, Any] = {"generation_id": generation} if version >= 2 else {}
    said = ConsumerProtocolSubscription(topics=list(topics), owned_partitions=held, **fields)
    return version.to_bytes(2, "big") + said.encode(version)


def _assignment(version: int, *partitions: int) -> bytes:
    given = [AssignedTopicPartition(topic="converted", partitions=list(partitions))] if partitions else []
    return version.to_bytes(2, "big") + ConsumerProtocolAssignment(assigned_partitions=given).encode(version)


def _join(group: str, member: str, metadata: bytes, **others: Any) -> Any:
    return join(9, group, member, protocols=(("range", metadata),), **others)


def _enter(talk: Talk, group: str, version: int, **others: Any) -> str:
    """A stable classic group of one member that has all partitions; its id."""
    metadata = _subscription(version)
    first: Any = talk.quietly(_join(group, "", metadata, **others), 9)
    if first.error_code:
        first = talk.quietly(_join(group, first.member_id, metadata, **others), 9)
    member: str = first.member_id
    instance = {"group_instance_id": others["group_instance_id"]} if others else {}
    given = [(member, _assignment(version, 0, 1, 2, 3))]
    talk.quietly(sync(5, group, first.generation_id, member, assignments=given, **instance), 5)
    return talk.call(member, f"CLASSIC of {group}")


def _look(talk: Talk, name: str, group: str) -> None:
    talk.ask(f"{group}: {name}", DescribeGroupsRequest(groups=[group]), 6)
    talk.ask(f"{group}: {name}", ConsumerGroupDescribeRequest(group_ids=[group]), 1)


def _beat(group: str, generation: int, member: str, **others: Any) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=group, generation_id=generation, member_id=member, **others)


def _leave(group: str, member: str, **others: Any) -> LeaveGroupRequest:
    return LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=member, **others)])


def _modern(group: str, member: str, epoch: int, **others: Any) -> Any:
    if epoch == 0:
        others = {"subscribed_topic_names": ["converted"], "server_assignor": "range"} | others
    return beat(group, member, epoch, **others)


def _there_and_back(talk: Talk, topic: Topic, version: int) -> None:
    """A consumer joins, both share, the consumer leaves."""
    group = f"converted-{version}"
    old = _enter(talk, group, version)
    talk.quietly(commit(9, group, topic, (0, 3), generation_id_or_member_epoch=1, member_id=old), 9)
    _look(talk, "classic", group)
    joined: Any = talk.ask(f"{group}: a consumer joins", _modern(group, "a", 0), 1)
    epoch = joined.member_epoch
    _look(talk, "converted", group)
    talk.ask(f"{group}: the classic one beats", _beat(group, 1, old), 4)
    talk.ask(
        f"{group}: a classic commit", commit(9, group, topic, (0, 4), generation_id_or_member_epoch=1, member_id=old), 9
    )
    talk.ask(f"{group}: the classic one syncs too early", sync(5, group, 1, old), 5)
    again: Any = talk.ask(
        f"{group}: the classic one joins again", _join(group, old, _subscription(version, 0, 1, 2, 3, generation=1)), 9
    )
    _look(talk, "joined again", group)
    generation = again.generation_id
    talk.ask(f"{group}: beats before it syncs", _beat(group, generation, old), 4)
    talk.ask(f"{group}: syncs in the generation before", sync(5, group, generation - 1, old), 5)
    talk.ask(f"{group}: syncs as another type", sync(5, group, generation, old, protocol_type="connect"), 5)
    talk.ask(f"{group}: syncs with another protocol", sync(5, group, generation, old, protocol_name="sticky"), 5)
    talk.ask(f"{group}: syncs", sync(5, group, generation, old), 5)
    _look(talk, "synced", group)
    talk.ask(f"{group}: beats when it has synced", _beat(group, generation, old), 4)
    talk.ask(f"{group}: the consumer waits", _modern(group, "a", epoch, topic_partitions=[]), 1)
    again = talk.ask(
        f"{group}: the classic one gives some",
        _join(group, old, _subscription(version, 0, 1, generation=generation)),
        9,
    )
    talk.ask(f"{group}: syncs what is left", sync(5, group, again.generation_id, old), 5)
    talk.ask(f"{group}: the consumer gets some", _modern(group, "a", epoch, topic_partitions=[]), 1)
    _look(talk, "shared", group)
    talk.ask(f"{group}: an old generation", _beat(group, 0, old), 4)
    talk.ask(f"{group}: a later generation", _beat(group, 99, old), 4)
    talk.ask(f"{group}: the consumer leaves", _modern(group, "a", -1), 1)
    _look(talk, "back", group)
    talk.ask(f"{group}: beats when the group is back", _beat(group, again.generation_id, old), 4)
    back: Any = talk.ask(f"{group}: joins when the group is back", _join(group, old, _subscription(version)), 9)
    synced = sync(5, group, back.generation_id, old, assignments=[(old, _assignment(version, 0, 1, 2, 3))])
    talk.ask(f"{group}: syncs when the group is back", synced, 5)
    _look(talk, "classic again", group)
    talk.ask(f"{group}: offsets", fetch(9, group, None), 9)
    talk.ask(f"{group}: the classic one leaves", _leave(group, old), 5)
    _look(talk, "left", group)


def _last_consumer_leaves(talk: Talk, topic: Topic) -> None:
    """A consumer group that a classic member joins; the consumer leaves.

    Ids that the broker makes up come before this one's, so that the assignor's order is the same every time.
    """
    group = "converted-late"
    first: Any = talk.quietly(_modern(group, "~", 0), 1)
    talk.quietly(_modern(group, "~", first.member_epoch, topic_partitions=owned(topic, 0, 1, 2, 3)), 1)
    for name, protocols in (("another assignor", ("sticky",)), ("two assignors", ("range", "x"))):
        said = join(9, group, protocols=[(protocol, _subscription(3)) for protocol in protocols])
        answer: Any = talk.ask(f"{group}: a classic one with {name}", said, 9)
        talk.call(answer.member_id, f"CLASSIC with {name}")
    old: Any = talk.ask(f"{group}: a classic one", _join(group, "", _subscription(3)), 9)
    talk.call(old.member_id, f"CLASSIC of {group}")
    joined: Any = talk.ask(f"{group}: a classic one with its id", _join(group, old.member_id, _subscription(3)), 9)
    _look(talk, "a classic one is in", group)
    talk.ask(f"{group}: it syncs", sync(5, group, joined.generation_id, old.member_id), 5)
    asked: Any = talk.ask(
        f"{group}: the consumer is asked for some",
        _modern(group, "~", first.member_epoch, topic_partitions=owned(topic, 0, 1, 2, 3)),
        1,
    )
    kept = asked.assignment.topic_partitions[0].partitions if asked.assignment else [0, 1]
    talk.ask(
        f"{group}: the consumer gives some",
        _modern(group, "~", first.member_epoch, topic_partitions=owned(topic, *kept)),
        1,
    )
    talk.ask(f"{group}: it beats", _beat(group, joined.generation_id, old.member_id), 4)
    _look(talk, "some are free", group)
    again: Any = talk.ask(f"{group}: it joins for them", _join(group, old.member_id, _subscription(3)), 9)
    talk.ask(f"{group}: it syncs them", sync(5, group, again.generation_id, old.member_id), 5)
    _look(talk, "it has them", group)
    talk.ask(f"{group}: the consumer leaves", _modern(group, "~", -1), 1)
    _look(talk, "only the classic one is left", group)
    talk.ask(f"{group}: it beats alone", _beat(group, again.generation_id, old.member_id), 4)


def _static_members(talk: Talk, topic: Topic) -> None:
    """A static classic member becomes a consumer under the same instance id, and back."""
    group = "converted-static"
    old = _enter(talk, group, 3, group_instance_id="i")
    _look(talk, "classic", group)
    joined: Any = talk.ask(f"{group}: the instance as a consumer", _modern(group, "a", 0, instance_id="i"), 1)
    _look(talk, "replaced", group)
    talk.ask(f"{group}: the old one", _beat(group, 1, old, group_instance_id="i"), 4)
    talk.ask(f"{group}: the old one joins", _join(group, old, _subscription(3), group_instance_id="i"), 9)
    talk.ask(
        f"{group}: the consumer beats",
        _modern(group, "a", joined.member_epoch, instance_id="i", topic_partitions=owned(topic, 0, 1, 2, 3)),
        1,
    )
    talk.ask(f"{group}: the consumer is away", _modern(group, "a", -2, instance_id="i"), 1)
    _look(talk, "away", group)
    back: Any = talk.ask(f"{group}: back as classic", _join(group, "", _subscription(3), group_instance_id="i"), 9)
    if back is not None and back.member_id:
        talk.call(back.member_id, f"BACK of {group}")
        talk.ask(f"{group}: syncs", sync(5, group, back.generation_id, back.member_id, group_instance_id="i"), 5)
    _look(talk, "back", group)


def _replaced_one_by_one(talk: Talk, topic: Topic) -> None:
    """The classic member leaves once the consumer is there."""
    group = "converted-whole"
    old = _enter(talk, group, 3)
    joined: Any = talk.ask(f"{group}: a consumer", _modern(group, "z", 0), 1)
    talk.ask(f"{group}: the classic one leaves", _leave(group, old), 5)
    _look(talk, "the classic one left", group)
    talk.ask(f"{group}: the consumer has all", _modern(group, "z", joined.member_epoch, topic_partitions=[]), 1)
    _look(talk, "whole", group)
    talk.ask(f"{group}: the consumer leaves", _modern(group, "z", -1), 1)
    _look(talk, "empty", group)


def _refused(talk: Talk) -> None:
    for name, metadata in (
        ("unreadable: nothing", b""),
        ("unreadable: one byte", b"\x00"),
        ("unreadable: a version only", b"\x00\x01"),
        ("unreadable: a negative version", b"\xff\xff" + _subscription(1)[2:]),
        ("a later version", b"\x00\x09" + _subscription(3)[2:]),
        ("more behind", _subscription(3) + b"more"),
        ("user data", b"\x00\x00" + ConsumerProtocolSubscription(topics=["converted"], user_data=b"u").encode(0)),
        ("no topics", _subscription(3, topics=())),
        ("an unknown topic", _subscription(3, topics=("converted-none",))),
    ):
        group = f"converted-from-{name.replace(' ', '-').replace(':', '')}"
        first: Any = talk.quietly(_join(group, "", metadata), 9)
        first = talk.quietly(_join(group, first.member_id, metadata), 9)
        talk.call(first.member_id, f"CLASSIC of {group}")
        given = [(first.member_id, _assignment(0, 0, 1, 2, 3))]
        talk.quietly(sync(5, group, 1, first.member_id, assignments=given), 5)
        talk.ask(f"{group}: a consumer joins", _modern(group, "a", 0), 1)
        _look(talk, "after a consumer joined", group)
        into = "converted-into"
        if name == "unreadable: nothing":
            talk.quietly(_modern(into, "a", 0), 1)
        answer: Any = talk.ask(f"into consumers: {name}", join(3, into, protocols=(("range", metadata),)), 3)
        if answer is not None and answer.member_id:
            talk.call(answer.member_id, f"INTO with {name}")
