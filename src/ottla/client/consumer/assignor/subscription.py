"""Subscriptions and assignments of a classic group, between members and leader: values, and their bytes.

Members write the newest version that they know and read any by the newest that they know, since fields are only ever
appended (`ottla.protocol.consumer_protocol`).
"""

from collections.abc import Iterable

from ottla.base.frozen import frozen
from ottla.client.record import TopicPartition
from ottla.protocol.consumer_protocol import (
    AssignedTopicPartition,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedTopicPartition,
)
from ottla.protocol.errors import DecodeError

_VERSION_BYTES = 2


@frozen
class MemberSubscription:
    """One member's wishes, as an assignor sees them.

    `owned_partitions` is empty unless rebalances are cooperative; `generation_id` is the generation in which they were
    owned, None if unknown; `group_instance_id` is set for static members.
    """

    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned_partitions: tuple[TopicPartition, ...] = ()
    generation_id: int | None = None
    rack_id: str | None = None
    group_instance_id: str | None = None


@frozen
class MemberAssignment:
    """One member's assignment; `user_data` passes from the leader's assignor to the member's."""

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The numbers of the partitions, in their order, below their topics, in the order of appearance."""
    topics: dict[str, list[int]] = {}
    for partition in partitions:
        topics.setdefault(partition.topic, []).append(partition.partition)
    return topics


def encode_subscription(subscription: MemberSubscription) -> bytes:
    """The bytes that stand beside an assignor's name in JoinGroup. Topics are sorted, as Java does, so that a member
    that joins again with the same wishes sends the same bytes and causes no rebalance."""
    version = ConsumerProtocolSubscription.valid_versions.highest
    owned = by_topic(sorted(subscription.owned_partitions))
    message = ConsumerProtocolSubscription(
        topics=sorted(subscription.topics),
        user_data=subscription.user_data,
        owned_partitions=[OwnedTopicPartition(topic=topic, partitions=numbers) for topic, numbers in owned.items()],
        generation_id=-1 if subscription.generation_id is None else subscription.generation_id,
        rack_id=subscription.rack_id or None,
    )
    return version.to_bytes(_VERSION_BYTES) + message.encode(version)


def decode_subscription(data: bytes, group_instance_id: str | None = None) -> MemberSubscription:
    """Reads a member's subscription of any version; raises `DecodeError` for other bytes."""
    version = _version_of(data, ConsumerProtocolSubscription.valid_versions.highest)
    message, _ = ConsumerProtocolSubscription.decode_from(data, _VERSION_BYTES, version)
    return MemberSubscription(
        topics=tuple(message.topics),
        user_data=message.user_data,
        owned_partitions=tuple(
            TopicPartition(owned.topic, number) for owned in message.owned_partitions for number in owned.partitions
        ),
        generation_id=message.generation_id if message.generation_id >= 0 else None,
        rack_id=message.rack_id or None,
        group_instance_id=group_instance_id,
    )


def encode_assignment(assignment: MemberAssignment) -> bytes:
    """The bytes that the leader puts into SyncGroup for one member."""
    version = ConsumerProtocolAssignment.valid_versions.highest
    topics = by_topic(assignment.partitions)
    message = ConsumerProtocolAssignment(
        assigned_partitions=[AssignedTopicPartition(topic=topic, partitions=topics[topic]) for topic in sorted(topics)],
        user_data=assignment.user_data,
    )
    return version.to_bytes(_VERSION_BYTES) + message.encode(version)


def decode_assignment(data: bytes) -> MemberAssignment:
    """Reads the leader's assignment; a member that the leader left out gets no bytes, which is an empty one."""
    if not data:
        return MemberAssignment()
    version = _version_of(data, ConsumerProtocolAssignment.valid_versions.highest)
    message, _ = ConsumerProtocolAssignment.decode_from(data, _VERSION_BYTES, version)
    partitions = (
        TopicPartition(assigned.topic, number)
        for assigned in message.assigned_partitions
        for number in assigned.partitions
    )
    return MemberAssignment(tuple(partitions), message.user_data)


def _version_of(data: bytes, newest: int) -> int:
    version = int.from_bytes(data[:_VERSION_BYTES], signed=True)
    if len(data) < _VERSION_BYTES or version < 0:
        raise DecodeError(f"no version of the consumer protocol: {bytes(data[:8])!r}")
    return min(version, newest)
