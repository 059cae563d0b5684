"""The range assignor: each topic is cut into as many pieces as there are members that want it.

The pieces go to the members in the order of their instance ids, then of their ids, so that members which want the same
topics get the same partitions of each (co-partitioning). Racks are not looked at, as in Kafka since 4.0.
"""

from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment, GroupSpec

_NO_INSTANCE: Final = (1, "")


class RangeAssignor:
    """An `Assignor`; not sticky, so that partitions move when members come and go."""

    def assign(self, group: GroupSpec) -> dict[str, Assignment]:
        """Five partitions for two members: 0, 1, 2 and 3, 4."""
        members = sorted(group.members, key=lambda member_id: _rank(group, member_id))
        wanting: dict[Uuid, list[str]] = {}
        for member_id in members:
            for topic in group.members[member_id].topics:
                wanting.setdefault(topic, []).append(member_id)
        assigned: dict[str, dict[Uuid, frozenset[int]]] = {member_id: {} for member_id in members}
        for topic in sorted(wanting):
            size, extra = divmod(group.partition_counts[topic], len(wanting[topic]))
            start = 0
            for place, member_id in enumerate(wanting[topic]):
                end = start + size + (place < extra)
                if start < end:
                    assigned[member_id][topic] = frozenset(range(start, end))
                start = end
        return dict(assigned)


def _rank(group: GroupSpec, member_id: str) -> tuple[tuple[int, str], str]:
    instance_id = group.members[member_id].instance_id
    return (_NO_INSTANCE if instance_id is None else (0, instance_id)), member_id
