"""A classic group as the log has it: immutable, and changed by its record alone.

The record holds the whole group (`ottla.protocol.group_log.classic`), so replaying one is making the value anew. What
happens between two records (who waits, who is still to join) is in `live_group` and dies with the coordinator.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ottla.coordinator.group.group_state import GroupType
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.group_log.classic import GroupMetadataKey, GroupMetadataValue, MemberMetadata

RECORD_VERSION: Final = 3
"""The version that Kafka writes: v4 is only read, so that an older broker can take the group over."""
NO_TIMESTAMP_MS: Final = -1


class ClassicMember(NamedTuple):
    """A member, with the protocols that it speaks, its favourite first; the log keeps only the chosen one."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    assignment: bytes = b""

    def metadata(self, protocol: str) -> bytes:
        """The member's metadata for that protocol; empty if it does not support it."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    def vote(self, candidates: Iterable[str]) -> str | None:
        """The member's favourite among the candidates."""
        return next((name for name, _ in self.protocols if name in candidates), None)


class ClassicGroup(NamedTuple):
    """A group as it was last written; without members it is Empty, else Stable."""

    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    state_timestamp_ms: int = NO_TIMESTAMP_MS
    """When the group got into its state; offsets of an empty group expire from then on (KIP-211)."""
    members: tuple[ClassicMember, ...] = ()

    @property
    def type(self) -> GroupType:
        """Which kind takes care of it."""
        return GroupType.CLASSIC


SIMPLE_GROUP: Final = ClassicGroup()
"""A group that only has offsets: no member ever joined it, and no record of its own speaks of it."""


def group_record(group_id: str, group: ClassicGroup) -> CoordinatorRecord:
    """The record that makes the group so."""
    chosen = group.protocol or ""
    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(chosen),
            assignment=member.assignment,
        )
        for member in group.members
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=group.state_timestamp_ms,
        members=members,
    )
    return CoordinatorRecord(GroupMetadataKey(group=group_id), value, RECORD_VERSION)


def group_tombstone(group_id: str) -> CoordinatorRecord:
    """The record that forgets the group."""
    return CoordinatorRecord(GroupMetadataKey(group=group_id), None, -1)


def stored_group(value: GroupMetadataValue) -> ClassicGroup:
    """The group that a record speaks of."""
    return ClassicGroup(
        generation=value.generation,
        protocol_type=value.protocol_type or None,
        protocol=value.protocol,
        leader=value.leader,
        state_timestamp_ms=value.current_state_timestamp,
        members=tuple(_stored_member(value.protocol or "", member) for member in value.members),
    )


def _stored_member(protocol: str, member: MemberMetadata) -> ClassicMember:
    has_timeout = member.rebalance_timeout != -1  # Records of v0 have none.
    return ClassicMember(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout,
        rebalance_timeout_ms=member.rebalance_timeout if has_timeout else member.session_timeout,
        protocols=((protocol, bytes(member.subscription)),),
        assignment=bytes(member.assignment),
    )
