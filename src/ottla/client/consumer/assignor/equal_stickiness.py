"""The sticky assignment where all members want the same topics, in time linear in partitions.

Every member keeps what it owned up to its quota; the rest is dealt to those below theirs. With P partitions and C
members everyone gets P // C, and P % C of them one more. Worked example, 7 partitions and 3 members: quotas 2, one
member 3; A owned 4, B 3, C joins: A keeps 3 and B 2, C gets the last of each.
"""

from collections.abc import Mapping

from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.claim import Claims
from ottla.client.consumer.assignor.partition_assignor import Shares, TopicRacks
from ottla.client.consumer.assignor.rack_match import RackMatch
from ottla.client.record import TopicPartition


class EqualStickiness:
    """One assignment; `moving` says afterwards who gets what another member must give up first."""

    def __init__(self, topics: TopicRacks, claims: Claims, racks: RackMatch) -> None:
        self._topics = topics
        self._claims = claims
        self._racks = racks
        self._least, self._with_one_more = divmod(sum(map(len, topics.values())), len(claims.owned))
        self._most = self._least + (self._with_one_more > 0)
        self._full = 0
        self._below: list[str] = []
        self._at_least: list[str] = []
        self._given_up: dict[TopicPartition, str] = {}
        self._shares: Shares = {member: [] for member in claims.owned}
        self.moving: dict[TopicPartition, str] = {}

    def share(self) -> Shares:
        """The partitions of each member."""
        for member in java_order.hash_order(self._claims.owned, java_order.string_hash):
            self._keep(member, self._keepable(member))
        unassigned = self._racks.fewest_readers_first(self._unassigned())
        self._below.sort(key=java_order.sort_key)
        self._at_least.sort(key=java_order.sort_key)
        if self._racks.consumer_racks:
            unassigned = self._deal_by_rack(unassigned)
        self._deal(unassigned)
        return self._shares

    def _keepable(self, member: str) -> list[TopicPartition]:
        keepable = []
        for partition in self._claims.owned[member]:
            if self._racks.mismatch(member, partition):
                self._given_up[partition] = member
            elif partition not in self._claims.disputed:
                keepable.append(partition)
        return sorted(keepable, key=lambda partition: (partition.partition, java_order.sort_key(partition.topic)))

    def _keep(self, member: str, owned: list[TopicPartition]) -> None:
        """Gives the member as much of its own as its quota allows, and remembers whether it wants more."""
        quota = self._least
        if len(owned) < self._least:
            self._below.append(member)
        elif len(owned) >= self._most and self._full < self._with_one_more:
            quota = self._most
            self._full += 1
            if self._full == self._with_one_more:
                self._at_least.clear()
        elif self._full < self._with_one_more:
            self._at_least.append(member)
        self._shares[member].extend(owned[:quota])
        self._given_up.update(dict.fromkeys(owned[quota:], member))

    def _unassigned(self) -> list[TopicPartition]:
        kept = {partition for share in self._shares.values() for partition in share}
        every = (
            TopicPartition(topic, number)
            for topic in sorted(self._topics, key=java_order.sort_key)
            for number in range(len(self._topics[topic]))
        )
        return [partition for partition in every if partition not in kept]

    def _deal_by_rack(self, unassigned: list[TopicPartition]) -> list[TopicPartition]:
        """Deals what members can read in their own racks; what is left."""
        left, turn = [], 0
        for partition in unassigned:
            place = self._racks.next_reader(partition, self._below, turn)
            if place is not None:
                turn = self._fill(partition, place)
            elif not self._top_up_by_rack(partition):
                left.append(partition)
        return left

    def _fill(self, partition: TopicPartition, place: int) -> int:
        """Gives the partition to a member below its quota; whose turn is next."""
        member = self._below[place]
        if self._give(partition, member) < self._least:
            place += 1
        else:
            del self._below[place]
            if len(self._shares[member]) < self._most and self._full < self._with_one_more:
                self._at_least.append(member)
        return place % len(self._below) if self._below else 0

    def _top_up_by_rack(self, partition: TopicPartition) -> bool:
        place = self._racks.next_reader(partition, self._at_least, 0)
        if place is None:
            return False
        member = self._at_least[place]
        if self._give(partition, member) == self._most:
            del self._at_least[place]
            self._full += 1
            if self._full == self._with_one_more:
                self._at_least.clear()
        return True

    def _deal(self, unassigned: list[TopicPartition]) -> None:
        """Deals in turn to the members below their quota, then one each to those that may have one more."""
        turn = 0
        for partition in unassigned:
            if not self._below:
                self._give(partition, self._at_least.pop(0))
                continue
            turn = turn if turn < len(self._below) else 0
            member = self._below[turn]
            if self._give(partition, member) == self._least:
                del self._below[turn]
                self._at_least.append(member)
            else:
                turn += 1

    def _give(self, partition: TopicPartition, member: str) -> int:
        """Adds a new partition to the member's; how many it has then."""
        share = self._shares[member]
        share.append(partition)
        if self._given_up.get(partition, member) != member or partition in self._claims.disputed:
            self.moving[partition] = member
        return len(share)


def subscriptions_are_equal(subscribed: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether every member wants the same topics; one that wants none does not count until another wants some."""
    first: set[str] = set()
    for topics in subscribed.values():
        if not first:
            first = set(topics)
        elif len(topics) != len(first) or not first.issuperset(topics):
            return False
    return True
