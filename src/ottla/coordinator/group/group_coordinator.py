"""The group coordinator of a broker: one method per API, whatever the kind of the group.

Finds the shard of a group (a partition of `__consumer_offsets`), runs the operation on it, and turns refusals into the
API's answer; `done` gets a response message in every case, once, within the call or later. What groups do is in the
shards' machines; leadership, loading and the high watermark go to `shards` directly.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar, cast

from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.config import GroupConfig
from ottla.coordinator.group.consumer.heartbeat import MemberHeartbeat
from ottla.coordinator.group.gathering import Gathering
from ottla.coordinator.group.group_kind import Join, Sync
from ottla.coordinator.group.group_machine import GroupMachine
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.listing import GroupFilter, ShardLook, list_in_pages
from ottla.coordinator.group.offsets.commit import CommitContext, commit, commit_transactional
from ottla.coordinator.group.offsets.deletion import DeletedTopic, delete, delete_of_topics
from ottla.coordinator.group.offsets.fetch import fetch
from ottla.coordinator.group.offsets.fetch_version import fetch_answer, groups_asked
from ottla.coordinator.group.offsets.plain_commit import PlainCommit
from ottla.coordinator.group.offsets.refusal import (
    refused_commit,
    refused_delete,
    refused_fetch,
    refused_transactional,
)
from ottla.coordinator.group.refusal import (
    join_answer,
    leave_answer,
    refused_consumer_description,
    refused_consumer_heartbeat,
    refused_deletion,
    refused_description,
    refused_heartbeat,
    refused_join,
    refused_leave,
    refused_sync,
)
from ottla.coordinator.group.request_check import check_group_id, check_heartbeat, check_join, check_sync_protocol
from ottla.coordinator.ports import MetadataView, TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult, Done
from ottla.coordinator.runtime.routing import partition_for
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.shard_set import ShardSet
from ottla.protocol.errors import ApiError, ErrorCode, NotCoordinatorError
from ottla.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from ottla.protocol.messages.consumer_group_describe import DescribedGroup as DescribedConsumerGroup
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from ottla.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.protocol.messages.list_groups import ListedGroup, ListGroupsRequest
from ottla.protocol.messages.offset_commit import OffsetCommitRequest
from ottla.protocol.messages.offset_delete import OffsetDeleteRequest
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponseGroup
from ottla.protocol.messages.sync_group import SyncGroupRequest
from ottla.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

R = TypeVar("R")

GroupOperation: TypeAlias = Callable[[GroupMachine, GroupsState, int], CoordinatorResult]
"""Decides with a shard's machine on its newest state, at a time in ms."""
_LIST_OF_MEMBERS_SINCE: Final = 3


class GroupCoordinator:
    """All groups whose partitions this broker leads."""

    def __init__(
        self,
        shards: ShardSet[GroupsState],
        partition_count: Callable[[], int],
        metadata: MetadataView,
        config: GroupConfig,
    ) -> None:
        """`partition_count` is that of `__consumer_offsets`. The shards' machines must be `GroupMachine`s."""
        self.shards: Final = shards
        self._partition_count: Final = partition_count
        self._metadata: Final = metadata
        self._config: Final = config

    def partition_for(self, group_id: str) -> int:
        """The partition that a group belongs to."""
        return partition_for(group_id, self._partition_count())

    def join_group(self, request: JoinGroupRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """JoinGroup; answered when the group's next generation starts."""

        def in_version(response: JoinGroupResponse) -> None:
            done(join_answer(response, caller.api_version))

        answer = partial(_answered, in_version, partial(refused_join, request))
        try:
            check_join(request, self._config.classic)
        except ApiError as refusal:
            answer(refusal)
            return
        join = Join(request, caller, answer)
        self._write(request.group_id, lambda machine, state, now: machine.join(state, join, now), answer, now_ms)

    def sync_group(self, request: SyncGroupRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """SyncGroup; answered when the leader has said who gets what."""
        answer = partial(_answered, done, refused_sync)
        try:
            check_sync_protocol(request, caller.api_version)
            check_group_id(request.group_id)
        except ApiError as refusal:
            answer(refusal)
            return
        sync = Sync(request, caller, answer)
        self._write(request.group_id, lambda machine, state, now: machine.sync(state, sync, now), answer, now_ms)

    def heartbeat(self, request: HeartbeatRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """Heartbeat."""
        answer = partial(_answered, done, refused_heartbeat)
        self._write_member(
            request.group_id, lambda machine, state, now: machine.heartbeat(state, request, now), answer, now_ms
        )

    def leave_group(self, request: LeaveGroupRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """LeaveGroup."""
        version = caller.api_version
        if version < _LIST_OF_MEMBERS_SINCE:
            request = LeaveGroupRequest(
                group_id=request.group_id, members=[MemberIdentity(member_id=request.member_id)]
            )

        def in_version(response: LeaveGroupResponse) -> None:
            done(leave_answer(response, version))

        answer = partial(_answered, in_version, partial(refused_leave, request))
        self._write_member(
            request.group_id, lambda machine, state, now: machine.leave(state, request, now), answer, now_ms
        )

    def consumer_group_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, caller: GroupCaller, now_ms: int, done: Done
    ) -> None:
        """ConsumerGroupHeartbeat; nothing is hidden from the caller."""
        answer = partial(_answered, done, refused_consumer_heartbeat)
        try:
            check_heartbeat(request, caller.api_version, self._config.consumer.assignors)
        except ApiError as refusal:
            answer(refusal)
            return
        beat = MemberHeartbeat(request, caller)
        self._write(
            request.group_id,
            lambda machine, state, now: machine.consumers.member_heartbeat(state, beat, now),
            answer,
            now_ms,
        )

    def consumer_group_describe(
        self, request: ConsumerGroupDescribeRequest, caller: GroupCaller, now_ms: int, done: Done
    ) -> None:
        """ConsumerGroupDescribe; authorised operations are for the caller to fill in."""
        # As Kafka: what can be no group is answered for before anything is looked up.
        groups = [self._describe_consumer(group_id) for group_id in sorted(request.group_ids, key=bool)]
        done(ConsumerGroupDescribeResponse(groups=groups))

    def list_groups(self, request: ListGroupsRequest) -> Iterator[list[ListedGroup]]:
        """ListGroups: the groups that this broker has now, a page at a time; others may have a turn between two pages.

        Refuses if some are still being loaded: the list would lack them.
        """
        looks: list[ShardLook] = []
        for shard in self.shards:
            with suppress(NotCoordinatorError):
                looks.append(shard.read(partial(ShardLook, _machine(shard))))
        return list_in_pages(looks, GroupFilter.parse(request.states_filter, request.types_filter))

    def describe_groups(self, request: DescribeGroupsRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """DescribeGroups, of classic groups; authorised operations are for the caller to fill in."""
        done(DescribeGroupsResponse(groups=[self._describe(group_id, caller) for group_id in request.groups]))

    def delete_groups(self, request: DeleteGroupsRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """DeleteGroups: empty groups of any kind, with their offsets."""

        def finish(results: list[DeletableGroupResult]) -> None:
            done(DeleteGroupsResponse(results=results))

        group_ids = list(dict.fromkeys(request.groups_names))
        gathering = Gathering(len(group_ids), finish)
        for index, group_id in enumerate(group_ids):
            answer = partial(_answered, gathering.place(index), partial(refused_deletion, group_id))
            self._write(group_id, partial(_delete_group, group_id), answer, now_ms)

    def offset_commit(self, request: OffsetCommitRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """OffsetCommit, of topics by name."""

        def operation(machine: GroupMachine, state: GroupsState, now: int) -> CoordinatorResult:
            return commit(machine.rules(state, request.group_id), request, self._context(caller, now))

        self._write(request.group_id, operation, _by_code(done, partial(refused_commit, request)), now_ms)

    def take_plain_commit(self, partition: int, plain: PlainCommit) -> bool:
        """OffsetCommit on the short way, to a group of `partition`; False, with nothing done, if it is not plain.

        What it sets timers for is taken, and so appended before anybody has to look at them.
        """
        shard = self.shards.find_active(partition)
        if shard is None:
            return False
        now_ms = plain.now_ms
        if not _machine(shard).takes_commit(shard.state, plain.group_id, plain.claim, now_ms):
            return False
        shard.write_encoded(plain, now_ms)
        return True

    @property
    def offset_metadata_max_bytes(self) -> int:
        """The maximal size of an offset's metadata."""
        return self._config.offset_metadata_max_bytes

    def txn_offset_commit(
        self, request: TxnOffsetCommitRequest, caller: GroupCaller, producer: TransactionalProducer,
        now_ms: int, done: Done,
    ) -> None:  # fmt: skip
        """TxnOffsetCommit: counts once the transaction is committed (`write_marker`)."""
        answer = _by_code(done, partial(refused_transactional, request))
        try:
            check_group_id(request.group_id)
            shard = self._shard(request.group_id)
        except ApiError as refusal:
            answer(refusal)
            return
        machine = _machine(shard)

        def operation(state: GroupsState, now: int) -> CoordinatorResult:
            rules = machine.rules(state, request.group_id)
            return commit_transactional(rules, request, self._metadata, self._context(caller, now))

        shard.write_transactional(operation, producer, answer, now_ms)

    def write_marker(self, partition: int, marker: TransactionMarker, now_ms: int, done: Done) -> None:
        """The end of a transaction that has offsets in a partition; `done` gets None or the log's error."""
        self.shards.write_marker(partition, marker, done, now_ms)

    def offset_fetch(self, request: OffsetFetchRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """OffsetFetch, of topics by name."""
        version = caller.api_version

        def finish(groups: list[OffsetFetchResponseGroup]) -> None:
            done(fetch_answer(groups, version))

        asked = groups_asked(request, version)
        gathering = Gathering(len(asked), finish)
        for index, group in enumerate(asked):
            answer = _by_code(gathering.place(index), partial(_refused_fetch, group, version))
            if request.require_stable:
                self._write(group.group_id, partial(_fetch_stable, group), answer, now_ms)
            else:
                answer(self._fetch(group))

    def offset_delete(self, request: OffsetDeleteRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
        """OffsetDelete, of topics that exist."""

        def operation(machine: GroupMachine, state: GroupsState, now: int) -> CoordinatorResult:
            return delete(state.offsets, machine.rules(state, request.group_id), request)

        self._write_member(request.group_id, operation, _by_code(done, refused_delete), now_ms)

    def topics_changed(self, deleted: Iterable[DeletedTopic], changed: frozenset[str], now_ms: int) -> None:
        """The cluster's metadata moved on: offsets of deleted topics go, and groups hear which topics changed.

        Shards that are being loaded do the first when they are; a write that fails is tried again.
        """
        topics = tuple(deleted)
        names = changed | {topic.name for topic in topics}
        for shard in self.shards:
            if topics:
                shard.timers.set(("topics deleted", topics), now_ms, partial(_forget_topics, topics))
            if names:
                _machine(shard).topics_changed(shard.state, names)

    def _context(self, caller: GroupCaller, now_ms: int) -> CommitContext:
        return CommitContext(caller.api_version, now_ms, self._config.offset_metadata_max_bytes)

    def _describe(self, group_id: str, caller: GroupCaller) -> DescribedGroup:
        try:
            shard = self._shard(group_id)
            classic = _machine(shard).classic
            return shard.read(lambda state: classic.describe(state, group_id, caller.api_version))
        except ApiError as refusal:
            return refused_description(group_id, refusal)

    def _describe_consumer(self, group_id: str) -> DescribedConsumerGroup:
        try:
            check_group_id(group_id)
            shard = self._shard(group_id)
            consumers = _machine(shard).consumers
            return shard.read(lambda state: consumers.describe(state, group_id))
        except ApiError as refusal:
            return refused_consumer_description(group_id, refusal)

    def _fetch(self, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup | ApiError:
        try:
            shard = self._shard(group.group_id)
            machine = _machine(shard)
            return shard.read(
                lambda state: fetch(state.offsets, machine.rules(state, group.group_id), group, require_stable=False)
            )
        except ApiError as refusal:
            return refusal

    def _shard(self, group_id: str) -> Shard[GroupsState]:
        return self.shards.get(self.partition_for(group_id))

    def _write_member(self, group_id: str, operation: GroupOperation, answer: Done, now_ms: int) -> None:
        """Like `_write`, for APIs that know no empty group id."""
        try:
            check_group_id(group_id)
        except ApiError as refusal:
            answer(refusal)
        else:
            self._write(group_id, operation, answer, now_ms)

    def _write(self, group_id: str, operation: GroupOperation, answer: Done, now_ms: int) -> None:
        try:
            shard = self._shard(group_id)
        except ApiError as refusal:
            answer(refusal)
        else:
            shard.write(partial(operation, _machine(shard)), answer, now_ms)


def _machine(shard: Shard[GroupsState]) -> GroupMachine:
    return cast(GroupMachine, shard.machine)


def _answered(done: Done, refuse: Callable[[ApiError], Any], result: Any) -> None:
    """Hands on a response, or the one that says why there is none."""
    done(refuse(result) if isinstance(result, ApiError) else result)


def _by_code(done: Done, refuse: Callable[[int], Any]) -> Done:
    """Refusals for an answer that takes only the error's code."""
    return partial(_answered, done, lambda error: refuse(error.code))


def _refused_fetch(group: OffsetFetchRequestGroup, api_version: int, code: int) -> OffsetFetchResponseGroup:
    return refused_fetch(group, code, api_version)


def _fetch_stable(
    group: OffsetFetchRequestGroup, machine: GroupMachine, state: GroupsState, now_ms: int
) -> CoordinatorResult:
    rules = machine.rules(state, group.group_id)
    return CoordinatorResult((), fetch(state.offsets, rules, group, require_stable=True))


def _delete_group(group_id: str, machine: GroupMachine, state: GroupsState, now_ms: int) -> CoordinatorResult:
    response = DeletableGroupResult(group_id=group_id, error_code=ErrorCode.NONE)
    return CoordinatorResult(machine.delete(state, group_id), response, is_atomic=False)


def _forget_topics(topics: Sequence[DeletedTopic], state: GroupsState, now_ms: int) -> CoordinatorResult:
    return CoordinatorResult(delete_of_topics(state.offsets, topics), is_atomic=False)
