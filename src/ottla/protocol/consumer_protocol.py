"""The content of the opaque bytes of JoinGroup and SyncGroup in classic consumer groups.

On the wire a version (int16) stands before each. Members read a newer version by the newest layout they know and
ignore the rest, so fields are only ever appended; nothing here is flexible. The group's leader reads all
subscriptions and writes all assignments; brokers look inside only to see which topics a group is subscribed to, and
to take a member over into a consumer group.

Subscription: v1 adds the partitions owned, for cooperative rebalancing (KIP-429), v2 the generation in which they
were, -1 if unknown, so that a stale claim loses (KIP-792), v3 the rack (KIP-881). The assignment is the same in every
version. `user_data` belongs to the assignor.
"""

from ottla.protocol.definition import Message, Struct
from ottla.protocol.field import array, bytestring, int32, string


class OwnedTopicPartition(Struct):
    topic: str = string("1+")
    partitions: list[int] = array(int32, "1+")


class ConsumerProtocolSubscription(Message, versions="0-3"):
    topics: list[str] = array(string, "0+")
    user_data: bytes | None = bytestring("0+", nullable="0+", default=None)
    owned_partitions: list[OwnedTopicPartition] = array(OwnedTopicPartition, "1+", ignorable=True)
    generation_id: int = int32("2+", default=-1, ignorable=True)
    rack_id: str | None = string("3+", nullable="3+", default=None, ignorable=True)


class AssignedTopicPartition(Struct):
    topic: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class ConsumerProtocolAssignment(Message, versions="0-3"):
    assigned_partitions: list[AssignedTopicPartition] = array(AssignedTopicPartition, "0+")
    user_data: bytes | None = bytestring("0+", nullable="0+", default=None)
