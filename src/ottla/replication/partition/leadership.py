"""The leadership of a partition with followers: their progress, the ISR, and the high watermark.

Knows offsets, not logs. The high watermark is the smallest log end of all who count: the maximal ISR, and those who
are caught up and about to join, since otherwise they would forever run after it.

Leader 1 ends at 100, ISR {1, 2}, 2 is at 90, 3 at 80 and out of sync: high watermark 90. When 3 reaches 90 it is
proposed for the ISR, and from that moment the high watermark waits for it too.
"""

from collections.abc import Iterable
from typing import Final

from ottla.metadata.image.partition import LeaderRecoveryState, PartitionRegistration
from ottla.protocol.errors import ApiError, NotLeaderOrFollowerError
from ottla.replication.isr import Answered, Isr
from ottla.replication.partition.cluster_view import ClusterView
from ottla.replication.partition.follower_progress import FollowerFetch, FollowerProgress
from ottla.replication.ports import IsrMember, LeaderAndIsr

_RECOVERED: Final = int(LeaderRecoveryState.RECOVERED)


class Leadership:
    """One broker's leadership of one partition, through as many epochs as it lasts."""

    __slots__ = (
        "_deleted_below",
        "_eligible",
        "_now_ms",
        "_view",
        "epoch_start_offset",
        "followers",
        "isr",
        "leader_epoch",
    )

    def __init__(self, view: ClusterView, log_start_offset: int) -> None:
        self._view = view
        self._now_ms = 0
        self._deleted_below = log_start_offset
        """Deletions are confirmed up to here, by this leader or the one before."""
        self._eligible: frozenset[int] = frozenset()
        """Replicas out of the ISR that may lead all the same (KIP-966)."""
        self.followers: dict[int, FollowerProgress] = {}
        self.isr = Isr(frozenset(), -1)
        self.leader_epoch = -1
        self.epoch_start_offset = -1

    # The metadata's word

    def update(self, registration: PartitionRegistration) -> None:
        """Takes replicas and ISR as the controller has them.

        What an answer of the controller said before comes again with the metadata. It tells nothing new then, and must
        not make the leader forget a proposal that it sent meanwhile: the controller may yet accept it.
        """
        own_id = self._view.node_id
        wanted = [replica for replica in registration.replicas if replica != own_id]
        self.followers = {replica: self.followers.get(replica) or FollowerProgress(replica) for replica in wanted}
        if registration.partition_epoch > self.isr.partition_epoch:
            for left in self.isr.members.difference(registration.isr) & self.followers.keys():
                self.followers[left].left_isr()
            self.isr.commit(frozenset(registration.isr), registration.partition_epoch)
        self._eligible = frozenset(registration.elr)

    def begin_epoch(self, leader_epoch: int, log_end_offset: int, now_ms: int, *, is_new_leader: bool) -> None:
        """Starts an epoch at the log end; who is in the ISR has the lag time to show up in it."""
        self._now_ms = max(self._now_ms, now_ms)
        for follower in self.followers.values():
            in_isr = follower.broker_id in self.isr.members
            if is_new_leader:
                follower.forget(now_ms, in_isr=in_isr)
            else:
                follower.begin_epoch(log_end_offset, now_ms, in_isr=in_isr)
        self.leader_epoch = leader_epoch
        self.epoch_start_offset = log_end_offset

    # Replication

    def high_watermark(self, log_end_offset: int, min_insync_replicas: int) -> int | None:
        """The offset that all replicas that count have; None if too few are in sync to commit (KIP-966)."""
        isr = self.isr
        if len(isr.members) < min_insync_replicas and self.is_under_min_isr(min_insync_replicas):
            return None
        lowest = log_end_offset
        for broker_id, follower in self.followers.items():
            if follower.log_end_offset < lowest and (
                broker_id in isr.maximal or self._is_about_to_join(follower, log_end_offset)
            ):
                lowest = follower.log_end_offset
        return lowest

    def _is_about_to_join(self, follower: FollowerProgress, log_end_offset: int) -> bool:
        view = self._view
        return follower.is_caught_up(log_end_offset, self._now_ms, view.lag_time_max_ms) and view.may_join_isr(
            follower.broker_id, follower.broker_epoch
        )

    def follower_fetched(self, fetch: FollowerFetch, log_end_offset: int, now_ms: int) -> None:
        """Notes a follower's progress; NOT_LEADER_OR_FOLLOWER for a fetch of a former incarnation."""
        alive_epoch = self._view.alive_epoch(fetch.broker_id)
        if fetch.broker_epoch != -1 and alive_epoch is not None and alive_epoch > fetch.broker_epoch:
            raise NotLeaderOrFollowerError(
                f"Received stale fetch state update. broker epoch={fetch.broker_epoch} vs expected={alive_epoch}"
            )
        self._now_ms = max(self._now_ms, now_ms)
        self.followers[fetch.broker_id].fetched(fetch, log_end_offset, now_ms)

    def low_watermark(self, log_start_offset: int) -> int:
        """The lowest log start of the leader, its live followers, and those who may lead although they are away.

        Deletions below may be confirmed from now on. A replica that is away and may not lead is left out: it has to
        begin there, too, before it joins the ISR.

        Leader 1 begins at 60; 2 is away, began at 40 and is an eligible leader replica: the answer is 40. Were it 60,
        then 2 could lead next and bring 40 to 59 back.
        """
        lowest = log_start_offset
        for broker_id, follower in self.followers.items():
            if follower.log_start_offset < lowest and (
                self._view.alive_epoch(broker_id) is not None
                or broker_id in self.isr.maximal
                or broker_id in self._eligible
            ):
                lowest = follower.log_start_offset
        self._deleted_below = max(self._deleted_below, lowest)
        return lowest

    # In-sync replicas

    def is_under_min_isr(self, min_insync_replicas: int) -> bool:
        """Whether fewer are in sync than there have to be; more than there are replicas is never asked for."""
        return len(self.isr.members) < self.effective_min_isr(min_insync_replicas)

    def effective_min_isr(self, min_insync_replicas: int) -> int:
        """`min.insync.replicas`, or the number of replicas if that is less."""
        return min(min_insync_replicas, len(self.followers) + 1)

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica is out of sync."""
        return len(self.isr.members) < len(self.followers) + 1

    def expand(self, broker_id: int, high_watermark: int) -> LeaderAndIsr | None:
        """The proposal to take in a follower, if it may and has what it needs.

        That is everything up to the high watermark, and to where this epoch began: below may be committed records
        that the high watermark does not show yet, and a leader without them would lose them. And nothing whose
        deletion was confirmed while it was away.
        """
        follower = self.followers.get(broker_id)
        if follower is None or self.isr.is_pending or broker_id in self.isr.members:
            return None
        if not self._view.may_join_isr(broker_id, follower.broker_epoch):
            return None
        if follower.log_end_offset < max(high_watermark, self.epoch_start_offset):
            return None
        if follower.log_start_offset < self._deleted_below:
            return None
        return self._propose([*sorted(self.isr.members), broker_id])

    def out_of_sync(self, log_end_offset: int, now_ms: int) -> list[int]:
        """Members of the ISR that lag behind for too long."""
        lag_time_max_ms, followers = self._view.lag_time_max_ms, self.followers
        return [
            broker_id
            for broker_id in sorted(self.isr.members - {self._view.node_id})
            if broker_id not in followers
            or not followers[broker_id].is_caught_up(log_end_offset, now_ms, lag_time_max_ms)
        ]

    def shrink(self, log_end_offset: int, now_ms: int) -> LeaderAndIsr | None:
        """The proposal to leave out those who lag behind, if there are any and no other proposal is under way."""
        self._now_ms = max(self._now_ms, now_ms)
        if self.isr.is_pending or len(self.isr.members) < 2:
            return None
        lagging = self.out_of_sync(log_end_offset, now_ms)
        if not lagging:
            return None
        return self._propose(sorted(self.isr.members.difference(lagging)))

    def answered(self, proposed: LeaderAndIsr, answer: LeaderAndIsr | ApiError) -> Answered:
        """Takes the controller's answer to a proposal."""
        return self.isr.answered(proposed, answer)

    def _propose(self, members: Iterable[int]) -> LeaderAndIsr:
        proposed = LeaderAndIsr(
            leader_id=self._view.node_id,
            leader_epoch=self.leader_epoch,
            isr=tuple(IsrMember(broker_id, self._epoch_of(broker_id)) for broker_id in members),
            leader_recovery_state=_RECOVERED,
            partition_epoch=self.isr.partition_epoch,
        )
        self.isr.propose(proposed)
        return proposed

    def _epoch_of(self, broker_id: int) -> int:
        """The epoch a member fetched with. A member that has not fetched from this leader yet was put there by the
        controller, which would take it out itself if it were gone."""
        if broker_id == self._view.node_id:
            return self._view.own_epoch()
        follower = self.followers.get(broker_id)
        return -1 if follower is None or follower.broker_epoch is None else follower.broker_epoch
