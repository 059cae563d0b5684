"""The leader's part of a rebalance: reads what all members want, lets the assignor decide, writes everybody's share.

Members are handed to the assignor in the order in which a Java leader's map would walk them, so that both decide alike.
"""

from collections.abc import Mapping, Sequence

from ottla.base.errors import OttlaError
from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.assignor_table import BUILT_IN
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor, RebalanceProtocol
from ottla.client.consumer.assignor.subscription import (
    MemberAssignment,
    MemberSubscription,
    decode_subscription,
    encode_assignment,
)
from ottla.client.consumer.group.classic.event import TopicSnapshot
from ottla.client.record import TopicPartition
from ottla.protocol.messages.join_group import JoinGroupResponseMember


class AssignorError(OttlaError):
    """An assignor raised, or its result would let two members read one partition."""


def read_members(members: Sequence[JoinGroupResponseMember]) -> dict[str, MemberSubscription]:
    """All members of the group with what they want; `DecodeError` for bytes that are no subscription."""
    read = {
        member.member_id: decode_subscription(member.metadata, member.group_instance_id or None) for member in members
    }
    return {member: read[member] for member in java_order.hash_order(read, java_order.string_hash)}


def topics_of(members: Mapping[str, MemberSubscription]) -> frozenset[str]:
    """All topics that some member wants."""
    return frozenset(topic for subscription in members.values() for topic in subscription.topics)


def compute(
    assignor: PartitionAssignor,
    protocol: RebalanceProtocol,
    topics: TopicSnapshot,
    members: Mapping[str, MemberSubscription],
) -> dict[str, bytes]:
    """The assignments of all members in the form of SyncGroup."""
    present = {topic: racks for topic, racks in topics.items() if racks}
    assigned = assignor.assign(present, members)
    strangers = assigned.keys() - members.keys()
    if strangers:
        raise AssignorError(
            f"the assignor {assignor.name} assigned partitions to {sorted(strangers)}, who are no members"
        )
    if protocol is RebalanceProtocol.COOPERATIVE and assignor.name not in BUILT_IN:
        _check_cooperation(assignor.name, members, assigned)
    return {member: encode_assignment(assigned.get(member, MemberAssignment())) for member in members}


def _check_cooperation(
    name: str, members: Mapping[str, MemberSubscription], assigned: Mapping[str, MemberAssignment]
) -> None:
    """A partition may go to another member only in the rebalance after the one in which its owner gave it up."""
    added: set[TopicPartition] = set()
    given_up: set[TopicPartition] = set()
    for member, assignment in assigned.items():
        owned = set(members[member].owned_partitions)
        added |= set(assignment.partitions) - owned
        given_up |= owned - set(assignment.partitions)
    both = added & given_up
    if both:
        listed = ", ".join(map(str, sorted(both)))
        raise AssignorError(
            f"the assignor {name} is cooperative but gives {listed} to a new member while another still has them: "
            "leave them out until their owner has given them up"
        )
