"""The sticky assignment where members want different topics: as even as it gets, then with as few moves as possible.

Members keep what they own and still want, the rest goes to members with least. Then partitions move, those with fewest
possible readers first, from a member to one that has at least two less, until nothing improves. If all that made the
assignment no more even than before, it is taken back.
"""

from bisect import insort
from collections.abc import Iterable, Mapping

from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.claim import Claims
from ottla.client.consumer.assignor.movement import Movements
from ottla.client.consumer.assignor.partition_assignor import Shares, TopicRacks
from ottla.client.consumer.assignor.rack_match import RackMatch
from ottla.client.consumer.assignor.subscription import MemberSubscription
from ottla.client.record import TopicPartition

Owned = dict[str, dict[TopicPartition, None]]


class UnequalStickiness:
    """One assignment."""

    def __init__(
        self, topics: TopicRacks, members: Mapping[str, MemberSubscription], claims: Claims, racks: RackMatch
    ) -> None:
        self._sizes = {topic: len(racks_of) for topic, racks_of in topics.items()}
        self._racks = racks
        self._outdated = claims.outdated
        self._wants = {
            member: [topic for topic in subscription.topics if topic in topics]
            for member, subscription in members.items()
        }
        self._readers: dict[str, list[str]] = {topic: [] for topic in topics}
        for member, wanted in self._wants.items():
            for topic in wanted:
                self._readers[topic].append(member)
        self._must_give_up = False
        self._owned: Owned = {member: self._kept(member, claims.owned[member]) for member in members}
        self._owner = {partition: member for member, owned in self._owned.items() for partition in owned}
        self._by_size: list[tuple[int, bytes, str]] = []
        self._movements = Movements()
        self._is_even: bool | None = None

    def share(self) -> Shares:
        """The partitions of each member."""
        every = self._every_partition()
        unassigned = [partition for partition in every if partition not in self._owner]
        for member in self._owned:
            self._enter(member)
        starting = not self._owned[self._by_size[-1][2]]
        self._assign(unassigned)
        fixed = {member: self._owned[member] for member in self._wants if not self._can_change(member)}
        for member in fixed:
            self._leave(member)
            del self._owned[member]
        self._balance(self._movable(every), self._movable(unassigned), starting=starting)
        return {member: list(owned) for member, owned in (self._owned | fixed).items()}

    def _kept(self, member: str, owned: Iterable[TopicPartition]) -> dict[TopicPartition, None]:
        """The partitions that the member owns, still subscribes to and can read in its rack."""
        kept: dict[TopicPartition, None] = {}
        for partition in owned:
            if partition.topic in self._wants[member] and not self._racks.mismatch(member, partition):
                kept[partition] = None
            else:
                self._must_give_up = True
        return kept

    def _every_partition(self) -> list[TopicPartition]:
        """All partitions, those of topics with the fewest readers first."""
        topics = sorted(self._sizes, key=lambda topic: (len(self._readers[topic]), java_order.sort_key(topic)))
        return [TopicPartition(topic, number) for topic in topics for number in range(self._sizes[topic])]

    def _movable(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        return [partition for partition in partitions if len(self._readers[partition.topic]) > 1]

    def _enter(self, member: str) -> None:
        insort(self._by_size, (len(self._owned[member]), java_order.sort_key(member), member))

    def _leave(self, member: str) -> None:
        self._by_size.remove((len(self._owned[member]), java_order.sort_key(member), member))

    def _assign(self, unassigned: list[TopicPartition]) -> None:
        """Gives each partition to the reader with least, in its own rack if there is one."""
        left = unassigned
        if self._racks.consumer_racks:
            left = [partition for partition in unassigned if not self._assign_one(partition, self._racks)]
        for partition in left:
            self._assign_one(partition, None)

    def _assign_one(self, partition: TopicPartition, racks: RackMatch | None) -> bool:
        for _, _, member in self._by_size:
            if partition.topic in self._wants[member] and not (racks and racks.mismatch(member, partition)):
                self._leave(member)
                self._owned[member][partition] = None
                self._owner[partition] = member
                self._enter(member)
                return True
        return False

    def _can_change(self, member: str) -> bool:
        """Whether the member lacks some partition that it wants, or has one that another wants too."""
        if len(self._owned[member]) < sum(self._sizes[topic] for topic in self._wants[member]):
            return True
        return any(len(self._readers[partition.topic]) > 1 for partition in self._owned[member])

    def _balance(self, movable: list[TopicPartition], added: list[TopicPartition], *, starting: bool) -> None:
        before = {member: dict(owned) for member, owned in self._owned.items()}
        if not self._must_give_up:
            # New partitions move first, since moving them interrupts no member.
            self._move_all(added)
        if self._move_all(movable) and not starting and unevenness(self._owned) >= unevenness(before):
            self._owned = before

    def _move_all(self, partitions: list[TopicPartition]) -> bool:
        """Moves partitions until nothing improves; whether any was moved."""
        moved_any, moved = False, True
        while moved:
            moved = False
            for partition in partitions:
                if self._even():
                    break
                if self._move_one(partition):
                    moved = moved_any = True
        return moved_any

    def _move_one(self, partition: TopicPartition) -> bool:
        """Moves one partition if a reader has at least two less than its owner, back to an earlier owner first."""
        owner = self._owner[partition]
        bound = len(self._owned[owner]) - 1
        earlier = self._outdated.get(partition)
        if earlier in self._readers[partition.topic] and earlier is not None and len(self._owned[earlier]) < bound:
            self._move(partition, earlier)
            return True
        if any(len(self._owned[reader]) < bound for reader in self._readers[partition.topic]):
            taker = next(member for _, _, member in self._by_size if partition.topic in self._wants[member])
            self._move(partition, taker)
            return True
        return False

    def _move(self, partition: TopicPartition, taker: str) -> None:
        partition = self._movements.to_move(partition, self._owner[partition], taker)
        owner = self._owner[partition]
        self._leave(owner)
        self._leave(taker)
        self._movements.move(partition, owner, taker)
        del self._owned[owner][partition]
        self._owned[taker][partition] = None
        self._owner[partition] = taker
        self._enter(owner)
        self._enter(taker)
        self._is_even = None

    def _even(self) -> bool:
        """Whether no member could take a partition from one that has at least two more; kept until the next move."""
        if self._is_even is None:
            self._is_even = self._by_size[0][0] >= self._by_size[-1][0] - 1 or not self._could_improve()
        return self._is_even

    def _could_improve(self) -> bool:
        largest: dict[str, int] = {}
        for owned in self._owned.values():
            for partition in owned:
                largest[partition.topic] = max(largest.get(partition.topic, 0), len(owned))
        return any(
            len(owned) + 1 < largest.get(topic, 0)
            for member, owned in self._owned.items()
            for topic in self._wants[member]
        )


def unevenness(owned: Owned) -> int:
    """The sum of the differences between all pairs of members."""
    sizes = sorted(map(len, owned.values()))
    return sum(size * (2 * place - len(sizes) + 1) for place, size in enumerate(sizes))
