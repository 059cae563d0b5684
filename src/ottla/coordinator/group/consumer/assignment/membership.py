"""The effects of changed members: the group's next epoch, its next assignment, and the members' way there.

Used by whatever moves a group on: heartbeats, leaving, time-outs, and members of the classic protocol. Records come in
the order in which Kafka writes them.
"""

from functools import partial
from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.group.consumer.assignment.reconciliation import Goal, Reported, reconcile
from ottla.coordinator.group.consumer.assignment.target import compute_targets
from ottla.coordinator.group.consumer.assignment.topic_change import TopicChanges
from ottla.coordinator.group.consumer.context import ConsumerGroupContext
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.member import ConsumerMember, MemberState
from ottla.coordinator.group.consumer.member_timer import REBALANCE, SESSION, MemberTimers
from ottla.coordinator.group.consumer.record import (
    current_record,
    epoch_record,
    member_tombstones,
    partition_metadata_tombstone,
    regex_tombstone,
    subscription_record,
    target_epoch_record,
    target_record,
)
from ottla.coordinator.group.rebalance_reason import Rebalance, RebalanceReason, some
from ottla.coordinator.runtime.shard import TIMER_RETRY_MS


class Membership:
    """The parts of an operation on a group, for one shard."""

    def __init__(self, context: ConsumerGroupContext, timers: MemberTimers) -> None:
        self.context: Final = context
        self.timers: Final = timers
        self.hashes: Final = context.hashes
        self._changes = TopicChanges()
        self._seen: dict[str, tuple[int, int]] = {}
        """Group → how many changes of topics it has taken notice of, and its epoch then."""

    def topics_changed(self, names: frozenset[str]) -> None:
        """Groups look at their topics anew when they next hear of a member."""
        self.hashes.forget(names)
        self._changes.note(names)

    def forget(self, group_id: str) -> None:
        """The group is gone."""
        self._seen.pop(group_id, None)

    def clear(self) -> None:
        """All groups are gone."""
        self._seen.clear()
        self._changes.clear()
        # Without an active shard no group would hear of changes.
        self.hashes.clear()

    def subscribe(self, draft: Draft, before: ConsumerMember, member: ConsumerMember) -> bool:
        """Writes down what a member says of itself, if that is new; whether it named other topics."""
        if member == before and member.member_id in draft.group.members:
            return False
        draft.write(subscription_record(draft.group_id, member))
        return member.topic_names != before.topic_names

    def refresh(self, draft: Draft, reason: RebalanceReason | None, detail: str) -> None:
        """Raises the group's epoch for a reason, or because its topics changed since it last looked.

        The epoch that a group had when it looked tells whether what followed was lost with a failed append.
        """
        group_id, group = draft.group_id, draft.group
        seen = self._seen.get(group_id)
        is_new_to_it = seen is None or seen[0] != self._changes.count or group.epoch < seen[1]
        if reason is None and not is_new_to_it:
            return
        metadata_hash = self.hashes.of_group(group.subscribed_topics())
        if reason is None and metadata_hash != group.metadata_hash:
            since = 0 if seen is None else seen[0]
            topics = (
                some(self._changes.since(since, group.subscribed_topics())) or "topics that members are subscribed to"
            )
            reason, detail = (
                RebalanceReason.METADATA_CHANGED,
                f"{topics} changed: made, deleted or with other partitions",
            )
        if reason is not None:
            self._raise_epoch(draft, metadata_hash, reason, detail)
        self._seen[group_id] = (self._changes.count, draft.group.epoch)
        if group.has_partition_metadata:
            draft.write(partition_metadata_tombstone(group_id))

    def assign(self, draft: Draft) -> None:
        """Computes the next assignment if the group's epoch is ahead, and enough time passed since the last one."""
        group, group_id = draft.group, draft.group_id
        if group.assignment_epoch >= group.epoch or not self._may_assign(draft):
            return
        config = self.context.config.consumer
        targets = compute_targets(group, self.context.metadata, config.assignors)
        for member_id, target in targets.items():
            if group.targets.get(member_id) != target:
                draft.write(target_record(group_id, member_id, target))
        draft.write(target_epoch_record(group_id, group.epoch, draft.now_ms))

    def reconcile(
        self, draft: Draft, member: ConsumerMember, reported: Reported | None, *, has_subscription_changed: bool
    ) -> ConsumerMember:
        """Takes a member one step towards its target, and waits for it to give up what it must."""
        group, group_id = draft.group, draft.group_id
        if not has_subscription_changed and member.is_reconciled_to(group.assignment_epoch):
            return member
        after = reconcile(member, self._goal(draft, member, reported, has_subscription_changed))
        if after == member:
            return member
        draft.write(current_record(group_id, after))
        if after.classic is None:
            if after.state is MemberState.UNREVOKED:
                end_ms = draft.now_ms + after.rebalance_timeout_ms
                self.timers.set_rebalance(group_id, after.member_id, after.member_epoch, end_ms)
            else:
                self.timers.cancel(REBALANCE, group_id, after.member_id)
        return after

    def remove(self, draft: Draft, members: list[ConsumerMember], reason: RebalanceReason, detail: str) -> None:
        """Takes members out of the group, which always raises its epoch."""
        for member in members:
            draft.write_all(member_tombstones(draft.group_id, member.member_id))
            self.stop_timers(draft, member, TIMER_RETRY_MS)
        for regex in sorted({member.topic_regex for member in members if member.topic_regex}):
            if regex not in draft.group.regex_counts:
                draft.write(regex_tombstone(draft.group_id, regex))
        self._raise_epoch(draft, self.hashes.of_group(draft.group.subscribed_topics()), reason, detail)

    def replace(self, draft: Draft, old: ConsumerMember, new: ConsumerMember) -> None:
        """A static member is back under another id, and takes over what its former self had."""
        target = draft.group.target(old.member_id)
        draft.write_all(member_tombstones(draft.group_id, old.member_id))
        draft.write(subscription_record(draft.group_id, new))
        draft.write(target_record(draft.group_id, new.member_id, target))
        draft.write(current_record(draft.group_id, new))
        self.stop_timers(draft, old, self.context.session_timeout_ms(draft.group_id))

    def stop_timers(self, draft: Draft, member: ConsumerMember, session_ms: int) -> None:
        """A member has no timers any more; if that is lost, it has a session again, from now and that long.

        Otherwise a member whose last word was lost with a failed append would keep its partitions for ever.
        """
        group_id, member_id, end_ms = draft.group_id, member.member_id, draft.now_ms + session_ms
        self.timers.cancel_all(group_id, member_id)
        draft.result.if_lost(partial(self.timers.set_if_absent, SESSION, group_id, member_id, end_ms))

    def _raise_epoch(self, draft: Draft, metadata_hash: int, reason: RebalanceReason, detail: str) -> None:
        group = draft.group
        rebalance = Rebalance(draft.group_id, group.state.value, group.epoch, reason, detail)
        self.context.rebalance_log.started(rebalance)
        draft.write(epoch_record(draft.group_id, group.epoch + 1, metadata_hash))

    def _may_assign(self, draft: Draft) -> bool:
        last_ms = draft.group.assignment_timestamp_ms
        interval_ms = self.context.assignment_interval_ms(draft.group_id)
        return not last_ms or not interval_ms or draft.now_ms >= last_ms + interval_ms

    def _goal(
        self, draft: Draft, member: ConsumerMember, reported: Reported | None, has_subscription_changed: bool
    ) -> Goal:
        group, metadata = draft.group, self.context.metadata
        names = group.topics_of(member)

        def is_wanted(topic_id: Uuid) -> bool:
            topic = metadata.topic_by_id(topic_id)
            return topic is not None and topic.name in names

        return Goal(
            epoch=group.assignment_epoch,
            target=group.target(member.member_id),
            wants_any=bool(names),
            is_wanted=is_wanted,
            is_free=lambda topic_id, partition: (topic_id, partition) not in group.owners,
            reported=reported,
            has_subscription_changed=has_subscription_changed,
        )
