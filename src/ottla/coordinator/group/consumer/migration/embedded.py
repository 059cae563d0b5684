"""The consumers' content of classic JoinGroup and SyncGroup, as brokers read and write it.

Before each message stands its version; a newer one than we know is read as the newest that we know.
"""

import struct
from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment
from ottla.coordinator.group.consumer.assignment.reconciliation import Reported
from ottla.coordinator.ports import MetadataView
from ottla.protocol.consumer_protocol import (
    AssignedTopicPartition,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from ottla.protocol.errors import DecodeError

PROTOCOL_TYPE: Final = "consumer"
_NEWEST: Final = 3


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """A member's subscription; raises `DecodeError` if it can't be read."""
    return ConsumerProtocolSubscription.decode_from(data, 2, _version(data))[0]


def read_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """A member's assignment; empty if it has none yet."""
    if not data:
        return ConsumerProtocolAssignment()
    return ConsumerProtocolAssignment.decode_from(data, 2, _version(data))[0]


def assignment_bytes(assignment: Assignment, metadata: MetadataView, subscription: bytes) -> bytes:
    """An assignment for a member, in the version of its subscription; topics that are gone are left out."""
    topics = [
        AssignedTopicPartition(topic=topic.name, partitions=sorted(partitions))
        for topic_id, partitions in assignment.items()
        if (topic := metadata.topic_by_id(topic_id)) is not None
    ]
    version = _version(subscription)
    return struct.pack(">h", version) + ConsumerProtocolAssignment(assigned_partitions=topics).encode(version)


def assigned_partitions(assignment: ConsumerProtocolAssignment, metadata: MetadataView) -> Assignment:
    """An assignment by topic ids."""
    return {
        topic.id: frozenset(assigned.partitions)
        for assigned in assignment.assigned_partitions
        if assigned.partitions and (topic := metadata.topic(assigned.topic)) is not None
    }


def owned_partitions(subscription: ConsumerProtocolSubscription, metadata: MetadataView) -> Reported:
    """The partitions that a member claims; members that don't rebalance cooperatively own none when they join."""
    owned: dict[Uuid, frozenset[int]] = {}
    for claim in subscription.owned_partitions:
        topic = metadata.topic(claim.topic)
        if topic is not None:
            owned[topic.id] = frozenset(claim.partitions)
    return owned


def _version(data: bytes) -> int:
    if len(data) < 2:
        raise DecodeError("needs 2 bytes for its version", path="consumer protocol", position=0)
    (version,) = struct.unpack_from(">h", data)
    if version < 0:
        raise DecodeError(f"has no version {version}", path="consumer protocol", position=0)
    return min(int(version), _NEWEST)
