"""A consumer group becomes a classic one when the last member that speaks the consumer protocol goes.

Those who stay speak the classic protocol, and rebalance in its way from the assignment that they were to have;
`group.consumer.migration.policy` must allow it. Epoch and generation are one count.

The rebalance is never left out, and the record says so by naming no leader: until there is a generation with a leader
who knows that it is one, the leaver's partitions would stay unassigned and a topic's new ones unnoticed. A coordinator
that comes in between starts it again (`ClassicGroups.loaded`). Apache Kafka names a leader, forgets the rebalance in
that case, and starts none if a static member came back with the classic protocol.

If a consumer comes back before the rebalance is over, the group is taken over from the assignments in the record, as by
Apache Kafka: a member that has not heard yet of a partition to give up would share it with the next owner. So what
members own is remembered in the live group until they join.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.classic.group import ClassicGroup, ClassicMember, group_record
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import ConsumerMember
from ottla.coordinator.group.consumer.migration.embedded import PROTOCOL_TYPE, assignment_bytes
from ottla.coordinator.group.consumer.record import group_tombstones
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.coordinator.runtime.shard import TIMER_RETRY_MS

_POLICIES: Final = ("downgrade", "bidirectional")


class Downgrade:
    """Gives groups back to the classic protocol."""

    def __init__(self, membership: Membership, classic: ClassicGroups) -> None:
        self._membership: Final = membership
        self._classic: Final = classic

    def is_due(self, group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> bool:
        """Whether members are left when these are gone, all speak the classic protocol, and they may go back to it."""
        config = self._membership.context.config
        gone = {member.member_id for member in leaving}
        staying = [member for member_id, member in group.members.items() if member_id not in gone]
        return (
            bool(staying)
            and all(member.classic is not None for member in staying)
            and config.consumer.migration_policy in _POLICIES
            and len(staying) <= config.classic.max_size
        )

    def is_due_for(self, group: ConsumerGroup, replaced: ConsumerMember) -> bool:
        """Whether the group becomes classic if a static member takes its former place with the classic protocol."""
        config = self._membership.context.config
        others = [member for member_id, member in group.members.items() if member_id != replaced.member_id]
        return (
            replaced.classic is None
            and all(member.classic is not None for member in others)
            and config.consumer.migration_policy in _POLICIES
            and len(group.members) <= config.classic.max_size
        )

    def without(self, draft: Draft, leaving: Sequence[ConsumerMember], detail: str) -> None:
        """The group turns classic as these members leave, and rebalances."""
        gone = {member.member_id for member in leaving}
        staying = [member for member_id, member in sorted(draft.group.members.items()) if member_id not in gone]
        self._convert(draft, staying, RebalanceReason.MEMBER_LEFT, detail)

    def with_all(self, draft: Draft) -> None:
        """The group turns classic with all that it has, and rebalances."""
        staying = [member for _, member in sorted(draft.group.members.items())]
        detail = "a static member came back with that protocol"
        self._convert(draft, staying, RebalanceReason.STATIC_MEMBER_REPLACED, detail)

    def _convert(self, draft: Draft, staying: Sequence[ConsumerMember], reason: RebalanceReason, detail: str) -> None:
        group_id, group = draft.group_id, draft.group
        members = tuple(_classic_member(member) for member in sorted(staying, key=lambda member: member.member_id))
        stored = ClassicGroup(
            generation=group.epoch,
            protocol_type=PROTOCOL_TYPE,
            state_timestamp_ms=draft.now_ms,
            members=members,
        )
        protocol = LiveGroup(group_id, stored).select_protocol() or ""
        metadata = self._membership.context.metadata
        assigned = tuple(
            member._replace(
                assignment=assignment_bytes(group.target(member.member_id), metadata, member.metadata(protocol))
            )
            for member in members
        )
        stored = stored._replace(protocol=protocol, members=assigned)
        draft.result.records.extend(group_tombstones(group_id, group))
        draft.result.records.append(group_record(group_id, stored))
        draft.later(partial(self._hand_over, draft, stored, reason, f"it turned classic: {detail}"))

    def _hand_over(self, draft: Draft, stored: ClassicGroup, reason: RebalanceReason, detail: str) -> None:
        session_ms = self._membership.context.session_timeout_ms(draft.group_id)
        staying = {member.member_id for member in stored.members}
        for member in draft.group.members.values():
            is_staying = member.member_id in staying
            self._membership.stop_timers(draft, member, session_ms if is_staying else TIMER_RETRY_MS)
        self._membership.forget(draft.group_id)
        group = self._classic.groups.adopt(draft.group_id, stored, draft.now_ms)
        members = draft.group.members.values()
        group.owned_before = {member.member_id: member.owned for member in members if member.member_id in staying}
        self._classic.rebalancer.prepare(group, reason, detail, draft.result)


def _classic_member(member: ConsumerMember) -> ClassicMember:
    if member.classic is None:
        raise ValueError(f"{member.member_id} does not speak the classic protocol")
    return ClassicMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.classic.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        protocols=member.classic.protocols,
    )
