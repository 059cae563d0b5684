"""A consumer group as the log has it: immutable, made by replaying its records one by one.

A record speaks of one part of the group, and the parts are kept as they come; besides them there are indexes that
follow from the members (static members, who owns a partition, how many want a topic), changed together with them.

Invariant: a partition has one owner at most: the member that owns it, or is still giving it up.
"""

import enum
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from immutables import Map

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment
from ottla.coordinator.group.consumer.member import ConsumerMember
from ottla.coordinator.group.group_state import GroupType

FIRST_EPOCH: Final = 1
"""Of a new group and of its empty assignment: the first subscription makes it 2."""
NO_ASSIGNMENT: Final[Assignment] = {}


class ConsumerState(enum.Enum):
    """The states of a group, as ListGroups shows them."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    """Something changed, and the next assignment is not made yet."""
    RECONCILING = "Reconciling"
    """Members are on their way to the assignment."""
    STABLE = "Stable"


class ResolvedRegex(NamedTuple):
    """The topics that an expression matched, in the metadata of that version, at that time."""

    topics: frozenset[str]
    version: int
    timestamp_ms: int


class ConsumerGroup(NamedTuple):
    """One group."""

    epoch: int = FIRST_EPOCH
    metadata_hash: int = 0
    assignment_epoch: int = FIRST_EPOCH
    assignment_timestamp_ms: int = 0
    members: Map[str, ConsumerMember] = Map()
    targets: Map[str, Assignment] = Map()
    regexes: Map[str, ResolvedRegex] = Map()
    has_partition_metadata: bool = False
    """Whether a record of the type that 4.1 gave up is still there, to be deleted."""
    static_members: Map[str, str] = Map()
    """Instance id → member id."""
    owners: Map[tuple[Uuid, int], str] = Map()
    """Partition → who owns it or is giving it up."""
    topic_counts: Map[str, int] = Map()
    """How many members name a topic."""
    regex_counts: Map[str, int] = Map()
    """How many members have an expression."""

    @property
    def type(self) -> GroupType:
        """Which kind takes care of it."""
        return GroupType.CONSUMER

    @property
    def state(self) -> ConsumerState:
        """The group's state."""
        if not self.members:
            return ConsumerState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerState.ASSIGNING
        epoch = self.assignment_epoch
        if all(member.is_reconciled_to(epoch) for member in self.members.values()):
            return ConsumerState.STABLE
        return ConsumerState.RECONCILING

    def target(self, member_id: str, instance_id: str | None = None) -> Assignment:
        """A member's target assignment; a static one has that of its instance's former member."""
        if instance_id is not None:
            member_id = self.static_members.get(instance_id, "")
        return self.targets.get(member_id, NO_ASSIGNMENT)

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """The member of an instance."""
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def subscribed_topics(self) -> set[str]:
        """All topics that members want, by name or by what their expressions matched."""
        return set(self.topic_counts).union(*(regex.topics for regex in self.regexes.values()))

    def is_subscribed(self, topic: str) -> bool:
        """Whether members want a topic."""
        return topic in self.topic_counts or any(topic in regex.topics for regex in self.regexes.values())

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """The names of all topics that a member wants."""
        regex = self.regexes.get(member.topic_regex) if member.topic_regex else None
        return member.topic_names if regex is None else member.topic_names | regex.topics

    @property
    def classic_count(self) -> int:
        """The number of members that speak the classic protocol."""
        return sum(member.classic is not None for member in self.members.values())

    def with_member(self, member: ConsumerMember) -> "ConsumerGroup":
        """The group with a member in the place of the one with its id."""
        before = self.members.get(member.member_id)
        changes = self._reindexed(before, member)
        changes["members"] = self.members.set(member.member_id, member)
        if member.instance_id is not None:
            changes["static_members"] = self.static_members.set(member.instance_id, member.member_id)
        return self._replace(**changes)

    def without_member(self, member_id: str) -> "ConsumerGroup":
        """The group without a member; one that it does not have is fine."""
        before = self.members.get(member_id)
        if before is None:
            return self
        changes = self._reindexed(before, None)
        changes["members"] = self.members.delete(member_id)
        if self.static_members.get(before.instance_id or "") == member_id:
            changes["static_members"] = self.static_members.delete(before.instance_id or "")
        return self._replace(**changes)

    def _reindexed(self, before: ConsumerMember | None, after: ConsumerMember | None) -> dict[str, Any]:
        """The indexes that change with a member, by their names; parts that stayed the same cost nothing."""
        changes: dict[str, Any] = {}
        if not _is_same(before, after, "topic_names"):
            counts = _recounted(self.topic_counts, before and before.topic_names, after and after.topic_names)
            changes["topic_counts"] = counts
        if _regex(before) != _regex(after):
            changes["regex_counts"] = _recounted(self.regex_counts, _regex(before), _regex(after))
        if not (_is_same(before, after, "assigned") and _is_same(before, after, "revoking")):
            changes["owners"] = _owners(self.owners, before, after)
        return changes


def _is_same(before: ConsumerMember | None, after: ConsumerMember | None, name: str) -> bool:
    return before is not None and after is not None and getattr(before, name) is getattr(after, name)


def _regex(member: ConsumerMember | None) -> tuple[str, ...]:
    return (member.topic_regex,) if member is not None and member.topic_regex else ()


def _recounted(counts: Map[str, int], before: Iterable[str] | None, after: Iterable[str] | None) -> Map[str, int]:
    changed = counts.mutate()
    for name in after or ():
        changed[name] = changed.get(name, 0) + 1
    for name in before or ():
        changed[name] -= 1
        if not changed[name]:
            del changed[name]
    return changed.finish()


def _owners(
    owners: Map[tuple[Uuid, int], str], before: ConsumerMember | None, after: ConsumerMember | None
) -> Map[tuple[Uuid, int], str]:
    changed = owners.mutate()
    if before is not None:
        for place in _places(before):
            if changed.get(place) == before.member_id:
                del changed[place]
    if after is not None:
        for place in _places(after):
            changed[place] = after.member_id
    return changed.finish()


def _places(member: ConsumerMember) -> Iterable[tuple[Uuid, int]]:
    for owned in (member.assigned, member.revoking):
        for topic_id, partitions in owned.items():
            for partition in partitions:
                yield topic_id, partition
