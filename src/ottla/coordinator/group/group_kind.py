"""The interface of every kind of group to the coordinator.

A group in the replicated state is an immutable value that knows its type; a `GroupKind` is the code for all groups of
that type in one shard, with their soft state. APIs that are blind to the kind (offsets, list, delete) go through
these protocols; a new kind is one more entry in the machine's table.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.offsets.offset_rules import OffsetRules
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult, Done
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorRecord
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest
from ottla.protocol.messages.leave_group import LeaveGroupRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest


class GroupListing(NamedTuple):
    """A group's entry in ListGroups."""

    state_name: str
    protocol_type: str
    """`consumer`, `connect`; empty if only offsets are there."""


class GroupKind(Protocol):
    """The code for all groups of one type in a shard."""

    @property
    def key_types(self) -> Sequence[type[CoordinatorKey]]:
        """The keys of the records that are this kind's to replay."""
        ...

    def replay(self, state: GroupsState, record: CoordinatorRecord) -> GroupsState:
        """The state after one of this kind's records."""
        ...

    def loaded(self, state: GroupsState, now_ms: int) -> None:
        """Sets up timers and soft state of what was loaded."""
        ...

    def unloaded(self) -> None:
        """Forgets soft state; who waits in it is answered NOT_COORDINATOR."""
        ...

    def listing(self, state: GroupsState, group_id: str) -> GroupListing:
        """The group as ListGroups shows it."""
        ...

    def is_empty(self, state: GroupsState, group_id: str) -> bool:
        """Whether it has no members, so that it may be deleted or change its kind."""
        ...

    def deletion(self, state: GroupsState, group_id: str) -> Sequence[CoordinatorRecord]:
        """The tombstones that delete an empty group; its soft state is dropped at once."""
        ...

    def rules(self, state: GroupsState, group_id: str) -> OffsetRules:
        """The group's rules for its offsets."""
        ...


class TopicWatcher(Protocol):
    """A kind of group that must hear when topics change; groups that the brokers assign partitions to do."""

    def topics_changed(self, state: GroupsState, topics: frozenset[str]) -> None:
        """Topics of these names were made, deleted or given more partitions."""
        ...


class ClassicProtocol(Protocol):
    """A kind of group that members of the classic protocol may be in.

    `done` is for answers that come later; an operation that keeps it returns DEFERRED as its response.
    """

    def join(self, state: GroupsState, join: "Join", now_ms: int) -> CoordinatorResult:
        """JoinGroup."""
        ...

    def sync(self, state: GroupsState, sync: "Sync", now_ms: int) -> CoordinatorResult:
        """SyncGroup."""
        ...

    def heartbeat(self, state: GroupsState, request: HeartbeatRequest, now_ms: int) -> CoordinatorResult:
        """Heartbeat."""
        ...

    def leave(self, state: GroupsState, request: LeaveGroupRequest, now_ms: int) -> CoordinatorResult:
        """LeaveGroup, with the members in `request.members` in every version."""
        ...


class Join(NamedTuple):
    """A JoinGroup with who sent it and how to answer it."""

    request: JoinGroupRequest
    caller: GroupCaller
    done: Done


class Sync(NamedTuple):
    """A SyncGroup with who sent it and how to answer it."""

    request: SyncGroupRequest
    caller: GroupCaller
    done: Done
