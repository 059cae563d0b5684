"""A classic group of consumers becomes a consumer group when a member joins it with the consumer protocol.

Its members go on as they are, with the partitions that they have, and may speak the classic protocol as long as they
like; `group.consumer.migration.policy` must allow it. Generation and epoch are one count.
"""

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from immutables import Map

from ottla.coordinator.group.assignors.group_spec import Assignment
from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.classic.group import ClassicMember, group_tombstone
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import ClassicSide, ConsumerMember
from ottla.coordinator.group.consumer.member_timer import SESSION
from ottla.coordinator.group.consumer.migration.embedded import assigned_partitions, read_assignment, read_subscription
from ottla.coordinator.group.consumer.record import group_records
from ottla.protocol.errors import DecodeError, GroupIdNotFoundError, RebalanceInProgressError

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

_POLICIES: Final = ("upgrade", "bidirectional")
_UNKNOWN_HASH: Final = -1
"""Not that of any topics, so that a joining member has it assigned anew, in an epoch above 0.

For groups whose members don't have all: they may be in the middle of a rebalance or before their first, or a topic has
grown. A joining member that is new brings an epoch of its own; a static one that comes back does not.
"""


class Upgrade:
    """Takes classic groups over."""

    def __init__(self, membership: Membership, classic: ClassicGroups) -> None:
        self._membership: Final = membership
        self._classic: Final = classic

    def convert(self, state: "GroupsState", group_id: str, result: ResultBuilder) -> Draft:
        """The consumer group that a classic one becomes, with the records that make it so."""
        live = self._classic.groups.find(state, group_id, result)
        if live is None:
            raise GroupIdNotFoundError(f"Group {group_id} is not a consumer group.")
        self._check(live)
        try:
            group = self._converted(live)
        except DecodeError as error:
            raise _refusal(group_id, "the embedded consumer protocol is malformed.") from error
        self._membership.forget(group_id)
        result.records.append(group_tombstone(group_id))
        result.records.extend(group_records(group_id, group))
        draft = Draft(group_id, group, result)
        draft.later(partial(self._take_over, live, result))
        return draft

    def _check(self, live: LiveGroup) -> None:
        config = self._membership.context.config.consumer
        if config.migration_policy not in _POLICIES:
            reason = "online upgrade is disabled."
        elif not live.is_of_consumers:
            reason = "the group does not use the consumer embedded protocol."
        elif len(live.members) > config.max_size:
            reason = "the group size exceeds the consumer group maximum size."
        else:
            return
        raise _refusal(live.group_id, reason)

    def _converted(self, live: LiveGroup) -> ConsumerGroup:
        protocol = live.protocol or live.select_protocol() or ""
        group = ConsumerGroup(
            epoch=live.generation, assignment_epoch=live.generation, targets=Map(), assignment_timestamp_ms=0
        )
        targets: dict[str, Assignment] = {}
        for classic in live.members.values():
            target = self._target(live.group_id, classic)
            target = live.owned_before.get(classic.member_id, target)
            targets[classic.member_id] = target
            group = group.with_member(_member(classic, protocol, target, live.generation))
        group = group._replace(targets=Map(targets))
        is_whole = live.state is ClassicState.STABLE and self._is_all_assigned(group)
        names = group.subscribed_topics()
        return group._replace(metadata_hash=self._membership.hashes.of_group(names) if is_whole else _UNKNOWN_HASH)

    def _is_all_assigned(self, group: ConsumerGroup) -> bool:
        found = (self._membership.context.metadata.topic(name) for name in group.subscribed_topics())
        counts = {topic.id: topic.partition_count for topic in found if topic is not None}
        assigned = Counter(
            topic_id for target in group.targets.values() for topic_id in target for _ in target[topic_id]
        )
        return assigned == counts

    def _target(self, group_id: str, member: ClassicMember) -> Assignment:
        assignment = read_assignment(member.assignment)
        if assignment.user_data:
            # What its own assignor keeps would be lost.
            raise _refusal(
                group_id,
                "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default "
                "assignor before re-attempting the upgrade.",
            )
        return assigned_partitions(assignment, self._membership.context.metadata)

    def _take_over(self, live: LiveGroup, result: ResultBuilder) -> None:
        for member in live.members.values():
            end_ms = result.now_ms + member.session_timeout_ms
            self._membership.timers.set(SESSION, live.group_id, member.member_id, end_ms)
        result.answer_all(self._classic.groups.drop(live, RebalanceInProgressError()))


def _refusal(group_id: str, reason: str) -> GroupIdNotFoundError:
    return GroupIdNotFoundError(f"Cannot upgrade classic group {group_id} to consumer group because {reason}")


def _member(classic: ClassicMember, protocol: str, target: Assignment, generation: int) -> ConsumerMember:
    subscription = read_subscription(classic.metadata(protocol))
    return ConsumerMember(
        member_id=classic.member_id,
        instance_id=classic.instance_id,
        rack_id=subscription.rack_id or None,
        client_id=classic.client_id,
        client_host=classic.client_host,
        rebalance_timeout_ms=classic.rebalance_timeout_ms,
        topic_names=frozenset(subscription.topics),
        classic=ClassicSide(classic.session_timeout_ms, classic.protocols),
        member_epoch=generation,
        previous_member_epoch=generation,
        assigned={topic_id: dict.fromkeys(partitions, generation) for topic_id, partitions in target.items()},
    )
