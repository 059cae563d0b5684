"""Groups: lists of them, and their members."""

from typing import NamedTuple

from ottla.client.admin.value.acl import AclOperation
from ottla.client.admin.value.cluster import Node
from ottla.client.record import TopicPartition


class GroupListing(NamedTuple):
    """A group in a list. Type and state are empty from servers that don't tell."""

    group_id: str
    type: str
    """In Kafka's spelling: Classic, Consumer, Share, Streams."""
    protocol: str
    """The members' protocol type, `consumer` for consumers; empty for a group that only has offsets."""
    state: str

    @property
    def is_simple_consumer_group(self) -> bool:
        """Whether the group has no protocol: a client only stores offsets under its name."""
        return self.type == "Classic" and not self.protocol


class MemberDescription(NamedTuple):
    """A member of a consumer group."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicPartition]
    target_assignment: frozenset[TopicPartition] | None = None
    member_epoch: int | None = None
    is_upgraded: bool | None = None
    """Whether it speaks the consumer protocol (KIP-848); None if the server doesn't tell."""


class ConsumerGroupDescription(NamedTuple):
    """A group of consumers, of the classic or of the consumer type."""

    group_id: str
    is_simple: bool
    members: tuple[MemberDescription, ...]
    assignor: str
    type: str
    state: str
    coordinator: Node
    authorized_operations: frozenset[AclOperation] | None
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None


class ClassicGroupDescription(NamedTuple):
    """A group of the classic type, whatever its members speak; only consumers' assignments can be read."""

    group_id: str
    protocol: str
    protocol_data: str
    members: tuple[MemberDescription, ...]
    state: str
    coordinator: Node
    authorized_operations: frozenset[AclOperation] | None
