import random
from typing import TypeVar

import pytest

from ottla.base.ids import Uuid
from ottla.client.consumer.group import event as common
from ottla.client.consumer.group.consumer import effect as effects
from ottla.client.consumer.group.consumer import event as events
from ottla.client.consumer.group.consumer.machine import ConsumerMachine
from ottla.client.consumer.group.consumer.state import NEXT, ConsumerState
from ottla.client.consumer.group.effect import (
    AbandonStep,
    AdoptAssignment,
    ForgetCoordinator,
    LogRebalance,
    ReleasePartitions,
    Report,
)
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.client.consumer.group.member_config import MemberConfig
from ottla.client.consumer.membership import LeaveOperation
from ottla.client.record import TopicPartition
from ottla.protocol.errors import (
    ErrorCode,
    NetworkError,
    UnreleasedInstanceIdError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

E = TypeVar("E")
T, NEW_T, U = (Uuid(bytes([number]) * 16) for number in (1, 2, 3))
NAMES = {T: "t", U: "u"}
INTERVAL_MS = 5_000


def partitions(*numbers: int, topic: str = "t") -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(topic, number) for number in numbers)


class Member:
    """A member with a coordinator that says what it is told; `asked` is what the last event made it ask for."""

    def __init__(self, *, instance_id: str | None = None, server_assignor: str | None = None) -> None:
        config = MemberConfig("g", group_instance_id=instance_id, rack_id="r", server_assignor=server_assignor)
        self.machine = ConsumerMachine(config, "m")
        self.now_ms = 0
        self.serial = 0
        self.asked: list[effects.ConsumerEffect] = []
        self.subscribe("t")

    def subscribe(self, *topics: str) -> None:
        self.feed(common.Subscribed(GroupSubscription(frozenset(topics))))

    def feed(self, event: events.ConsumerEvent) -> list[effects.ConsumerEffect]:
        self.asked = self.machine.handle(event, self.now_ms)
        for effect in self.asked:
            if isinstance(effect, effects.SendHeartbeat):
                self.serial = effect.serial
        return self.asked

    def one(self, kind: type[E]) -> E:
        found = [effect for effect in self.asked if isinstance(effect, kind)]
        assert len(found) == 1, f"{kind.__name__} in {self.asked}"
        return found[0]

    def asks_for(self, kind: type[E]) -> bool:
        return any(isinstance(effect, kind) for effect in self.asked)

    @property
    def heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        return self.one(effects.SendHeartbeat).request

    def answer(self, epoch: int, assigned: dict[Uuid, list[int]] | None = None) -> None:
        response = ConsumerGroupHeartbeatResponse(member_epoch=epoch, heartbeat_interval_ms=INTERVAL_MS)
        if assigned is not None:
            topics = [TopicPartitions(topic_id=topic, partitions=numbers) for topic, numbers in assigned.items()]
            response.assignment = Assignment(topic_partitions=topics)
        self.feed(events.HeartbeatAnswered(self.serial, response, NAMES))

    def refuse(self, code: ErrorCode) -> None:
        response = ConsumerGroupHeartbeatResponse(error_code=code)
        self.feed(events.HeartbeatAnswered(self.serial, response, NAMES))

    def become_stable(self, *numbers: int, epoch: int = 2) -> None:
        self.feed(common.Started())
        self.answer(epoch, {T: list(numbers)})
        self.feed(common.AssignmentAdopted())
        self.answer(epoch)
        assert self.machine.state is ConsumerState.STABLE

    def wait(self, span_ms: int, *, polls: bool = True) -> None:
        self.now_ms += span_ms
        self.feed(common.TimePassed(self.now_ms if polls else 0))


def owned_in(request: ConsumerGroupHeartbeatRequest) -> dict[Uuid, list[int]] | None:
    if request.topic_partitions is None:
        return None
    return {each.topic_id: each.partitions for each in request.topic_partitions}


def test_joining_says_everything() -> None:
    member = Member(instance_id="i", server_assignor="range")
    member.feed(common.Started())
    request = member.heartbeat
    assert (request.member_epoch, request.member_id, request.instance_id, request.rack_id) == (0, "m", "i", "r")
    assert (request.subscribed_topic_names, request.server_assignor) == (["t"], "range")
    assert (request.rebalance_timeout_ms, owned_in(request), request.subscribed_topic_regex) == (300_000, {}, None)


def test_an_assignment_is_adopted_and_then_acknowledged_at_once() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer(2, {T: [0, 1]})
    assert member.one(AdoptAssignment) == AdoptAssignment(frozenset(), partitions(0, 1), partitions(0, 1))
    assert not member.asks_for(effects.SendHeartbeat)
    member.feed(common.AssignmentAdopted())
    assert owned_in(member.heartbeat) == {T: [0, 1]}
    assert (member.heartbeat.member_epoch, member.heartbeat.subscribed_topic_names) == (2, None)
    assert member.machine.state is ConsumerState.STABLE
    assert member.one(LogRebalance).change.added == partitions(0, 1)


def test_a_quiet_heartbeat_says_nothing_but_that_we_live() -> None:
    member = Member()
    member.become_stable(0)
    member.wait(INTERVAL_MS)
    request = member.heartbeat
    assert (owned_in(request), request.subscribed_topic_names, request.rebalance_timeout_ms) == (None, None, -1)


def test_what_is_taken_away_is_given_up_before_that_is_confirmed() -> None:
    member = Member()
    member.become_stable(0, 1)
    member.wait(INTERVAL_MS)
    member.answer(2, {T: [0]})
    assert member.one(AdoptAssignment) == AdoptAssignment(partitions(1), partitions(0), frozenset())
    member.wait(INTERVAL_MS)
    assert owned_in(member.heartbeat) is None, "the user still has it"
    member.answer(2)
    member.feed(common.AssignmentAdopted())
    assert owned_in(member.heartbeat) == {T: [0]}


def test_a_newer_target_waits_until_the_user_is_done_with_the_older() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer(2, {T: [0]})
    member.wait(INTERVAL_MS)
    member.answer(3, {T: [0, 1]})
    assert not member.asks_for(AdoptAssignment)
    member.feed(common.AssignmentAdopted())
    assert owned_in(member.heartbeat) == {T: [0]}
    assert member.one(AdoptAssignment).added == partitions(1)


def test_a_topic_without_a_name_is_asked_for_and_taken_later() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer(2, {T: [0], NEW_T: [0]})
    assert member.one(effects.NameTopics).ids == {NEW_T}
    assert member.one(AdoptAssignment).assigned == partitions(0)
    member.feed(common.AssignmentAdopted())
    member.answer(2)
    member.feed(events.TopicsNamed({NEW_T: "n"}))
    assert member.one(AdoptAssignment).added == partitions(0, topic="n")


def test_a_topic_created_anew_under_its_name_is_given_up_and_taken() -> None:
    member = Member()
    member.become_stable(0)
    member.feed(events.TopicsNamed({NEW_T: "t"}))
    member.wait(INTERVAL_MS)
    member.answer(3, {NEW_T: [0]})
    assert member.one(AdoptAssignment) == AdoptAssignment(partitions(0), partitions(0), partitions(0))


def test_a_new_subscription_is_told_at_once() -> None:
    member = Member()
    member.become_stable(0)
    member.subscribe("t", "u")
    assert member.heartbeat.subscribed_topic_names == ["t", "u"]


def test_a_pattern_for_the_broker_is_sent_once_and_taken_back() -> None:
    member = Member()
    member.feed(common.Subscribed(GroupSubscription(server_regex="t.*")))
    member.feed(common.Started())
    assert (member.heartbeat.subscribed_topic_regex, member.heartbeat.subscribed_topic_names) == ("t.*", [])
    member.answer(1, {})
    member.feed(common.AssignmentAdopted())
    assert member.heartbeat.subscribed_topic_regex is None
    member.answer(1)
    member.subscribe("t")
    assert (member.heartbeat.subscribed_topic_regex, member.heartbeat.subscribed_topic_names) == ("", ["t"])


@pytest.mark.parametrize("code", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_a_fenced_member_loses_everything_and_joins_with_its_id(code: ErrorCode) -> None:
    member = Member()
    member.become_stable(0, 1)
    member.wait(INTERVAL_MS)
    member.refuse(code)
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0, 1), are_lost=True)
    assert not member.asks_for(effects.SendHeartbeat)
    member.feed(common.PartitionsReleased())
    assert (member.heartbeat.member_epoch, member.heartbeat.member_id, owned_in(member.heartbeat)) == (0, "m", {})


def test_a_refused_commit_is_looked_into_by_a_heartbeat() -> None:
    member = Member()
    member.become_stable(0)
    member.feed(common.IdentityDoubted())
    assert member.heartbeat.member_epoch == 2
    member.refuse(ErrorCode.FENCED_MEMBER_EPOCH)
    assert member.one(ReleasePartitions).are_lost


def test_a_late_answer_is_not_taken_for_that_of_a_later_join() -> None:
    member = Member()
    member.become_stable(0)
    member.wait(INTERVAL_MS)
    late = member.serial
    member.feed(common.LeaveRequested(LeaveOperation.DEFAULT, "unsubscribed"))
    member.feed(common.Started())
    assert member.heartbeat.member_epoch == 0
    response = ConsumerGroupHeartbeatResponse(member_epoch=2, heartbeat_interval_ms=INTERVAL_MS)
    assert member.feed(events.HeartbeatAnswered(late, response, NAMES)) == []
    assert member.machine.state is ConsumerState.JOINING


def test_a_heartbeat_that_failed_is_repeated_with_everything() -> None:
    member = Member()
    member.become_stable(0)
    member.wait(INTERVAL_MS)
    member.feed(events.HeartbeatFailed(member.serial, NetworkError()))
    assert member.asks_for(ForgetCoordinator)
    assert member.one(effects.SendHeartbeat).failures == 1
    assert (owned_in(member.heartbeat), member.heartbeat.subscribed_topic_names) == ({T: [0]}, ["t"])


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS])
def test_a_coordinator_that_moved_or_loads_is_asked_again(code: ErrorCode) -> None:
    member = Member()
    member.feed(common.Started())
    member.refuse(code)
    assert member.asks_for(ForgetCoordinator) == (code == ErrorCode.NOT_COORDINATOR)
    assert member.heartbeat.member_epoch == 0


def test_an_instance_id_that_is_still_taken_is_reported_and_may_be_tried_again() -> None:
    member = Member(instance_id="i")
    member.feed(common.Started())
    member.refuse(ErrorCode.UNRELEASED_INSTANCE_ID)
    assert isinstance(member.one(Report).error, UnreleasedInstanceIdError)
    member.feed(common.Started())
    assert member.heartbeat.member_epoch == 0


def test_a_broker_without_the_protocol_is_explained() -> None:
    member = Member()
    member.feed(common.Started())
    member.feed(events.HeartbeatFailed(member.serial, UnsupportedVersionError()))
    assert "group.protocol=classic" in str(member.one(Report).error)


@pytest.mark.parametrize(
    ("instance_id", "operation", "epoch"),
    [
        (None, LeaveOperation.DEFAULT, -1),
        (None, LeaveOperation.REMAIN_IN_GROUP, None),
        ("i", LeaveOperation.DEFAULT, -2),
        ("i", LeaveOperation.REMAIN_IN_GROUP, -2),
        ("i", LeaveOperation.LEAVE_GROUP, -1),
    ],
)
def test_how_members_leave(instance_id: str | None, operation: LeaveOperation, epoch: int | None) -> None:
    member = Member(instance_id=instance_id)
    member.become_stable(0)
    member.feed(common.LeaveRequested(operation, "closed"))
    leaving = [effect.request.member_epoch for effect in member.asked if isinstance(effect, effects.SendLeave)]
    assert leaving == ([] if epoch is None else [epoch])


def test_a_user_who_does_not_poll_is_out_until_they_do() -> None:
    member = Member()
    member.become_stable(0)
    member.wait(300_001, polls=False)
    assert member.one(effects.SendLeave).request.member_epoch == -1
    assert member.machine.epoch == -1
    member.wait(INTERVAL_MS)
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0), are_lost=True)
    member.feed(common.PartitionsReleased())
    assert member.heartbeat.member_epoch == 0


@pytest.mark.parametrize("seed", range(300))
def test_whatever_happens_only_known_ways_are_taken(seed: int) -> None:
    """Anything may happen at any time; when all is well again, so is the member, and the coordinator knows it."""
    walk = Walk(random.Random(seed))
    for _ in range(120):
        walk.go()
    walk.calm_down()
    assert walk.member.machine.state is ConsumerState.STABLE
    assert walk.member.machine.owned == partitions(0, 1)
    assert walk.reported == {T: [0, 1]}


class Walk:
    """Random but possible events; `reported` is what the coordinator has heard that the member owns."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.member = Member(instance_id=rng.choice([None, "i"]))
        self.is_busy = False
        self.releases = False
        self.is_waiting = False
        self.epoch = 1
        self.reported: dict[Uuid, list[int]] | None = None

    def feed(self, event: events.ConsumerEvent) -> None:
        self.member.feed(event)
        self.note()

    def go(self) -> None:
        rng, member = self.rng, self.member
        choice = rng.random()
        if choice < 0.4 and self.is_waiting:
            self.is_waiting = False
            self._answer(rng.choices([0, 110, 25, 16, 14, 111, None], [12, 1, 1, 1, 1, 1, 1])[0])
        elif choice < 0.7 and self.is_busy:
            self._finish_step()
        elif choice < 0.8:
            member.wait(rng.choice([100, INTERVAL_MS, 400_000]), polls=rng.random() < 0.8)
            self.note()
        else:
            self.feed(
                rng.choice(
                    [
                        common.Started(),
                        common.Subscribed(GroupSubscription(frozenset({rng.choice("tu")}))),
                        common.IdentityDoubted(),
                        events.HeartbeatWanted(),
                        events.TopicsNamed({NEW_T: "n"}),
                        common.LeaveRequested(LeaveOperation.DEFAULT, "closed"),
                    ]
                )
            )

    def _answer(self, code: int | None) -> None:
        member = self.member
        if code is None:
            self.feed(events.HeartbeatFailed(member.serial, NetworkError()))
        elif code:
            member.refuse(ErrorCode(code))
            self.note()
        else:
            self.epoch += 1
            chosen = self.rng.choice([None, {T: [0]}, {T: [1], U: [0]}, {NEW_T: [0]}, {}])
            member.answer(self.epoch, chosen)
            self.note()

    def _finish_step(self) -> None:
        self.is_busy = False
        self.feed(common.PartitionsReleased() if self.releases else common.AssignmentAdopted())

    def calm_down(self) -> None:
        self.member.wait(100)
        self.note()
        self.feed(common.Started())
        for _ in range(20):
            if self.is_busy:
                self._finish_step()
            elif self.is_waiting:
                self.is_waiting = False
                self.epoch += 1
                self.member.answer(self.epoch, {T: [0, 1]})
                self.note()
            else:
                self.member.wait(INTERVAL_MS)
                self.note()

    def note(self) -> None:
        for asked in self.member.asked:
            if isinstance(asked, effects.SendHeartbeat):
                assert not self.is_waiting or asked.request.member_epoch == 0, "one heartbeat at a time"
                self.is_waiting = True
                owned = owned_in(asked.request)
                self.reported = self.reported if owned is None else owned
            elif isinstance(asked, AbandonStep):
                self.is_busy = False
            elif isinstance(asked, ReleasePartitions | AdoptAssignment):
                assert not self.is_busy
                self.is_busy, self.releases = True, isinstance(asked, ReleasePartitions)


def test_every_state_can_be_reached_and_left() -> None:
    reached = {ConsumerState.UNJOINED}
    while new := {after for state in reached for after in NEXT[state]} - reached:
        reached |= new
    assert reached == set(ConsumerState) == set(NEXT)
    assert all(ConsumerState.UNJOINED in after and ConsumerState.FAILED in after for after in NEXT.values())
