"""Cuts every topic by itself into as many ranges as it has subscribers.

Partition n of several topics goes to the same member wherever the topics have equally many partitions and the same
subscribers (co-partitioning). Worked example, t0 and t1 of 3 partitions: C0 t0p0 t0p1 t1p0 t1p1, C1 t0p2 t1p2.
Racks (KIP-881): what a member can read from its own rack is dealt first, as far as balance and co-partitioning allow.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.partition_assignor import (
    PartitionAssignor,
    Shares,
    TopicRacks,
    member_order,
    needs_racks,
)
from ottla.client.consumer.assignor.subscription import MemberSubscription
from ottla.client.record import TopicPartition


class RangeAssignor(PartitionAssignor):
    """`range`, as in Kafka."""

    name = "range"

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        """The partitions of each member."""
        shares: Shares = {member: [] for member in members}
        cuts = _cuts(topics, members)
        by_rack = any(cut.needs_racks for cut in cuts)
        if by_rack:
            _deal_by_rack(cuts, shares)
        for cut in cuts:
            cut.deal(shares, lambda member, number: True)
        if by_rack:
            for share in shares.values():
                share.sort(key=lambda partition: (java_order.sort_key(partition.topic), partition.partition))
        return shares


class _Cut:
    """One topic while it is dealt."""

    def __init__(
        self, topic: str, racks: Sequence[frozenset[str]], subscribers: Mapping[str, MemberSubscription]
    ) -> None:
        self.topic = topic
        self.racks = racks
        self.members = {member: subscribers[member].rack_id for member in member_order(subscribers)}
        self.left = dict.fromkeys(range(len(racks)))
        self._dealt = dict.fromkeys(self.members, 0)
        self._least, self._with_one_more = divmod(len(racks), len(self.members))
        self.needs_racks = needs_racks({rack for rack in self.members.values() if rack}, racks)

    def racks_match(self, member: str, number: int) -> bool:
        """Whether the member names no rack, or a replica is in it."""
        rack = self.members[member]
        return rack is None or rack in self.racks[number]

    def room(self, member: str) -> int:
        """The number of partitions that the member may still get."""
        return max(0, self._least + (self._with_one_more > 0) - self._dealt[member])

    def give(self, member: str, numbers: Sequence[int], shares: Shares) -> None:
        """Deals these to the member."""
        shares[member].extend(TopicPartition(self.topic, number) for number in numbers)
        self._dealt[member] += len(numbers)
        if self._dealt[member] > self._least:
            self._with_one_more -= 1
        for number in numbers:
            del self.left[number]

    def deal(self, shares: Shares, may_have: Callable[[str, int], bool]) -> None:
        """Gives every member in turn as many of the partitions left as it may have and has room for."""
        for member in self.members:
            numbers = [number for number in self.left if may_have(member, number)][: self.room(member)]
            if numbers:
                self.give(member, numbers, shares)


def _cuts(topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> list[_Cut]:
    subscribers: dict[str, dict[str, MemberSubscription]] = defaultdict(dict)
    for member, subscription in members.items():
        for topic in subscription.topics:
            subscribers[topic][member] = subscription
    # Twice, as Java walks a set of the subscribed topics and then a map of those that exist.
    wanted = java_order.hash_order(subscribers, java_order.string_hash)
    present = java_order.hash_order((topic for topic in wanted if topics.get(topic)), java_order.string_hash)
    return [_Cut(topic, topics[topic], subscribers[topic]) for topic in present]


def _deal_by_rack(cuts: list[_Cut], shares: Shares) -> None:
    alike: dict[tuple[tuple[tuple[str, str | None], ...], int], list[_Cut]] = defaultdict(list)
    for cut in cuts:
        # Topics whose subscribers name no rack count as one size, since there is nothing to match.
        size = len(cut.racks) if any(cut.members.values()) else 0
        alike[tuple(sorted(cut.members.items(), key=lambda item: item[0])), size].append(cut)
    for (_, size), group in alike.items():
        if len(group) > 1:
            _deal_together(group, size, shares)
        elif group[0].needs_racks:
            group[0].deal(shares, group[0].racks_match)


def _deal_together(cuts: list[_Cut], size: int, shares: Shares) -> None:
    """Gives partition n of all these topics to the first member in whose rack all of them have a replica."""
    members = list(cuts[0].members)
    for number in range(size):
        for member in members:
            if all(cut.racks_match(member, number) and cut.room(member) for cut in cuts):
                for cut in cuts:
                    cut.give(member, [number], shares)
                break
