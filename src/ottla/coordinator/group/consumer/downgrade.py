"""A consumer group becomes a classic one when the last member that speaks the consumer protocol goes.

Those who stay speak the classic protocol, and rebalance in its way from the assignment that they were to have;
`group.consumer.migration.policy` must allow it. Epoch and generation are one count.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.classic.group import ClassicGroup, ClassicMember, group_record
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.embedded import PROTOCOL_TYPE, assignment_bytes
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import ConsumerMember
from ottla.coordinator.group.consumer.membership import Membership
from ottla.coordinator.group.consumer.record import group_tombstones
from ottla.coordinator.group.rebalance_reason import RebalanceReason

_POLICIES: Final = ("downgrade", "bidirectional")


class Downgrade:
    """Gives groups back to the classic protocol."""

    def __init__(self, membership: Membership, classic: ClassicGroups) -> None:
        self._membership: Final = membership
        self._classic: Final = classic

    def is_due(self, group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> bool:
        """Whether members are left when these are gone, all speak the classic protocol, and they may go back to it."""
        config = self._membership.surroundings.config
        gone = {member.member_id for member in leaving}
        staying = [member for member_id, member in group.members.items() if member_id not in gone]
        return (
            bool(staying)
            and all(member.classic is not None for member in staying)
            and config.consumer.migration_policy in _POLICIES
            and len(staying) <= config.classic.max_size
        )

    def is_due_for(self, group: ConsumerGroup, replaced: ConsumerMember) -> bool:
        """The same if a static member comes back with the classic protocol, in the place of its former self."""
        config = self._membership.surroundings.config
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
        staying = [member for member_id, member in draft.group.members.items() if member_id not in gone]
        self._convert(draft, staying)
        draft.later(partial(self._rebalance, draft.group_id, f"it turned classic: {detail}"))

    def with_all(self, draft: Draft, *, is_stale: bool) -> None:
        """The group turns classic with all that it has, and rebalances if its assignment is out of date."""
        self._convert(draft, list(draft.group.members.values()))
        if is_stale:
            draft.later(partial(self._rebalance, draft.group_id, "it turned classic with an old assignment"))

    def _convert(self, draft: Draft, staying: Sequence[ConsumerMember]) -> None:
        group_id, group = draft.group_id, draft.group
        members = tuple(_classic_member(member) for member in sorted(staying, key=lambda member: member.member_id))
        stored = ClassicGroup(
            generation=group.epoch,
            protocol_type=PROTOCOL_TYPE,
            leader=members[0].member_id,
            state_timestamp_ms=draft.now_ms,
            members=members,
        )
        protocol = LiveGroup(group_id, stored).select_protocol() or ""
        metadata = self._membership.surroundings.metadata
        assigned = tuple(
            member._replace(
                assignment=assignment_bytes(group.target(member.member_id), metadata, member.metadata(protocol))
            )
            for member in members
        )
        stored = stored._replace(protocol=protocol, members=assigned)
        draft.step.records.extend(group_tombstones(group_id, group))
        draft.step.records.append(group_record(group_id, stored))
        draft.later(partial(self._hand_over, draft, stored))

    def _hand_over(self, draft: Draft, stored: ClassicGroup) -> None:
        for member_id in draft.group.members:
            self._membership.timers.cancel_all(draft.group_id, member_id)
        self._membership.forget(draft.group_id)
        self._classic.groups.adopt(draft.group_id, stored, draft.now_ms)

    def _rebalance(self, group_id: str, detail: str) -> None:
        self._classic.rebalancer.rebalance_soon(group_id, RebalanceReason.MEMBER_LEFT, detail)


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
