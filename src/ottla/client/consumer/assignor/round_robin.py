"""Deals all partitions of all topics in turn to the members that want them.

With equal subscriptions no member has two partitions more than another. Worked example, t0 and t1 of 3 partitions:
C0 t0p0 t0p2 t1p1, C1 t0p1 t1p0 t1p2.
"""

from collections.abc import Mapping
from itertools import cycle

from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor, Shares, TopicRacks, member_order
from ottla.client.consumer.assignor.subscription import MemberSubscription
from ottla.client.record import TopicPartition


class RoundRobinAssignor(PartitionAssignor):
    """`roundrobin`, as in Kafka."""

    name = "roundrobin"

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        """The partitions of each member; a member without the topic is skipped and keeps no claim."""
        shares: Shares = {member: [] for member in members}
        wanted = {topic for subscription in members.values() for topic in subscription.topics}
        turns = cycle(member_order(members))
        for topic in sorted(wanted & topics.keys(), key=java_order.sort_key):
            for number in range(len(topics[topic])):
                taker = next(member for member in turns if topic in members[member].topics)
                shares[taker].append(TopicPartition(topic, number))
        return shares
