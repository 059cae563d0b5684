"""A leader, its followers and the controller, in any order of fetches, failures, proposals, answers and metadata.

What must hold: the high watermark never falls; everybody who could be elected has everything below it; and what the
controller takes for the ISR is never more than what the leader waits for.
"""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from immutables import Map

from ottla.base.ids import ZERO_UUID
from ottla.metadata.image.cluster import BrokerRegistration, ClusterImage
from ottla.metadata.image.partition import PartitionRegistration
from ottla.protocol.errors import (
    ApiError,
    FencedLeaderEpochError,
    IneligibleReplicaError,
    InvalidUpdateVersionError,
    NotLeaderOrFollowerError,
    UnknownServerError,
)
from ottla.replication.isr import Answered
from ottla.replication.partition.cluster_view import ClusterView
from ottla.replication.partition.follower_progress import FollowerFetch
from ottla.replication.partition.leadership import Leadership
from ottla.replication.ports import LeaderAndIsr

LEADER = 1
FOLLOWERS = (2, 3)
REPLICAS = (LEADER, *FOLLOWERS)
LAG_MS = 1000

followers = st.sampled_from(FOLLOWERS)


class IsrMachine(RuleBasedStateMachine):
    """The leader is the code; followers and controller are what Kafka's are, in few words."""

    @initialize(min_isr=st.sampled_from([1, 1, 1, 2]))
    def begin(self, min_isr: int) -> None:
        self.now_ms = 10_000
        self.min_isr = min_isr
        self.log_end_offset = 0
        self.high_watermark = 0
        self.true_end = dict.fromkeys(REPLICAS, 0)
        self.brokers = {
            broker_id: BrokerRegistration(broker_id, 1, ZERO_UUID, (), Map(), None, False, False, (), None)
            for broker_id in REPLICAS
        }
        self.committed = PartitionRegistration(REPLICAS, (), REPLICAS, (), (), (), (), LEADER, 0, 0, 0)
        self.fetches: list[FollowerFetch] = []
        self.proposals: list[LeaderAndIsr] = []
        self.answers: list[tuple[LeaderAndIsr, LeaderAndIsr | ApiError]] = []
        self.view = ClusterView(LEADER, LAG_MS)
        self.leadership = Leadership(self.view, 0)
        self.publish()

    # The leader

    def advance(self) -> None:
        offset = self.leadership.high_watermark(self.log_end_offset, self.min_isr)
        if offset is not None and offset > self.high_watermark:
            self.high_watermark = offset

    def submit(self, proposed: LeaderAndIsr | None) -> None:
        if proposed is not None:
            self.proposals.append(proposed)

    @rule(count=st.integers(1, 5))
    def append(self, count: int) -> None:
        self.log_end_offset += count
        self.true_end[LEADER] = self.log_end_offset
        self.advance()

    @rule(ms=st.sampled_from([1, LAG_MS // 2, LAG_MS + 1]))
    def pass_time(self, ms: int) -> None:
        self.now_ms += ms

    @rule()
    def shrink(self) -> None:
        self.submit(self.leadership.shrink(self.log_end_offset, self.now_ms))

    # The followers

    @rule(broker_id=followers, received=st.integers(0, 8))
    def fetch(self, broker_id: int, received: int) -> None:
        """A follower fetches from its end on, and gets some of what there is."""
        fetch = FollowerFetch(broker_id, self.brokers[broker_id].epoch, self.true_end[broker_id], 0)
        if self.deliver(fetch):
            self.true_end[broker_id] = min(self.true_end[broker_id] + received, self.log_end_offset)

    @rule(broker_id=followers)
    def send_fetch(self, broker_id: int) -> None:
        """A fetch that is on its way for long: its sender may be another by the time that it arrives."""
        self.fetches.append(FollowerFetch(broker_id, self.brokers[broker_id].epoch, self.true_end[broker_id], 0))

    @precondition(lambda self: self.fetches)
    @rule()
    def deliver_late(self) -> None:
        fetch = self.fetches.pop(0)
        if fetch.fetch_offset <= self.true_end[fetch.broker_id] or fetch.broker_epoch < self.epoch_of(fetch.broker_id):
            self.deliver(fetch)

    def epoch_of(self, broker_id: int) -> int:
        return self.brokers[broker_id].epoch

    def deliver(self, fetch: FollowerFetch) -> bool:
        try:
            self.leadership.follower_fetched(fetch, self.log_end_offset, self.now_ms)
        except NotLeaderOrFollowerError:
            return False
        self.submit(self.leadership.expand(fetch.broker_id, self.high_watermark))
        self.advance()
        return True

    @rule(broker_id=followers)
    def catch_up(self, broker_id: int) -> None:
        """A follower fetches all there is, and shows with another fetch that it has it."""
        self.fetch(broker_id, self.log_end_offset)
        self.fetch(broker_id, 0)

    @rule(broker_id=followers, lost=st.integers(0, 8), seen=st.sets(st.sampled_from(["down", "up"])))
    def restart(self, broker_id: int, lost: int, seen: set[str]) -> None:
        """A follower crashes, loses what was not on its disk, and comes back; the leader may hear of it or not yet."""
        self.true_end[broker_id] = max(self.true_end[broker_id] - lost, 0)
        self.go_down(broker_id, seen)
        self.brokers[broker_id] = replace(self.brokers[broker_id], epoch=self.epoch_of(broker_id) + 1)
        self.come_up(broker_id, seen)

    @rule(broker_id=followers, seen=st.sets(st.sampled_from(["down", "up"])))
    def lose_touch(self, broker_id: int, seen: set[str]) -> None:
        """A follower is fenced for a while."""
        self.go_down(broker_id, seen)
        self.come_up(broker_id, seen)

    def go_down(self, broker_id: int, seen: set[str]) -> None:
        self.leave_isr(broker_id)
        self.brokers[broker_id] = replace(self.brokers[broker_id], fenced=True)
        if "down" in seen:
            self.publish()

    def come_up(self, broker_id: int, seen: set[str]) -> None:
        self.brokers[broker_id] = replace(self.brokers[broker_id], fenced=False)
        if "up" in seen:
            self.publish()

    # The controller

    def leave_isr(self, broker_id: int) -> None:
        if broker_id in self.committed.isr:
            isr = tuple(member for member in self.committed.isr if member != broker_id)
            self.committed = self.committed._replace(isr=isr, partition_epoch=self.committed.partition_epoch + 1)

    @precondition(lambda self: self.proposals)
    @rule()
    def decide(self) -> None:
        proposed = self.proposals.pop(0)
        self.answers.append((proposed, self.decision(proposed)))

    def decision(self, proposed: LeaderAndIsr) -> LeaderAndIsr | ApiError:
        if proposed.leader_epoch < self.committed.leader_epoch:
            return FencedLeaderEpochError()
        if proposed.partition_epoch < self.committed.partition_epoch:
            return InvalidUpdateVersionError()
        for member in proposed.isr:
            broker = self.brokers[member.broker_id]
            if broker.fenced or member.broker_epoch not in (-1, broker.epoch):
                return IneligibleReplicaError()
        self.committed = self.committed._replace(
            isr=tuple(member.broker_id for member in proposed.isr),
            partition_epoch=self.committed.partition_epoch + 1,
        )
        return replace(proposed, partition_epoch=self.committed.partition_epoch)

    @precondition(lambda self: self.proposals)
    @rule()
    def lose_proposal(self) -> None:
        """Nobody knows whether the controller saw it."""
        self.answers.append((self.proposals.pop(0), UnknownServerError()))

    @precondition(lambda self: self.proposals)
    @rule()
    def lose_answer(self) -> None:
        proposed = self.proposals.pop(0)
        self.decision(proposed)
        self.answers.append((proposed, UnknownServerError()))

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        proposed, answer = self.answers.pop(data.draw(st.integers(0, len(self.answers) - 1)))
        outcome = self.leadership.answered(proposed, answer)
        if outcome is Answered.RETRY:
            self.submit(proposed)
        self.advance()

    @rule()
    def elect(self) -> None:
        """The same leader in a new epoch."""
        self.committed = self.committed._replace(
            leader_epoch=self.committed.leader_epoch + 1, partition_epoch=self.committed.partition_epoch + 1
        )

    @rule()
    def publish(self) -> None:
        """The metadata reaches the leader."""
        self.view.cluster = ClusterImage(Map(self.brokers), Map())
        if self.committed.partition_epoch < self.leadership.isr.partition_epoch:
            return
        is_new_leader = self.leadership.leader_epoch < 0
        self.leadership.update(self.committed)
        if self.committed.leader_epoch > self.leadership.leader_epoch:
            self.leadership.begin_epoch(
                self.committed.leader_epoch, self.log_end_offset, self.now_ms, is_new_leader=is_new_leader
            )
        self.advance()

    # What must hold

    @invariant()
    def the_electable_have_everything_committed(self) -> None:
        if hasattr(self, "committed"):
            for broker_id in self.committed.isr:
                assert self.true_end[broker_id] >= self.high_watermark, f"{broker_id} lacks committed records"

    @invariant()
    def the_leader_waits_for_all_that_the_controller_takes_for_in_sync(self) -> None:
        if hasattr(self, "committed"):
            assert set(self.committed.isr) <= self.leadership.isr.maximal

    @invariant()
    def the_high_watermark_is_within_the_log(self) -> None:
        if hasattr(self, "committed"):
            assert self.high_watermark <= self.log_end_offset


class MonotonicMachine(IsrMachine):
    """The same, with a look at every single step of the high watermark and of the proposals."""

    def advance(self) -> None:
        before = self.high_watermark
        super().advance()
        assert self.high_watermark >= before
        if self.high_watermark > before:
            lowest = min(
                [self.log_end_offset]
                + [
                    follower.log_end_offset
                    for broker_id, follower in self.leadership.followers.items()
                    if broker_id in self.leadership.isr.maximal
                ]
            )
            assert self.high_watermark <= lowest

    def submit(self, proposed: LeaderAndIsr | None) -> None:
        super().submit(proposed)
        if proposed is not None:
            assert self.leadership.isr.proposed is proposed
            assert {member.broker_id for member in proposed.isr} | self.leadership.isr.members == (
                self.leadership.isr.maximal
            )


TestIsr = IsrMachine.TestCase
TestIsr.settings = settings(max_examples=60, stateful_step_count=50)
TestMonotonic = MonotonicMachine.TestCase
TestMonotonic.settings = settings(max_examples=60, stateful_step_count=50)
