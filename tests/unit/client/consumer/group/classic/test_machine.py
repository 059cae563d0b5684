import random
import re

import pytest

from ottla.client.consumer.assignor.subscription import decode_subscription
from ottla.client.consumer.group import event as common
from ottla.client.consumer.group.classic import effect as effects
from ottla.client.consumer.group.classic import event as events
from ottla.client.consumer.group.classic.state import NEXT, ClassicState
from ottla.client.consumer.group.effect import (
    AbandonStep,
    AdoptAssignment,
    ForgetCoordinator,
    LogRebalance,
    ReleasePartitions,
    Report,
)
from ottla.client.consumer.group.group_subscription import GroupSubscription
from ottla.client.consumer.membership import LeaveOperation
from ottla.client.record import TopicPartition
from ottla.protocol.errors import (
    CoordinatorNotAvailableError,
    ErrorCode,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
)
from tests.unit.client.consumer.group.classic.member import Member, partitions


def test_a_new_member_joins_with_the_id_that_it_is_given() -> None:
    member = Member()
    member.feed(common.Started())
    assert member.one(effects.SendJoin).request.member_id == ""
    member.refuse_join(ErrorCode.MEMBER_ID_REQUIRED)
    request = member.one(effects.SendJoin).request
    assert request.member_id == "m-1"
    assert [protocol.name for protocol in request.protocols] == ["range"]
    subscription = decode_subscription(request.protocols[0].metadata)
    assert (subscription.topics, subscription.rack_id, subscription.generation_id) == (("t",), "r", None)


def test_a_follower_gets_its_assignment_by_an_empty_sync() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer_join(5)
    sync = member.one(effects.SendSync).request
    assert (sync.generation_id, sync.member_id, sync.protocol_name, sync.assignments) == (5, "m-1", "range", [])
    member.answer_sync(partitions(0, 1))
    assert member.one(effects.TellAssignor).generation_id == 5
    assert member.one(AdoptAssignment) == AdoptAssignment(frozenset(), partitions(0, 1), partitions(0, 1))
    member.feed(common.AssignmentAdopted())
    assert member.machine.state is ClassicState.STABLE
    assert member.one(LogRebalance).reason == "the consumer subscribed"


def test_a_leader_assigns_for_all() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer_join(leader="m-1")
    compute = member.one(effects.ComputeAssignment)
    assert (compute.protocol, set(compute.members), compute.keeps_assignment) == ("range", {"m-1", "m-2"}, False)
    member.feed(events.AssignmentComputed({"m-1": b"a", "m-2": b"b"}, {"t": ()}))
    sent = {each.member_id: each.assignment for each in member.one(effects.SendSync).request.assignments}
    assert sent == {"m-1": b"a", "m-2": b"b"}


def test_a_returning_static_leader_leaves_the_assignment_alone() -> None:
    member = Member(instance_id="i")
    member.feed(common.Started())
    assert member.one(effects.SendJoin).request.group_instance_id == "i"
    member.answer_join(leader="m-1", keeps_assignment=True)
    assert member.one(effects.ComputeAssignment).keeps_assignment


def test_an_eager_member_gives_everything_up_before_it_joins_again() -> None:
    member = Member()
    member.become_stable(partitions(0, 1))
    member.beat(ErrorCode.REBALANCE_IN_PROGRESS)
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0, 1), are_lost=False)
    member.feed(common.PartitionsReleased())
    request = member.one(effects.SendJoin).request
    assert request.member_id == "m-1"
    assert decode_subscription(request.protocols[0].metadata).owned_partitions == ()


def test_a_cooperative_member_keeps_what_it_has_and_joins_twice_if_it_must_give_up() -> None:
    member = Member(assignor="cooperative-sticky")
    member.become_stable(partitions(0, 1), generation=4)
    member.beat(ErrorCode.REBALANCE_IN_PROGRESS)
    subscription = decode_subscription(member.one(effects.SendJoin).request.protocols[0].metadata)
    assert (frozenset(subscription.owned_partitions), subscription.generation_id) == (partitions(0, 1), 4)
    member.answer_join(5)
    member.answer_sync(partitions(0))
    assert member.one(AdoptAssignment) == AdoptAssignment(partitions(1), partitions(0), frozenset())
    member.feed(common.AssignmentAdopted())
    second = member.one(effects.SendJoin).request
    assert decode_subscription(second.protocols[0].metadata).owned_partitions == tuple(partitions(0))
    assert second.reason == "it gave up 1 partitions that go to other members"


def test_a_cooperative_member_gives_up_unsubscribed_topics_before_it_joins() -> None:
    member = Member(assignor="cooperative-sticky")
    member.become_stable(partitions(0))
    member.feed(common.Subscribed(GroupSubscription(frozenset({"u"}))))
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0), are_lost=False)


@pytest.mark.parametrize(
    ("code", "member_id"), [(ErrorCode.UNKNOWN_MEMBER_ID, ""), (ErrorCode.ILLEGAL_GENERATION, "m-1")]
)
@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_a_member_that_was_thrown_out_has_lost_everything(code: ErrorCode, member_id: str, assignor: str) -> None:
    member = Member(assignor=assignor)
    member.become_stable(partitions(0, 1))
    member.beat(code)
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0, 1), are_lost=True)
    assert member.machine.generation.id == -1
    member.feed(common.PartitionsReleased())
    assert member.one(effects.SendJoin).request.member_id == member_id


def test_a_refused_commit_is_looked_into_by_a_heartbeat() -> None:
    """The commit may have been sent in an older generation: that alone must not cost a healthy member its place."""
    member = Member()
    member.become_stable(partitions(0))
    member.feed(common.IdentityDoubted())
    generation = member.one(effects.SendHeartbeat).generation
    assert member.feed(common.IdentityDoubted()) == [], "one heartbeat at a time"
    member.feed(events.HeartbeatAnswered(generation, ErrorCode.UNKNOWN_MEMBER_ID))
    assert member.one(ReleasePartitions).are_lost


def test_what_was_to_be_revoked_is_lost_when_the_group_throws_us_out_meanwhile() -> None:
    member = Member()
    member.become_stable(partitions(0))
    member.beat(ErrorCode.REBALANCE_IN_PROGRESS)
    assert not member.one(ReleasePartitions).are_lost
    member.beat(ErrorCode.UNKNOWN_MEMBER_ID)
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0), are_lost=True)


def test_being_thrown_out_while_the_user_takes_over_is_dealt_with_afterwards() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer_join()
    member.answer_sync(partitions(0))
    member.beat(ErrorCode.UNKNOWN_MEMBER_ID)
    assert not member.asks_for(ReleasePartitions)
    member.feed(common.AssignmentAdopted())
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0), are_lost=True)


def test_an_answer_to_a_heartbeat_of_an_older_generation_means_nothing() -> None:
    member = Member()
    member.become_stable(partitions(0))
    old = events.Generation(0, "m-0", "range")
    assert member.feed(events.HeartbeatAnswered(old, ErrorCode.UNKNOWN_MEMBER_ID)) == []


def test_a_fenced_static_member_never_joins_again() -> None:
    member = Member(instance_id="i")
    member.feed(common.Started())
    member.answer_join()
    member.answer_sync(partitions(0))
    member.feed(common.AssignmentAdopted())
    member.beat(ErrorCode.FENCED_INSTANCE_ID)
    report = member.one(Report)
    assert isinstance(report.error, FencedInstanceIdError)
    assert report.is_final


def test_a_refusal_for_good_is_reported_and_may_be_tried_again() -> None:
    member = Member()
    member.feed(common.Started())
    member.refuse_join(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    report = member.one(Report)
    assert isinstance(report.error, GroupAuthorizationFailedError)
    assert not report.is_final
    member.feed(common.Started())
    assert member.asks_for(effects.SendJoin)


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_another_coordinator_is_looked_for_after_a_pause(code: ErrorCode) -> None:
    member = Member()
    member.feed(common.Started())
    member.refuse_join(code)
    assert member.asks_for(ForgetCoordinator)
    assert member.one(effects.Pause).failures == 1
    member.feed(events.PauseEnded())
    member.feed(events.CoordinatorUnreachable(CoordinatorNotAvailableError()))
    assert member.one(effects.Pause).failures == 2
    member.feed(events.PauseEnded())
    assert member.asks_for(effects.SendJoin)


def test_a_sync_that_meets_a_new_rebalance_joins_again_at_once() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer_join()
    member.answer_sync(frozenset(), ErrorCode.REBALANCE_IN_PROGRESS)
    assert member.one(effects.SendJoin).request.member_id == "m-1"


def test_heartbeats_go_out_while_the_user_takes_their_time_and_rest_while_join_waits() -> None:
    member = Member()
    member.become_stable(partitions(0))
    member.beat()
    member.beat(ErrorCode.REBALANCE_IN_PROGRESS)
    member.beat(ErrorCode.REBALANCE_IN_PROGRESS)
    member.feed(common.PartitionsReleased())
    member.wait(10_000)
    assert not member.asks_for(effects.SendHeartbeat)


def test_a_coordinator_that_is_silent_for_a_session_is_looked_for() -> None:
    member = Member()
    member.become_stable(partitions(0))
    member.wait(3_000)
    member.wait(45_000)
    assert member.asks_for(ForgetCoordinator)


def test_a_user_who_does_not_poll_is_out_until_they_do() -> None:
    member = Member()
    member.become_stable(partitions(0))
    member.wait(300_001, polls=False)
    assert member.one(effects.SendLeave).member_id == "m-1"
    assert member.asks_for(AbandonStep)
    assert member.machine.generation.id == -1
    member.wait(3_000, polls=False)
    assert member.asked == []
    member.wait(3_000)
    assert member.one(ReleasePartitions) == ReleasePartitions(partitions(0), are_lost=True)
    member.feed(common.PartitionsReleased())
    assert member.one(effects.SendJoin).request.member_id == ""


def test_a_static_member_that_does_not_poll_keeps_its_place() -> None:
    member = Member(instance_id="i")
    member.become_stable(partitions(0))
    member.wait(300_001, polls=False)
    assert not member.asks_for(effects.SendLeave)


@pytest.mark.parametrize(
    ("instance_id", "operation", "leaves"),
    [
        (None, LeaveOperation.DEFAULT, True),
        (None, LeaveOperation.REMAIN_IN_GROUP, False),
        ("i", LeaveOperation.DEFAULT, False),
        ("i", LeaveOperation.LEAVE_GROUP, True),
    ],
)
def test_who_leaves_at_the_end(instance_id: str | None, operation: LeaveOperation, *, leaves: bool) -> None:
    member = Member(instance_id=instance_id)
    member.become_stable(partitions(0))
    member.feed(common.LeaveRequested(operation, "closed"))
    assert member.asks_for(effects.SendLeave) == leaves
    assert member.machine.generation == events.Generation()


def test_a_leader_rebalances_when_partitions_are_added_and_a_follower_does_not() -> None:
    leader, follower = Member(), Member()
    follower.become_stable(partitions(0))
    leader.feed(common.Started())
    leader.answer_join(leader="m-1")
    leader.feed(events.AssignmentComputed({}, {"t": (frozenset(),)}))
    leader.answer_sync(partitions(0))
    leader.feed(common.AssignmentAdopted())
    same = events.MetadataChanged({"t": (frozenset(),)})
    assert leader.feed(same) == []
    grown = events.MetadataChanged({"t": (frozenset(), frozenset())})
    assert follower.feed(grown) == []
    leader.feed(grown)
    assert leader.asks_for(ReleasePartitions)


@pytest.mark.parametrize("rack", [None, "r"])
def test_racks_that_come_and_go_matter_only_to_a_leader_with_a_rack(rack: str | None) -> None:
    leader = Member(rack=rack)
    leader.feed(common.Started())
    leader.answer_join(leader="m-1")
    leader.feed(events.AssignmentComputed({}, {"t": (frozenset({"r"}),)}))
    leader.answer_sync(partitions(0))
    leader.feed(common.AssignmentAdopted())
    leader.feed(events.MetadataChanged({"t": (frozenset(),)}))
    assert leader.asks_for(ReleasePartitions) == (rack is not None)


def test_an_assignment_for_an_older_subscription_is_not_adopted() -> None:
    member = Member()
    member.feed(common.Started())
    member.answer_join()
    member.feed(common.Subscribed(GroupSubscription(frozenset({"u"}))))
    member.answer_sync(partitions(0))
    subscription = decode_subscription(member.one(effects.SendJoin).request.protocols[0].metadata)
    assert subscription.topics == ("u",)


def test_a_pattern_accepts_a_topic_that_the_leader_saw_first() -> None:
    member = Member()
    member.feed(common.Subscribed(GroupSubscription(frozenset(), re.compile("t.*"))))
    member.feed(common.Started())
    member.answer_join()
    member.answer_sync(partitions(0))
    member.feed(common.AssignmentAdopted())
    assert member.machine.state is ClassicState.STABLE
    member.feed(common.Subscribed(GroupSubscription(frozenset({"t"}), re.compile("t.*"))))
    assert member.machine.state is ClassicState.STABLE


def test_an_enforced_rebalance_says_why() -> None:
    member = Member()
    member.become_stable(partitions())
    member.feed(events.RebalanceEnforced("new weather"))
    assert member.one(effects.SendJoin).request.reason == "new weather"


@pytest.mark.parametrize("seed", range(300))
def test_whatever_happens_only_known_ways_are_taken(seed: int) -> None:
    """Steps end as they may, and anything may happen beside them; when all is well again, so is the member."""
    rng = random.Random(seed)
    member = Member(assignor=rng.choice(["range", "cooperative-sticky"]), instance_id=rng.choice([None, "i"]))
    walk = Walk(member, rng)
    for _ in range(120):
        walk.go()
        machine = member.machine
        assert machine.state is not ClassicState.STABLE or machine.generation.id >= 0
        assert machine.owned == frozenset() or machine.state is not ClassicState.UNJOINED
    walk.calm_down()
    assert member.machine.state is ClassicState.STABLE


class Walk:
    """Random but possible events."""

    def __init__(self, member: Member, rng: random.Random) -> None:
        self.member = member
        self.rng = rng
        self.step: effects.Step | None = None
        self.beats: list[effects.SendHeartbeat] = []
        self.codes = [ErrorCode(code) for code in (0, 0, 0, 27, 25, 16, 14, 30, 79)]
        self.assignment: frozenset[TopicPartition] | None = None

    def go(self) -> None:
        member, rng = self.member, self.rng
        choice = rng.random()
        if choice < 0.6 and self.step is not None:
            self._end_step(self.step)
        elif choice < 0.75 and self.beats:
            beat = self.beats.pop()
            codes = [0, 27, 25, 22, 16, 15, 14, 82]
            member.feed(events.HeartbeatAnswered(beat.generation, rng.choices(codes, [20, 5, 1, 1, 1, 1, 1, 1])[0]))
        elif choice < 0.8:
            member.wait(rng.choice([100, 3_000, 400_000]), polls=rng.random() < 0.8)
        else:
            member.feed(
                rng.choice(
                    [
                        common.Started(),
                        common.Subscribed(GroupSubscription(frozenset({rng.choice("tu")}))),
                        events.RebalanceEnforced("why not"),
                        events.MetadataChanged({"t": (frozenset(),)}),
                        common.IdentityDoubted(),
                        events.HeartbeatFailed(),
                        common.LeaveRequested(LeaveOperation.DEFAULT, "closed"),
                    ]
                )
            )
        self._note()

    def calm_down(self) -> None:
        """From now on everything succeeds."""
        member = self.member
        member.wait(1_000)
        self._note()
        for event in (common.Started(), common.Subscribed(GroupSubscription(frozenset({"t"})))):
            member.feed(event)
            self._note()
        self.codes, self.assignment = [ErrorCode.NONE], partitions(0, 1)
        for _ in range(30):
            if self.step is None:
                return
            self._end_step(self.step)
            self._note()

    def _note(self) -> None:
        for asked in self.member.asked:
            if isinstance(asked, effects.SendHeartbeat):
                self.beats.append(asked)
            elif isinstance(asked, AbandonStep):
                self.step = None
            elif isinstance(asked, effects.Step):
                self.step = asked

    def _end_step(self, step: effects.Step) -> None:
        member, rng, self.step = self.member, self.rng, None
        match step:
            case ReleasePartitions():
                member.feed(common.PartitionsReleased())
            case AdoptAssignment():
                member.feed(common.AssignmentAdopted())
            case effects.ComputeAssignment():
                member.feed(events.AssignmentComputed({}, {"t": (frozenset(),)}))
            case effects.Pause():
                member.feed(events.PauseEnded())
            case effects.SendSync():
                member.answer_sync(self.assignment or partitions(*rng.sample(range(4), 2)), rng.choice(self.codes))
            case effects.SendJoin():
                code = rng.choice(self.codes)
                if code:
                    member.refuse_join(code)
                else:
                    member.answer_join(rng.randrange(9), leader=rng.choice(["m-1", "other"]))


def test_every_state_can_be_reached_and_left() -> None:
    reached = {ClassicState.UNJOINED}
    while new := {after for state in reached for after in NEXT[state]} - reached:
        reached |= new
    assert reached == set(ClassicState) == set(NEXT)
    assert all(ClassicState.UNJOINED in after and ClassicState.FAILED in after for after in NEXT.values())
