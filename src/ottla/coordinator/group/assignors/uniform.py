"""The uniform assignor, the default: members get equal numbers of partitions, and keep theirs where possible.

If all members want the same topics the numbers differ by one at most, and no partition moves that need not. With
different wants see `balance`.
"""

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.balance import balance
from ottla.coordinator.group.assignors.group_spec import Assignment, GroupSpec, MemberSpec


class UniformAssignor:
    """An `Assignor`."""

    def assign(self, group: GroupSpec) -> dict[str, Assignment]:
        """Seven partitions for two members: three and four, of what they had as much as fits."""
        if not group.members:
            return {}
        if not group.is_homogeneous:
            return balance(group)
        topics = next(iter(group.members.values())).topics
        return _share(group, {topic: group.partition_counts[topic] for topic in sorted(topics)})


def _share(group: GroupSpec, counts: dict[Uuid, int]) -> dict[str, Assignment]:
    member_ids = sorted(group.members)
    quota, extra_count = divmod(sum(counts.values()), len(member_ids))
    free = {topic: set(range(count)) for topic, count in counts.items()}
    assigned = {member_id: _kept(group.members[member_id], free, quota + 1) for member_id in member_ids}
    sizes = {member_id: sum(map(len, assigned[member_id].values())) for member_id in member_ids}
    for member_id in _over_quota(sizes, quota, extra_count):
        _give_back(assigned[member_id], free)
        sizes[member_id] -= 1
    extra_left = extra_count - sum(size > quota for size in sizes.values())
    waiting = [(topic, partition) for topic in counts for partition in sorted(free[topic])]
    waiting.reverse()
    # Those who have their quota already are last in line for one more: what moves then moves to whom it must.
    for member_id in sorted(member_ids, key=lambda member_id: sizes[member_id] >= quota):
        missing = quota - sizes[member_id]
        if missing >= 0 and extra_left > 0 and waiting:
            missing += 1
            extra_left -= 1
        for _ in range(missing):
            topic, partition = waiting.pop()
            assigned[member_id].setdefault(topic, set()).add(partition)
    return {member_id: _frozen(owned) for member_id, owned in assigned.items()}


def _kept(member: MemberSpec, free: dict[Uuid, set[int]], size_max: int) -> dict[Uuid, set[int]]:
    """The partitions that a member keeps: at most `size_max`, none of another member, none that are gone."""
    kept: dict[Uuid, set[int]] = {}
    room = size_max
    for topic in sorted(member.assignment):
        had = member.assignment[topic] & free.get(topic, frozenset())
        if len(had) > room:
            had = frozenset(sorted(had)[:room])
        if had:
            kept[topic] = set(had)
            free[topic] -= had
            room -= len(had)
    return kept


def _over_quota(sizes: dict[str, int], quota: int, extra_count: int) -> list[str]:
    """Members that have one more than the quota when as many as may have that are found."""
    over = [member_id for member_id, size in sizes.items() if size > quota]
    return over[extra_count:]


def _give_back(owned: dict[Uuid, set[int]], free: dict[Uuid, set[int]]) -> None:
    topic = max(owned)
    partition = max(owned[topic])
    owned[topic].remove(partition)
    if not owned[topic]:
        del owned[topic]
    free[topic].add(partition)


def _frozen(owned: dict[Uuid, set[int]]) -> Assignment:
    return {topic: frozenset(partitions) for topic, partitions in owned.items()}
