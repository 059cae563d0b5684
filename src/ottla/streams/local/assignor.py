"""Divides an application's tasks among its processes: what the leader of the group `application.id` runs.

Members say with their subscription which process they are, where they are asked, and whose states they have on disk;
the assignment says which tasks they run and keep copies of, and where all others are.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ottla.client.consumer.assignor.partition_assignor import (
    PartitionAssignor,
    RebalanceProtocol,
    Shares,
    TopicRacks,
)
from ottla.client.consumer.assignor.subscription import MemberAssignment, MemberSubscription
from ottla.client.record import TopicPartition
from ottla.streams.host.application import Application
from ottla.streams.host.task_share import Claim, Share, TaskId, shared, without_moving

_VERSION: Final = 1


@dataclass(frozen=True)
class MemberFacts:
    """The user data of a process in its subscription: its id, its address, and the tasks whose state it has."""

    process: str = ""
    endpoint: str = ""
    stored: tuple[str, ...] = ()
    wants_shutdown: bool = False

    def encoded(self) -> bytes:
        """The user data of the subscription."""
        return json.dumps([_VERSION, self.process, self.endpoint, self.stored, self.wants_shutdown]).encode()

    @classmethod
    def decoded(cls, data: bytes | None) -> "MemberFacts":
        """From user data.

        >>> MemberFacts.decoded(MemberFacts("p", "localhost:1", ("0_1",)).encoded()).stored
        ('0_1',)
        """
        if not data:
            return cls()
        _, process, endpoint, stored, wants_shutdown = json.loads(data)[:5]
        return cls(process, endpoint, tuple(stored), wants_shutdown)


@dataclass(frozen=True)
class TaskMap:
    """The user data of an assignment: by endpoint, the tasks that run there and those of which it has copies."""

    standby: tuple[TaskId, ...] = ()
    active_at: Mapping[str, tuple[TaskId, ...]] = field(default_factory=dict)
    standby_at: Mapping[str, tuple[TaskId, ...]] = field(default_factory=dict)
    is_shutdown: bool = False
    complaint: str = ""
    members: int = 0
    """How many processes there are; 0: the leader does not say."""
    may_pass: bool = False
    """Whether the complaint is that a topic is not known, as one that was made a moment ago may be."""

    def encoded(self) -> bytes:
        """The user data of the assignment."""
        shown: list[Any] = [_VERSION, _texts(self.standby)]
        shown += [{at: _texts(tasks) for at, tasks in one.items()} for one in (self.active_at, self.standby_at)]
        return json.dumps([*shown, self.is_shutdown, self.complaint, self.members, self.may_pass]).encode()

    @classmethod
    def decoded(cls, data: bytes | None) -> "TaskMap":
        """From user data."""
        if not data:
            return cls()
        _, standby, active_at, standby_at, is_shutdown, complaint, *more = json.loads(data)
        active, copies = ({at: _tasks(texts) for at, texts in one.items()} for one in (active_at, standby_at))
        members, may_pass, *_ = more or (0, False)
        return cls(_tasks(standby), active, copies, is_shutdown, complaint, members, may_pass)


class StreamsAssignor(PartitionAssignor):
    """The assignor of one process, which reports `facts`; `task_map` is the last one from the leader."""

    name = "ottla-streams"
    protocols = (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)

    def __init__(self, application: Application, standby_replicas: int) -> None:
        self._application: Final = application
        self._standby_replicas: Final = standby_replicas
        self.facts = MemberFacts()
        self.on_join: Callable[[], None] = _nothing
        """Is called before every join, to bring `facts` up to date."""
        self.task_map = TaskMap()

    @property
    def is_alone_in_shutdown(self) -> bool:
        """Whether all processes were told to end and this is the last one."""
        return self.task_map.is_shutdown and self.task_map.members == 1

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """The encoded facts of this process."""
        self.on_join()
        return self.facts.encoded()

    def on_assignment(self, assignment: MemberAssignment, generation_id: int) -> None:
        """Takes over the leader's task map; an order to end survives another rebalance that follows at once."""
        found = TaskMap.decoded(assignment.user_data)
        self.task_map = replace(found, is_shutdown=found.is_shutdown or self.task_map.is_shutdown)

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        """The partitions of each member."""
        return {member: list(found.partitions) for member, found in self.assign(topics, members).items()}

    def assign(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> dict[str, MemberAssignment]:
        """The partitions of each member, with the task map as user data."""
        complaint, may_pass = self._complaint(topics)
        facts = {member: MemberFacts.decoded(subscription.user_data) for member, subscription in members.items()}
        running = self._running(members)
        claims = {
            member: Claim(frozenset(running[member]), frozenset(_tasks(facts[member].stored))) for member in members
        }
        shares = shared(self._tasks(), claims, self._standby_replicas)
        given = without_moving(shares, running)
        active_at = {facts[member].endpoint: tuple(tasks) for member, tasks in given.items() if facts[member].endpoint}
        standby_at = {
            facts[member].endpoint: tuple(share.standby)
            for member, share in shares.items()
            if facts[member].endpoint and share.standby
        }
        is_shutdown = any(one.wants_shutdown for one in facts.values())

        def told(share: Share) -> bytes:
            copies = tuple(share.standby)
            return TaskMap(copies, active_at, standby_at, is_shutdown, complaint, len(members), may_pass).encoded()

        return {
            member: MemberAssignment(tuple(self._places(given[member])), told(share))
            for member, share in shares.items()
        }

    def _tasks(self) -> dict[TaskId, bool]:
        application = self._application
        return {
            TaskId(stage.number, partition): any(name in application.changelogs for name in stage.stores)
            for stage in application.stages
            for partition in range(stage.partitions)
        }

    def _running(self, members: Mapping[str, MemberSubscription]) -> dict[str, list[TaskId]]:
        """The tasks of each member; of two that claim one, the member of the later generation has it."""
        stage_of = {topic: stage.number for stage in self._application.stages for topic in stage.topics}
        owners: dict[TaskId, str] = {}
        for member in sorted(members, key=lambda name: members[name].generation_id or -1):
            for topic, partition in members[member].owned_partitions:
                if topic in stage_of:
                    owners[TaskId(stage_of[topic], partition)] = member
        found: dict[str, list[TaskId]] = {member: [] for member in members}
        for task, member in owners.items():
            found[member].append(task)
        return found

    def _places(self, tasks: Iterable[TaskId]) -> list[TopicPartition]:
        return [place for task in tasks for place in self._application.places_of(task)]

    def _complaint(self, topics: TopicRacks) -> tuple[str, bool]:
        """The first topic that differs from the plan of the tasks, and whether it may only be unknown yet."""
        application = self._application
        for topic in application.inputs:
            planned = application.counts[application.short_name(topic)]
            found = len(topics.get(topic, ()))
            if found != planned:
                what = f"has {found} partitions" if found else "is not there"
                return f"the topic {topic} {what}, and the application was planned for {planned}", not found
        return "", False


def _nothing() -> None:
    """The default of `on_join`."""


def _texts(tasks: Iterable[TaskId]) -> list[str]:
    return [str(task) for task in tasks]


def _tasks(texts: Iterable[str]) -> tuple[TaskId, ...]:
    return tuple(TaskId.parse(text) for text in texts)
