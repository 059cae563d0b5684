"""The uniform assignor for members that want different topics.

What members have and still want stays; free partitions go to the taker with the least, topics with
the fewest takers per partition first; then partitions move, one at a time, from who has most to who has least among
the takers of a topic, as long as that levels anything. So every topic ends level: of two members that want it, one
that has partitions of it never has two more in all than the other.
"""

from bisect import insort

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment, GroupSpec

ROUND_COUNT_MAX = 16
"""Levelling one topic may tilt another; this many rounds over all topics are enough in practice."""


def balance(group: GroupSpec) -> dict[str, Assignment]:
    """The target assignment of each member."""
    plan = _Plan(group)
    plan.keep()
    plan.give_free()
    for _ in range(ROUND_COUNT_MAX):
        if not sum([plan.level(topic) for topic in plan.order]):
            break
    return plan.result()


class _Plan:
    """An assignment in the making; members are known by their place in the order of their ids."""

    def __init__(self, group: GroupSpec) -> None:
        self._group = group
        self._ids = sorted(group.members)
        self._sizes = [0] * len(self._ids)
        self._takers: dict[Uuid, list[int]] = {}
        for place, member_id in enumerate(self._ids):
            for topic in group.members[member_id].topics:
                self._takers.setdefault(topic, []).append(place)
        counts = group.partition_counts
        self._owners = {topic: [-1] * counts[topic] for topic in self._takers}
        self.order = sorted(
            self._takers,
            key=lambda topic: (-counts[topic] / len(self._takers[topic]), len(self._takers[topic]), topic),
        )

    def keep(self) -> None:
        """Members keep what they have of topics that they want."""
        for place, member_id in enumerate(self._ids):
            member = self._group.members[member_id]
            for topic, partitions in member.assignment.items():
                if topic not in member.topics:
                    continue
                owners = self._owners[topic]
                for partition in partitions:
                    if partition < len(owners) and owners[partition] < 0:
                        owners[partition] = place
                        self._sizes[place] += 1

    def give_free(self) -> None:
        """Gives free partitions to the members with least."""
        for topic in self.order:
            owners = self._owners[topic]
            queue = sorted((self._sizes[place], place) for place in self._takers[topic])
            for partition, owner in enumerate(owners):
                if owner < 0:
                    size, place = queue.pop(0)
                    owners[partition] = place
                    self._sizes[place] = size + 1
                    insort(queue, (size + 1, place))

    def level(self, topic: Uuid) -> int:
        """Moves partitions of a topic from who has most to who has least; how many moved."""
        sizes = self._sizes
        queue = sorted((sizes[place], place) for place in self._takers[topic])
        if queue[-1][0] - queue[0][0] <= 1:
            return 0
        owned: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic]):
            owned.setdefault(owner, []).append(partition)
        moved = 0
        rich = len(queue) - 1
        while rich > 0:
            size, place = queue[rich]
            least, poor = queue[0]
            if size - least <= 1:
                break
            if not owned.get(place):
                rich -= 1
                continue
            self._owners[topic][owned[place].pop()] = poor
            sizes[place], sizes[poor] = size - 1, least + 1
            # Who has nothing of this topic to give stays above `rich` and is passed over from now on.
            givers = queue[1:rich]
            insort(givers, (size - 1, place))
            insort(givers, (least + 1, poor))
            queue[: rich + 1] = givers
            moved += 1
        return moved

    def result(self) -> dict[str, Assignment]:
        """The plan as assignments."""
        assigned: list[dict[Uuid, set[int]]] = [{} for _ in self._ids]
        for topic in sorted(self._owners):
            for partition, owner in enumerate(self._owners[topic]):
                assigned[owner].setdefault(topic, set()).add(partition)
        return {
            member_id: {topic: frozenset(partitions) for topic, partitions in owned.items()}
            for member_id, owned in zip(self._ids, assigned, strict=True)
        }
