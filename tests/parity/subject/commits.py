"""Offsets of groups: OffsetCommit, OffsetFetch, OffsetDelete."""

from typing import Any

from ottla.base.ids import Uuid
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups import DescribeGroupsRequest
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.parity.subject.classic_groups import await_coordinators, enter, join, sync
from tests.parity.subject.consumer_groups import beat
from tests.parity.talk import Talk, Topic

_UNKNOWN = Topic("commits-none", Uuid(b"\x09" * 16))


def run(talk: Talk) -> None:
    """All about offsets."""
    await_coordinators(talk)
    topic = talk.topic("commits", 3)
    talk.topic("commits-other")
    _commit(talk, topic)
    _commit_as_a_member(talk, topic)
    _commit_in_the_consumer_protocol(talk, topic)
    _fetch(talk, topic)
    _delete(talk, topic)


def commit(version: int, group: str, topic: Topic, *offsets: tuple[int, int], **others: Any) -> OffsetCommitRequest:
    """Offsets of partitions; `metadata` goes with each."""
    metadata = others.pop("metadata", "")
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata=metadata)
        for index, offset in offsets
    ]
    topics = [OffsetCommitRequestTopic(name=topic.name, topic_id=topic.id, partitions=partitions)]
    if version < 7:
        others.pop("group_instance_id", None)
    return OffsetCommitRequest(group_id=group, topics=topics, **others)


def fetch(version: int, group: str, topic: Topic | None, *partitions: int, **others: Any) -> OffsetFetchRequest:
    """Asks for some partitions of a topic, or for everything."""
    stable = {"require_stable": others.pop("require_stable", False)} if version >= 7 else {}
    if version < 8:
        names = (
            None if topic is None else [OffsetFetchRequestTopic(name=topic.name, partition_indexes=list(partitions))]
        )
        return OffsetFetchRequest(group_id=group, topics=names, **stable)
    if topic is None:
        topics = None
    else:
        topics = [OffsetFetchRequestTopics(name=topic.name, topic_id=topic.id, partition_indexes=list(partitions))]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics, **others)], **stable)


def _commit(talk: Talk, topic: Topic) -> None:
    for name, group, where, fields in (
        ("alone", "loner", topic, {}),
        ("no group", "", topic, {}),
        ("an unknown topic", "loner", _UNKNOWN, {}),
        ("a generation of no group", "commits-nowhere", topic, {"generation_id_or_member_epoch": 5, "member_id": "m"}),
        ("a member of no group", "commits-nowhere", topic, {"member_id": "m"}),
        ("a negative generation of no group", "commits-nowhere", topic, {"generation_id_or_member_epoch": -5}),
        ("metadata of 4,096", "loner", topic, {"metadata": "x" * 4_096}),
        ("metadata of 4,097", "loner", topic, {"metadata": "x" * 4_097}),
        ("no metadata", "loner", topic, {"metadata": None}),
    ):
        talk.ask_all_versions(
            name,
            lambda version, call=(group, where, fields): commit(version, call[0], call[1], (0, 5), **call[2]),
        )
    talk.ask_all_versions("an unknown partition", lambda version: commit(version, "loner", topic, (0, 6), (9, 6)))
    talk.ask_all_versions("a negative offset", lambda version: commit(version, "loner", topic, (1, -5)))
    talk.ask_all_versions("a negative partition", lambda version: commit(version, "loner", topic, (-1, 5)))
    talk.ask_all_versions("a partition twice", lambda version: commit(version, "loner", topic, (2, 5), (2, 6)))
    talk.ask_all_versions("no partitions", lambda version: commit(version, "loner", topic))
    talk.ask_all_versions("no topics", OffsetCommitRequest(group_id="loner"))
    talk.ask("a bad topic name", commit(9, "loner", Topic("a/b", topic.id), (0, 1)), 9)
    talk.ask("no topic id", commit(10, "loner", Topic("", Uuid(bytes(16))), (0, 1)), 10)
    talk.ask("a retention time", commit(2, "retained", topic, (0, 5), retention_time_ms=1_000_000), 2)
    for version in (7, 8, 9):
        talk.ask("an instance of no group", commit(version, "loner", topic, (0, 5), group_instance_id="i"), version)


def _commit_as_a_member(talk: Talk, topic: Topic) -> None:
    member = enter(talk, "committers")
    for name, generation, who in (
        ("a member", 1, member),
        ("an unknown member", 1, "nobody"),
        ("an old generation", 0, member),
        ("a later generation", 2, member),
        ("no generation", -1, member),
        ("nobody in a group with members", -1, ""),
        ("no member", 1, ""),
    ):
        fields = {"generation_id_or_member_epoch": generation, "member_id": who}
        talk.ask_all_versions(
            name, lambda version, fields=fields: commit(version, "committers", topic, (0, 7), **fields)
        )
    wrong = commit(
        9, "committers", topic, (0, 8), generation_id_or_member_epoch=1, member_id=member, group_instance_id="i"
    )
    talk.ask("an instance that it is not", wrong, 9)
    static: Any = talk.quietly(join(7, "static-committers", group_instance_id="i"), 7)
    fenced = talk.call(static.member_id, "FENCED")
    talk.quietly(sync(5, "static-committers", 1, fenced, group_instance_id="i", assignments=[(fenced, b"x")]), 5)
    talk.quietly(join(7, "static-committers", group_instance_id="i"), 7)
    for version in (7, 9):
        old = {"generation_id_or_member_epoch": 1, "member_id": fenced, "group_instance_id": "i"}
        talk.ask("a fenced one", commit(version, "static-committers", topic, (0, 8), **old), version)
    pending: Any = talk.quietly(join(7, "joining-committers"), 7)
    joined = talk.quietly(join(7, "joining-committers", pending.member_id), 7)
    while_joining = {"generation_id_or_member_epoch": joined.generation_id, "member_id": joined.member_id}
    talk.ask("before the sync", commit(9, "joining-committers", topic, (0, 8), **while_joining), 9)


def _commit_in_the_consumer_protocol(talk: Talk, topic: Topic) -> None:
    group = "modern-committers"
    joined: Any = talk.quietly(beat(group, "m", 0, subscribed_topic_names=["commits"]), 1)
    epoch = joined.member_epoch
    for name, when, who in (
        ("a consumer", epoch, "m"),
        ("an unknown consumer", epoch, "nobody"),
        ("a consumer of an old epoch", epoch - 1, "m"),
        ("a consumer of a later epoch", epoch + 1, "m"),
        ("nobody among consumers", -1, ""),
        ("a consumer without an epoch", -1, "m"),
    ):
        fields = {"generation_id_or_member_epoch": when, "member_id": who}
        talk.ask_all_versions(name, lambda version, fields=fields: commit(version, group, topic, (1, 7), **fields))
        for version in (9, 10):
            talk.ask(name, fetch(version, group, topic, 0, 1, member_id=who or None, member_epoch=when), version)


def _fetch(talk: Talk, topic: Topic) -> None:
    talk.ask_all_versions("some", lambda version: fetch(version, "loner", topic, 0, 1, 2, 9))
    talk.ask_all_versions("everything", lambda version: fetch(version, "loner", None), "2-10")
    talk.ask_all_versions("of nobody", lambda version: fetch(version, "commits-nowhere", topic, 0))
    talk.ask_all_versions("everything of nobody", lambda version: fetch(version, "commits-nowhere", None), "2-10")
    talk.ask_all_versions("of no group", lambda version: fetch(version, "", topic, 0))
    talk.ask_all_versions("of an unknown topic", lambda version: fetch(version, "loner", _UNKNOWN, 0))
    talk.ask_all_versions("a partition twice", lambda version: fetch(version, "loner", topic, 0, 0))
    talk.ask_all_versions("a negative partition", lambda version: fetch(version, "loner", topic, -1))
    talk.ask_all_versions("no partitions", lambda version: fetch(version, "loner", topic))
    talk.ask_all_versions(
        "what is stable", lambda version: fetch(version, "loner", topic, 0, require_stable=True), "7-10"
    )
    talk.ask("no topics", OffsetFetchRequest(group_id="loner", topics=[]), 7)
    for version in (8, 9, 10):
        known = OffsetFetchRequestTopics(name=topic.name, topic_id=topic.id, partition_indexes=[0])
        groups = [
            OffsetFetchRequestGroup(group_id="loner", topics=[known]),
            OffsetFetchRequestGroup(group_id="commits-nowhere", topics=[known]),
            OffsetFetchRequestGroup(group_id="committers", topics=None),
            OffsetFetchRequestGroup(group_id="loner", topics=None),
        ]
        talk.ask("many groups", OffsetFetchRequest(groups=groups), version)
        talk.ask("no groups", OffsetFetchRequest(groups=[]), version)
        talk.ask(
            "no topics of a group", OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="loner")]), version
        )
    for version in (9, 10):
        strange = fetch(version, "loner", topic, 0, member_id="m", member_epoch=3)
        talk.ask("by a member of a group without members", strange, version)
        for group in ("loner", "committers", "modern-committers", "commits-nowhere", ""):
            for member in (None, "", "m"):
                for epoch in (-2, -1, 0, 1):
                    asked = fetch(version, group, topic, 0, member_id=member, member_epoch=epoch)
                    talk.ask(f"of {group!r} by {member!r} at {epoch}", asked, version)
        classic = fetch(version, "committers", topic, 0, member_id="m", member_epoch=1)
        talk.ask("by an unknown member of a classic group", classic, version)


def _delete(talk: Talk, topic: Topic) -> None:
    def delete(group: str, name: str, *partitions: int) -> OffsetDeleteRequest:
        wanted = [OffsetDeleteRequestPartition(partition_index=index) for index in partitions]
        return OffsetDeleteRequest(group_id=group, topics=[OffsetDeleteRequestTopic(name=name, partitions=wanted)])

    for name, request in (
        ("of an unknown group", delete("commits-nowhere", topic.name, 0)),
        ("of no group", delete("", topic.name, 0)),
        ("some", delete("loner", topic.name, 0, 9)),
        ("the same again", delete("loner", topic.name, 0)),
        ("of an unknown topic", delete("loner", "commits-none", 0)),
        ("no partitions", delete("loner", topic.name)),
        ("no topics", OffsetDeleteRequest(group_id="loner")),
        ("of members with an unreadable subscription", delete("committers", topic.name, 0)),
        ("of consumers that read the topic", delete("modern-committers", topic.name, 0, 1)),
        ("of consumers that do not", delete("modern-committers", "commits-other", 0)),
    ):
        talk.ask(name, request, 0)
    talk.ask("what is left", fetch(7, "loner", None), 7)
    talk.ask("of them all", delete("loner", topic.name, 0, 1, 2), 0)
    talk.ask("one that has no offsets any more", DescribeGroupsRequest(groups=["loner"]), 5)
    talk.ask("one that only had offsets", DeleteGroupsRequest(groups_names=["loner", "retained"]), 2)
    talk.ask("one that was deleted", fetch(9, "loner", None), 9)
