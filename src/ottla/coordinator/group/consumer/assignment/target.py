"""The target assignment: what every member of a group is to have, computed by the assignor that most members want.

`ASSIGNORS` has the assignors by the names that members and `group.consumer.assignors` call them.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment, Assignor, GroupSpec, MemberSpec
from ottla.coordinator.group.assignors.range import RangeAssignor
from ottla.coordinator.group.assignors.uniform import UniformAssignor
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.ports import MetadataView

ASSIGNORS: Final[dict[str, Assignor]] = {"uniform": UniformAssignor(), "range": RangeAssignor()}


def compute_targets(group: ConsumerGroup, metadata: MetadataView, assignors: Sequence[str]) -> dict[str, Assignment]:
    """The members' targets, in the order of their ids."""
    counts: dict[Uuid, int] = {}
    wants: dict[frozenset[str], frozenset[Uuid]] = {}
    members: dict[str, MemberSpec] = {}
    for member_id in sorted(group.members):
        member = group.members[member_id]
        names = group.topics_of(member)
        if names not in wants:
            topics = [topic for name in names if (topic := metadata.topic(name)) is not None]
            counts.update((topic.id, topic.partition_count) for topic in topics)
            wants[names] = frozenset(topic.id for topic in topics)
        members[member_id] = MemberSpec(wants[names], group.target(member_id), member.instance_id)
    return ASSIGNORS[preferred_assignor(group, assignors)].assign(GroupSpec(members, counts))


def preferred_assignor(group: ConsumerGroup, assignors: Sequence[str]) -> str:
    """The assignor that most members asked for, the earlier one in `assignors` if several; its first if none did."""
    votes = Counter(member.server_assignor for member in group.members.values())
    return max(assignors, key=lambda name: votes[name])
