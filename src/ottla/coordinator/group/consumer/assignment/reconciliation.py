"""Moves a member from its present partitions to its target, with no partition owned by two at any time (KIP-848).

First it is told to give partitions up, and keeps its epoch until it reports that it did. Then it moves to the
assignment's epoch and gets those that are free; those that others still hold it gets in later heartbeats.

    stable, epoch 1, owns 0 1 2; epoch 2 gives it 2 3, and 3 is another's
    → unrevoked, epoch 1, owns 2, gives up 0 1
    → (reports 2) unreleased, epoch 2, owns 2
    → (3 is free) stable, epoch 2, owns 2 3
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment
from ottla.coordinator.group.consumer.member import NOTHING_OWNED, ConsumerMember, MemberState, Owned
from ottla.protocol.errors import FencedMemberEpochError

Reported: TypeAlias = Mapping[Uuid, frozenset[int]]
"""The partitions that a member reports as owned."""


class Goal(NamedTuple):
    """The target of a member, and the facts that decide which partitions it can be given now."""

    epoch: int
    target: Assignment
    wants_any: bool
    is_wanted: Callable[[Uuid], bool]
    """Whether a topic is still there and the member still subscribed to it."""
    is_free: Callable[[Uuid, int], bool]
    reported: Reported | None
    """None if the member did not say; then it may still own all that it ever did."""
    has_subscription_changed: bool


def reconcile(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """The member after one step towards its goal; itself if there is nothing to do."""
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch != goal.epoch:
                return _next(member, member.member_epoch, goal)
            return _without_unwanted(member, goal) if goal.has_subscription_changed else member
        case MemberState.UNREVOKED:
            if not _owns_any(member.revoking, goal.reported):
                return _next(member, member.member_epoch, goal)
            return _without_unwanted(member, goal) if goal.has_subscription_changed else member
        case MemberState.UNRELEASED:
            return _next(member, member.member_epoch, goal)
    if goal.reported is None or goal.reported:
        raise FencedMemberEpochError(
            "The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin."
        )
    return _next(member, goal.epoch, goal)


def _next(member: ConsumerMember, epoch: int, goal: Goal) -> ConsumerMember:
    """Towards the target: keeps what is in it, gives up what is not, and takes what is free."""
    assigned: dict[Uuid, dict[int, int]] = {}
    revoking: dict[Uuid, dict[int, int]] = {}
    gained: dict[Uuid, list[int]] = {}
    is_waiting = False
    for topic_id in dict.fromkeys((*goal.target, *member.assigned)):
        target = goal.target.get(topic_id, frozenset()) if goal.is_wanted(topic_id) else frozenset()
        current = member.assigned.get(topic_id, {})
        kept = {partition: since for partition, since in current.items() if partition in target}
        given_up = {partition: since for partition, since in current.items() if partition not in target}
        own = member.revoking.get(topic_id, {})
        missing = [partition for partition in sorted(target) if partition not in kept]
        free = [partition for partition in missing if partition in own or goal.is_free(topic_id, partition)]
        is_waiting = is_waiting or len(free) < len(missing)
        for parts, owned in ((assigned, kept), (revoking, given_up)):
            if owned:
                parts[topic_id] = owned
        if free:
            gained[topic_id] = free
    if revoking and _owns_any(revoking, goal.reported):
        return member.moved(MemberState.UNREVOKED, epoch, assigned, revoking)
    for topic_id, partitions in gained.items():
        assigned.setdefault(topic_id, {}).update(dict.fromkeys(partitions, goal.epoch))
    state = MemberState.UNRELEASED if is_waiting else MemberState.STABLE
    return member.moved(state, goal.epoch, assigned, NOTHING_OWNED)


def _without_unwanted(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """The subscription changed and the target did not yet: what is no longer wanted can be given up at once."""
    unwanted = [topic_id for topic_id in member.assigned if not goal.wants_any or not goal.is_wanted(topic_id)]
    if not unwanted:
        return member
    assigned = {topic_id: owned for topic_id, owned in member.assigned.items() if topic_id not in unwanted}
    revoking = dict(member.revoking)
    for topic_id in unwanted:
        revoking[topic_id] = {**revoking.get(topic_id, {}), **member.assigned[topic_id]}
    if _owns_any(revoking, goal.reported):
        return member.moved(MemberState.UNREVOKED, member.member_epoch, assigned, revoking)
    return member._replace(previous_member_epoch=member.member_epoch, assigned=assigned)


def _owns_any(owned: Owned, reported: Reported | None) -> bool:
    """Whether the member still has any of these partitions."""
    if reported is None:
        return True
    return any(not partitions.isdisjoint(owned.get(topic_id, ())) for topic_id, partitions in reported.items())
