"""Which member can read which partition in its own rack, for the sticky assignors (KIP-881).

`consumer_racks` is empty wherever racks make no difference, and then nothing mismatches.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ottla.client.consumer.assignor.partition_assignor import TopicRacks, needs_racks
from ottla.client.consumer.assignor.subscription import MemberSubscription
from ottla.client.record import TopicPartition


class RackMatch:
    """The racks of one assignment's members and partitions."""

    def __init__(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> None:
        named = {member: subscription.rack_id for member, subscription in members.items() if subscription.rack_id}
        partitions = {
            TopicPartition(topic, number): racks
            for topic, every in topics.items()
            for number, racks in enumerate(every)
            if named
        }
        matters = needs_racks(set(named.values()), list(partitions.values()))
        self.consumer_racks: dict[str, str] = named if matters else {}
        self.partition_racks: dict[TopicPartition, frozenset[str]] = partitions if matters else {}
        members_by_rack = Counter(named.values())
        self._readers = {
            partition: sum(members_by_rack[rack] for rack in racks) for partition, racks in partitions.items()
        }

    def mismatch(self, member: str, partition: TopicPartition) -> bool:
        """Whether the member has a rack in which the partition has no replica."""
        rack = self.consumer_racks.get(member)
        return rack is not None and rack not in self.partition_racks.get(partition, ())

    def fewest_readers_first(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Sorted by how many members have a replica in their rack: those with little choice are dealt first."""
        return sorted(partitions, key=lambda partition: self._readers.get(partition, 0))

    def next_reader(self, partition: TopicPartition, members: Sequence[str], first: int) -> int | None:
        """The place of the first member, counted round from `first`, that can read the partition in its rack."""
        racks = self.partition_racks.get(partition)
        for step in range(len(members) if racks else 0):
            place = (first + step) % len(members)
            if self.consumer_racks.get(members[place]) in (racks or ()):
                return place
        return None
