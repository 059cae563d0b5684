"""A classic member under test: its machine, a clock that stands still, and a coordinator that says what it is told."""

from typing import TypeVar

from ottla.client.consumer.assignor.assignor_table import built_in
from ottla.client.consumer.assignor.subscription import (
    MemberAssignment,
    MemberSubscription,
    encode_assignment,
    encode_subscription,
)
from ottla.client.consumer.group.classic import effect as effects
from ottla.client.consumer.group.classic import event as events
from ottla.client.consumer.group.classic.machine import ClassicMachine
from ottla.client.consumer.group.effect import AdoptAssignment
from ottla.client.consumer.group.event import AssignmentAdopted, Started, Subscribed, TimePassed
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ottla.protocol.messages.sync_group import SyncGroupResponse

E = TypeVar("E")
GROUP = "g"


def partitions(*numbers: int, topic: str = "t") -> frozenset[TopicPartition]:
    """Some partitions of one topic."""
    return frozenset(TopicPartition(topic, number) for number in numbers)


class Member:
    """A member; `asked` has what its last event made it ask for."""

    def __init__(self, *, assignor: str = "range", instance_id: str | None = None, rack: str | None = "r") -> None:
        config = MemberConfig(GROUP, group_instance_id=instance_id, rack_id=rack)
        self.assignor = assignor
        self.machine = ClassicMachine(config, [built_in(assignor)])
        self.now_ms = 0
        self.asked: list[effects.ClassicEffect] = []
        self.feed(TimePassed(0))
        self.feed(Subscribed(GroupSubscription(frozenset({"t"}))))

    def feed(self, event: events.ClassicEvent) -> list[effects.ClassicEffect]:
        """Lets something happen."""
        self.asked = self.machine.handle(event, self.now_ms)
        return self.asked

    def one(self, kind: type[E]) -> E:
        """The one thing of this kind that was asked for."""
        found = [effect for effect in self.asked if isinstance(effect, kind)]
        assert len(found) == 1, f"{kind.__name__} in {self.asked}"
        return found[0]

    def asks_for(self, kind: type[E]) -> bool:
        """Whether anything of this kind was asked for."""
        return any(isinstance(effect, kind) for effect in self.asked)

    def refuse_join(self, code: ErrorCode) -> None:
        """JoinGroup is refused."""
        self.feed(events.JoinAnswered(JoinGroupResponse(error_code=code, leader="", member_id="m-1", protocol_name="")))

    def answer_join(self, generation: int = 1, *, leader: str = "other", keeps_assignment: bool = False) -> None:
        """All have joined."""
        response = JoinGroupResponse(
            generation_id=generation,
            protocol_type="consumer",
            protocol_name=self.assignor,
            leader=leader,
            member_id="m-1",
            skip_assignment=keeps_assignment,
        )
        if leader == "m-1":
            subscription = encode_subscription(MemberSubscription(("t",)))
            response.members = [
                JoinGroupResponseMember(member_id=member, metadata=subscription) for member in ("m-1", "m-2")
            ]
        self.feed(events.JoinAnswered(response))

    def answer_sync(self, assigned: frozenset[TopicPartition], code: ErrorCode = ErrorCode.NONE) -> None:
        """The leader has assigned."""
        data = encode_assignment(MemberAssignment(tuple(sorted(assigned))))
        self.feed(events.SyncAnswered(SyncGroupResponse(error_code=code, assignment=data)))

    def become_stable(self, assigned: frozenset[TopicPartition], generation: int = 1) -> None:
        """Joins from the beginning, as a follower."""
        self.feed(Started())
        self.refuse_join(ErrorCode.MEMBER_ID_REQUIRED)
        self.answer_join(generation)
        self.answer_sync(assigned)
        self.one(AdoptAssignment)
        self.feed(AssignmentAdopted())

    def beat(self, code: ErrorCode = ErrorCode.NONE) -> None:
        """A heartbeat is due, and answered."""
        self.wait(3_000)
        generation = self.one(effects.SendHeartbeat).generation
        self.feed(events.HeartbeatAnswered(generation, code))

    def wait(self, span_ms: int, *, polls: bool = True) -> None:
        """Time passes."""
        self.now_ms += span_ms
        self.feed(TimePassed(self.now_ms if polls else 0))
