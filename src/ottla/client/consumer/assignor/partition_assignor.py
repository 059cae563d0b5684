"""The interface of assignors: the leader of a classic group spreads partitions over its members with one.

The built-in ones are pure; `Sticky` and `CooperativeSticky` keep what their own member was assigned last. A custom one
subclasses `PartitionAssignor` and is given in `partition.assignment.strategy`, as an object, a class or the name of one
("module:Class").
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.subscription import MemberAssignment, MemberSubscription
from ottla.client.record import TopicPartition

TopicRacks = Mapping[str, Sequence[frozenset[str]]]
"""Each topic's partitions in order, as the racks of each one's replicas (empty where brokers name none)."""

Shares = dict[str, list[TopicPartition]]
"""Each member's partitions."""


class RebalanceProtocol(Enum):
    """The ways in which members give partitions up (KIP-429)."""

    EAGER = 0
    """All of them before every rebalance."""
    COOPERATIVE = 1
    """Only those that go to another member, which gets them in a second rebalance."""


class PartitionAssignor(ABC):
    """Divides the partitions of the subscribed topics among the members of a group.

    >>> class Everything(PartitionAssignor):
    ...     '''Gives all to the member whose id is smallest.'''
    ...     name = "everything"
    ...
    ...     def share(self, topics, members):
    ...         partitions = [TopicPartition(topic, n) for topic in topics for n in range(len(topics[topic]))]
    ...         return {min(members): partitions}
    >>> Everything().assign({"t": [frozenset()]}, {"m": MemberSubscription(("t",))})["m"].partitions
    (TopicPartition(topic='t', partition=0),)
    """

    name: str
    """The name that members vote on: a group uses the first assignor that all members know."""

    protocols: tuple[RebalanceProtocol, ...] = (RebalanceProtocol.EAGER,)
    """The supported rebalance protocols; a group is cooperative if all assignors of its members are."""

    @abstractmethod
    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        """The partitions of each member; a member left out gets none. `topics` has existing topics, by name."""

    def assign(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> dict[str, MemberAssignment]:
        """Like `share`, for assignors that send user data to members; the leader calls this."""
        shares = self.share(topics, members)
        return {member: MemberAssignment(tuple(shares.get(member, ()))) for member in members}

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """User data of this member for the leader's assignor; called before every join."""
        return None

    def on_assignment(self, assignment: MemberAssignment, generation_id: int) -> None:  # noqa: B027 - may be left out
        """Told what this member was assigned, before its rebalance listener."""


def member_order(members: Mapping[str, MemberSubscription]) -> list[str]:
    """Static members by their instance ids, then the others by their member ids (KIP-345): a static member keeps its
    place, and with it its partitions, when it restarts under a new member id."""

    def key(member_id: str) -> tuple[bool, bytes]:
        instance = members[member_id].group_instance_id
        return instance is None, java_order.sort_key(member_id if instance is None else instance)

    return sorted(members, key=key)


def needs_racks(consumer_racks: set[str], partition_racks: Sequence[frozenset[str]]) -> bool:
    """Whether racks make a difference (KIP-881): some are shared, and not every partition is on all of them."""
    everywhere = frozenset[str]().union(*partition_racks)
    return not consumer_racks.isdisjoint(everywhere) and any(racks != everywhere for racks in partition_racks)
