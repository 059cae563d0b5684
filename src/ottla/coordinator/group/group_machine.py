"""The state machine of one partition of `__consumer_offsets`.

Sends every record to the kind of group that it is about, and every request to the kind of the group that it names. A
kind is an entry in the machine's tables and nothing else here knows about it. Records of kinds that are not served
are passed over.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from ottla.base.buffer import Buffer
from ottla.base.frozen import frozen
from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.classic.group import SIMPLE_GROUP, ClassicGroup
from ottla.coordinator.group.classic.offset_check import is_from_outside
from ottla.coordinator.group.config import GroupConfig
from ottla.coordinator.group.group_expiry import GroupExpiry
from ottla.coordinator.group.group_kind import ClassicProtocol, GroupKind, Join, Sync, TopicWatcher
from ottla.coordinator.group.group_state import EMPTY_STATE, GroupsState, GroupType
from ottla.coordinator.group.offsets.deletion import delete_all
from ottla.coordinator.group.offsets.offset_codec import OffsetCodec
from ottla.coordinator.group.offsets.offset_rules import CommitClaim, OffsetRules
from ottla.coordinator.group.offsets.replay import replay_offset, replay_offset_marker
from ottla.coordinator.ports import KeyValue
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorRecord
from ottla.protocol.errors import (
    ApiError,
    GroupIdNotFoundError,
    InconsistentGroupProtocolError,
    NonEmptyGroupError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from ottla.protocol.group_log.offset import LegacyOffsetCommitKey, OffsetCommitKey
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest

if TYPE_CHECKING:
    from ottla.coordinator.group.consumer.consumer_groups import ConsumerGroups

_EXPIRY: Final = ("expiry",)


@frozen(kw_only=True)
class GroupKinds:
    """The kinds of groups that a machine serves, and in what roles; classic ones always are."""

    classic: ClassicGroups
    others: Mapping[GroupType, GroupKind] = field(default_factory=dict)
    with_classic_members: Mapping[GroupType, ClassicProtocol] = field(default_factory=dict)
    """The other kinds that members of the classic protocol may be in."""
    watchers: Sequence[TopicWatcher] = ()


class GroupMachine:
    """Groups and offsets of one shard; a `Machine[GroupsState]`."""

    def __init__(
        self,
        config: GroupConfig,
        timers: Timers,
        kinds: GroupKinds,
        consumers: "ConsumerGroups | None" = None,
        *,
        partition: int = 0,
    ) -> None:
        """`consumers` is the kind among the others that serves the consumer protocol."""
        self.classic: Final = kinds.classic
        self._consumers: Final = consumers
        self._timers: Final = timers
        self._expiry: Final = GroupExpiry(config, partition, self.kind)
        self._codec: Final = OffsetCodec()
        self._kinds: Final[dict[GroupType, GroupKind]] = {GroupType.CLASSIC: kinds.classic, **kinds.others}
        self._hosts: Final[dict[GroupType, ClassicProtocol]] = {
            GroupType.CLASSIC: kinds.classic,
            **kinds.with_classic_members,
        }
        self._watchers: Final = tuple(kinds.watchers)
        self._replays: Final[dict[type[CoordinatorKey], Callable[[GroupsState, CoordinatorRecord], GroupsState]]] = {
            key_type: kind.replay for kind in self._kinds.values() for key_type in kind.key_types
        }

    @property
    def consumers(self) -> "ConsumerGroups":
        """Consumer groups; `UnsupportedVersionError` if they are not served."""
        if self._consumers is None:
            raise UnsupportedVersionError
        return self._consumers

    def initial(self) -> GroupsState:
        """No groups and no offsets."""
        return EMPTY_STATE

    def replay(
        self, state: GroupsState, record: CoordinatorRecord, offset: int, producer_id: int, producer_epoch: int
    ) -> GroupsState:
        """The state after a record. An offset of a group without members makes the group."""
        key = record.key
        if isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey):
            groups, offsets = state
            if record.value is not None and key.group not in groups:
                groups = groups.set(key.group, SIMPLE_GROUP)
            return GroupsState(groups, replay_offset(offsets, record, offset, producer_id))
        replay = self._replays.get(type(key))
        return state if replay is None else replay(state, record)

    def replay_marker(
        self, state: GroupsState, producer_id: int, producer_epoch: int, *, committed: bool
    ) -> GroupsState:
        """The state after the end of a transaction."""
        return state._replace(offsets=replay_offset_marker(state.offsets, producer_id, committed=committed))

    def encode(self, record: CoordinatorRecord) -> KeyValue:
        """A record as it goes into the log."""
        return self._codec.encode(record)

    def decode(self, key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
        """A record from the log."""
        return self._codec.decode(key, value)

    def loaded(self, state: GroupsState, now_ms: int) -> None:
        """Sets up timers and soft state."""
        for kind in self._kinds.values():
            kind.loaded(state, now_ms)
        self._timers.set(_EXPIRY, now_ms + self._expiry.first_in_ms, self._expire)

    def unloaded(self) -> None:
        """Drops soft state and tells those who wait."""
        for kind in self._kinds.values():
            kind.unloaded()

    def kind(self, state: GroupsState, group_id: str) -> GroupKind | None:
        """The code for a group; None if there is no such group."""
        group = state.groups.get(group_id)
        return None if group is None else self._kinds[group.type]

    def rules(self, state: GroupsState, group_id: str) -> OffsetRules | None:
        """A group's rules for its offsets; None if there is no such group."""
        kind = self.kind(state, group_id)
        return None if kind is None else kind.rules(state, group_id)

    def takes_commit(self, state: GroupsState, group_id: str, claim: CommitClaim, now_ms: int) -> bool:
        """Whether a commit is taken as a whole and without a look at its partitions; False is no refusal yet."""
        group = state.groups.get(group_id)
        if group is None:
            return False
        if type(group) is ClassicGroup:
            if self.classic.groups.is_idle(group_id, group):
                return is_from_outside(claim)
            kind: GroupKind = self.classic
        else:
            kind = self._kinds[group.type]
        try:
            return kind.rules(state, group_id).validate_commit(claim, now_ms) is None
        except ApiError:
            return False

    def join(self, state: GroupsState, join: Join, now_ms: int) -> CoordinatorResult:
        """JoinGroup; an empty group of another kind that may have classic members makes room for a classic one."""
        group_id = join.request.group_id
        kind = self.kind(state, group_id)
        if kind is None or kind is self.classic:
            return self.classic.join(state, join, now_ms)
        host = self._hosts.get(state.groups[group_id].type)
        if host is None:
            raise InconsistentGroupProtocolError
        if kind.is_empty(state, group_id):
            if join.request.member_id:
                raise UnknownMemberIdError
            return self.classic.join_in_place(state, join, kind.deletion(state, group_id), now_ms)
        try:
            return host.join(state, join, now_ms)
        except ApiError as error:
            # Unlike a classic group, this one does not repeat whom it refuses.
            return CoordinatorResult((), JoinGroupResponse(error_code=error.code, protocol_name=None))

    def sync(self, state: GroupsState, sync: Sync, now_ms: int) -> CoordinatorResult:
        """SyncGroup."""
        return self._host(state, sync.request.group_id).sync(state, sync, now_ms)

    def heartbeat(self, state: GroupsState, request: HeartbeatRequest, now_ms: int) -> CoordinatorResult:
        """Heartbeat."""
        return self._host(state, request.group_id).heartbeat(state, request, now_ms)

    def leave(self, state: GroupsState, request: LeaveGroupRequest, now_ms: int) -> CoordinatorResult:
        """LeaveGroup."""
        return self._host(state, request.group_id).leave(state, request, now_ms)

    def delete(self, state: GroupsState, group_id: str) -> list[CoordinatorRecord]:
        """The tombstones of an empty group and all its offsets; refuses if it has members."""
        kind = self.kind(state, group_id)
        if kind is None:
            raise GroupIdNotFoundError(f"Group {group_id} not found.")
        if not kind.is_empty(state, group_id):
            raise NonEmptyGroupError
        return [*delete_all(state.offsets, group_id), *kind.deletion(state, group_id)]

    def topics_changed(self, state: GroupsState, topics: frozenset[str]) -> None:
        """Tells the kinds that want to know."""
        for watcher in self._watchers:
            watcher.topics_changed(state, topics)

    def _host(self, state: GroupsState, group_id: str) -> ClassicProtocol:
        group = state.groups.get(group_id)
        host = None if group is None else self._hosts.get(group.type)
        if host is None:
            raise UnknownMemberIdError(f"Group {group_id} not found.")
        return host

    def _expire(self, state: GroupsState, now_ms: int) -> CoordinatorResult:
        """Drops offsets whose time is over, and empty groups that have none left: some at a time."""
        records = self._expiry.expired(state, now_ms)
        self._timers.set(_EXPIRY, now_ms + self._expiry.next_in_ms, self._expire)
        return CoordinatorResult(records, is_atomic=False)
