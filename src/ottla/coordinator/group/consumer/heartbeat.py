"""ConsumerGroupHeartbeat: joining, keeping alive, following the assignment, leaving (KIP-848).

What a member does not say stays as it was. Its answer brings its epoch, and what it is to own now if that changed or
if it asked as one that has lost its memory.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.ids import Uuid
from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.assignment.reconciliation import Reported
from ottla.coordinator.group.consumer.assignment.regex_refresh import RegexChange, RegexRefresh
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.entry import Entry
from ottla.coordinator.group.consumer.leave import Leaving
from ottla.coordinator.group.consumer.member import JOIN_EPOCH, ConsumerMember
from ottla.coordinator.group.consumer.member_timer import SESSION
from ottla.coordinator.group.rebalance_reason import RebalanceReason, some, topic_change
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState


class MemberHeartbeat(NamedTuple):
    """A ConsumerGroupHeartbeat with who sent it."""

    request: ConsumerGroupHeartbeatRequest
    caller: GroupCaller


class Heartbeats:
    """Heartbeats of members that speak the consumer protocol."""

    def __init__(self, membership: Membership, regexes: RegexRefresh, entry: Entry, leaving: Leaving) -> None:
        self._membership: Final = membership
        self._regexes: Final = regexes
        self._entry: Final = entry
        self._leaving: Final = leaving

    def heartbeat(self, state: "GroupsState", beat: MemberHeartbeat, now_ms: int) -> CoordinatorResult:
        """The operation."""
        request = beat.request
        if request.member_epoch < JOIN_EPOCH:
            return self._leaving.leave(state, request, now_ms)
        draft = self._entry.open(state, request, now_ms)
        reported = _reported(request)
        before = self._entry.member(draft, request, reported)
        member = _said(before, beat)
        is_new = before.member_id not in draft.group.members
        has_other_names = self._membership.subscribe(draft, before, member)
        change = self._regexes.update(draft, before, member)
        is_known = has_other_names or change is RegexChange.RESOLVED
        if is_known and is_new:
            self._membership.refresh(draft, RebalanceReason.MEMBER_JOINED, _joined(member))
        else:
            reason = RebalanceReason.METADATA_CHANGED if is_known else None
            self._membership.refresh(draft, reason, _changed(before, member) if is_known else "")
        self._membership.assign(draft)
        is_changed = has_other_names or change is not RegexChange.NONE
        after = self._membership.reconcile(draft, member, reported, has_subscription_changed=is_changed)
        self._regexes.schedule(draft, beat.caller.visible)
        self._keep_session(draft.group_id, after, now_ms)
        return draft.outcome(self._answer(draft, before, after, request))

    def _keep_session(self, group_id: str, member: ConsumerMember, now_ms: int) -> None:
        end_ms = now_ms + self._membership.context.session_timeout_ms(group_id)
        self._membership.timers.set(SESSION, group_id, member.member_id, end_ms)

    def _answer(
        self, draft: Draft, before: ConsumerMember, after: ConsumerMember, request: ConsumerGroupHeartbeatRequest
    ) -> ConsumerGroupHeartbeatResponse:
        response = ConsumerGroupHeartbeatResponse(
            member_id=after.member_id,
            member_epoch=after.member_epoch,
            heartbeat_interval_ms=self._membership.context.heartbeat_interval_ms(draft.group_id),
        )
        if request.member_epoch == JOIN_EPOCH or _is_full(request) or before.assigned != after.assigned:
            response.assignment = Assignment(
                topic_partitions=[
                    TopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
                    for topic_id, partitions in after.assigned.items()
                ]
            )
        return response


def _said(before: ConsumerMember, beat: MemberHeartbeat) -> ConsumerMember:
    """The member with what its heartbeat says; it speaks the consumer protocol from now on."""
    request, caller = beat
    names = request.subscribed_topic_names
    timeout_ms = request.rebalance_timeout_ms
    return before._replace(
        instance_id=_or(request.instance_id, before.instance_id),
        rack_id=_or(request.rack_id, before.rack_id),
        rebalance_timeout_ms=before.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        server_assignor=_or(request.server_assignor, before.server_assignor),
        topic_names=before.topic_names if names is None else frozenset(names),
        topic_regex=_or(request.subscribed_topic_regex, before.topic_regex),
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=None,
    )


def _or(said: str | None, known: str | None) -> str | None:
    return known if said is None else said


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the member told all of itself, as it does when it can't know what was heard last."""
    has_topics = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.rebalance_timeout_ms != -1 and has_topics and request.topic_partitions is not None


def _reported(request: ConsumerGroupHeartbeatRequest) -> Reported | None:
    if request.topic_partitions is None:
        return None
    reported: dict[Uuid, frozenset[int]] = {}
    for topic in request.topic_partitions:
        reported[topic.topic_id] = reported.get(topic.topic_id, frozenset()).union(topic.partitions)
    return reported


def _joined(member: ConsumerMember) -> str:
    wants = some(member.topic_names) or repr(member.topic_regex)
    return f"member {member.member_id} of client {member.client_id!r} at {member.client_host} joined, wants {wants}"


def _changed(before: ConsumerMember, member: ConsumerMember) -> str:
    what = topic_change(before.topic_names, member.topic_names)
    if (before.topic_regex or "") != (member.topic_regex or ""):
        what += f", the expression {member.topic_regex!r} instead of {before.topic_regex!r}"
    return f"member {member.member_id} changed its subscription: {what}"
