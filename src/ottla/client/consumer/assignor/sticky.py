"""Leaves partitions where they are as far as balance allows (KIP-54).

`StickyAssignor` rebalances eagerly: members give everything up, and get most of it back. `CooperativeStickyAssignor`
(KIP-429) works on what members still hold: a partition that moves is first taken from its owner and not assigned;
the owner then joins again, and the rebalance that follows assigns it.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping

from ottla.client.consumer.assignor import sticky_user_data
from ottla.client.consumer.assignor.claim import NO_GENERATION, Claim, read_claims
from ottla.client.consumer.assignor.equal_stickiness import EqualStickiness, subscriptions_are_equal
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor, RebalanceProtocol, Shares, TopicRacks
from ottla.client.consumer.assignor.rack_match import RackMatch
from ottla.client.consumer.assignor.subscription import MemberAssignment, MemberSubscription
from ottla.client.consumer.assignor.unequal_stickiness import UnequalStickiness
from ottla.client.record import TopicPartition

_Moving = dict[TopicPartition, str]


class _StickyBase(PartitionAssignor):
    """The common part of both sticky assignors; each reads members' claims in its own way."""

    @abstractmethod
    def claim_of(self, subscription: MemberSubscription) -> Claim:
        """A member's claim of its former partitions."""

    def _share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> tuple[Shares, _Moving | None]:
        """The partitions of each member, and those of them that another member still has, if known."""
        claims = read_claims(topics, members, self.claim_of)
        racks = RackMatch(topics, members)
        if subscriptions_are_equal({member: subscription.topics for member, subscription in members.items()}):
            equal = EqualStickiness(topics, claims, racks)
            return equal.share(), equal.moving
        return UnequalStickiness(topics, members, claims, racks).share(), None


class StickyAssignor(_StickyBase):
    """`sticky`, as in Kafka."""

    name = "sticky"

    def __init__(self) -> None:
        self._assigned: tuple[TopicPartition, ...] | None = None
        self._generation = NO_GENERATION

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        """The partitions of each member."""
        return self._share(topics, members)[0]

    def claim_of(self, subscription: MemberSubscription) -> Claim:
        """Always from the user data: eager members own nothing when they join."""
        return sticky_user_data.decode_claim(subscription.user_data)

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """The former partitions of this member."""
        if self._assigned is None:
            return None
        return sticky_user_data.encode_claim(self._assigned, self._generation)

    def on_assignment(self, assignment: MemberAssignment, generation_id: int) -> None:
        """Remembered for the next join."""
        self._assigned, self._generation = assignment.partitions, generation_id


class CooperativeStickyAssignor(_StickyBase):
    """`cooperative-sticky`, as in Kafka."""

    name = "cooperative-sticky"
    protocols = (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)

    def __init__(self) -> None:
        self._generation = NO_GENERATION

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        """The partitions of each member now, without those that others must give up first."""
        shares, moving = self._share(topics, members)
        if moving is None:
            moving = partitions_moving(members, shares)
        return {
            member: [partition for partition in share if moving.get(partition) != member]
            for member, share in shares.items()
        }

    def claim_of(self, subscription: MemberSubscription) -> Claim:
        """From the subscription itself; the generation from the user data if the member is older than KIP-792."""
        generation = subscription.generation_id
        if generation is None:
            generation = sticky_user_data.decode_generation(subscription.user_data)
        return Claim(subscription.owned_partitions, generation)

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:
        """The generation, for leaders older than KIP-792."""
        return sticky_user_data.encode_generation(self._generation)

    def on_assignment(self, assignment: MemberAssignment, generation_id: int) -> None:
        """Remembered for the next join."""
        self._generation = generation_id


def partitions_moving(members: Mapping[str, MemberSubscription], shares: Shares) -> _Moving:
    """The partitions that one member gives up and another gets, with the latter."""
    added: _Moving = {}
    given_up: set[TopicPartition] = set()
    for member, share in shares.items():
        owned = set(members[member].owned_partitions)
        added.update({partition: member for partition in share if partition not in owned})
        given_up |= owned.difference(share)
    return {partition: member for partition, member in added.items() if partition in given_up}
