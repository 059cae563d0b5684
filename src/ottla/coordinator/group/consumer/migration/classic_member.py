"""Members of a consumer group that speak the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

The coordinator assigns to them as to all other members. A join gives a member its epoch as the generation, a sync its
partitions; a heartbeat tells it to join again when it has something to give up or to get. A join, and a sync after it,
must follow within the rebalance timeout.
"""

from typing import TYPE_CHECKING, Final

from ottla.coordinator.group.classic.joiner import join_reason, joining_member
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.assignment.regex_refresh import RegexChange, RegexRefresh
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.entry import Entry
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.leave import Leaving
from ottla.coordinator.group.consumer.member import ClassicSide, ConsumerMember, MemberState
from ottla.coordinator.group.consumer.member_check import find_member
from ottla.coordinator.group.consumer.member_timer import JOIN, SESSION, SYNC
from ottla.coordinator.group.consumer.migration.downgrade import Downgrade
from ottla.coordinator.group.consumer.migration.embedded import (
    PROTOCOL_TYPE,
    assignment_bytes,
    owned_partitions,
    read_subscription,
)
from ottla.coordinator.group.group_kind import Join, Sync
from ottla.coordinator.group.rebalance_reason import RebalanceReason, topic_change
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.consumer_protocol import ConsumerProtocolSubscription
from ottla.protocol.errors import (
    ApiError,
    DecodeError,
    ErrorCode,
    IllegalGenerationError,
    InconsistentGroupProtocolError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.join_group import JoinGroupResponse
from ottla.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

_MEMBER_ID_REQUIRED_SINCE: Final = 4
_NO_MIGRATION: Final = "disabled"


class ClassicMembers:
    """The classic protocol's APIs on consumer groups."""

    def __init__(self, membership: Membership, regexes: RegexRefresh, entry: Entry, leaving: Leaving) -> None:
        self._membership: Final = membership
        self._regexes: Final = regexes
        self._entry: Final = entry
        self._leaving: Final = leaving

    def join(self, state: "GroupsState", join: Join, downgrade: Downgrade, now_ms: int) -> CoordinatorResult:
        """JoinGroup; answered at once, as members do not wait for each other here."""
        request = join.request
        group = _group(state, request.group_id)
        if self._membership.context.config.consumer.migration_policy == _NO_MIGRATION:
            raise InconsistentGroupProtocolError("The group's protocol may not change.")
        member_id = request.member_id or self._entry.new_member_id()
        self._entry.check_room(group, member_id)
        favourite = _check_protocols(group, join)
        if not request.member_id and request.group_instance_id is None and _needs_id(join):
            return CoordinatorResult(
                (), JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, protocol_name=None, member_id=member_id)
            )
        draft = Draft(request.group_id, group, ResultBuilder(now_ms))
        before = self._member(draft, join, member_id)
        subscription = _subscription(favourite)
        _check_claim(group, join, subscription)
        replaced = group.static_member(request.group_instance_id)
        turns_classic = replaced is not None and downgrade.is_due_for(group, replaced)
        member = _said(before, join, subscription)
        is_changed = self._subscribe(draft, before, member, join)
        if turns_classic:
            member = self._turn_classic(draft, member, subscription, downgrade, is_changed=is_changed)
        else:
            self._membership.assign(draft)
            member = self._reconcile(draft, member, subscription, is_changed=is_changed)
            draft.later(lambda: self._wait_for_sync(draft, member))
        return draft.outcome(_joined(member))

    def sync(self, state: "GroupsState", sync: Sync, now_ms: int) -> CoordinatorResult:
        """SyncGroup."""
        request = sync.request
        group = _group(state, request.group_id)
        member, classic = _classic(group, request)
        _check_protocol(classic, request)
        if group.assignment_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED:
            self._wait_for_join(request.group_id, member, now_ms)
            raise RebalanceInProgressError("The group has a new assignment: the member must join again.")
        timers = self._membership.timers
        timers.cancel(SYNC, request.group_id, member.member_id)
        timers.set(SESSION, request.group_id, member.member_id, now_ms + classic.session_timeout_ms)
        assignment = {topic_id: frozenset(partitions) for topic_id, partitions in member.assigned.items()}
        response = SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=assignment_bytes(assignment, self._membership.context.metadata, classic.protocols[0][1]),
        )
        return CoordinatorResult((), response)

    def heartbeat(self, state: "GroupsState", request: HeartbeatRequest, now_ms: int) -> CoordinatorResult:
        """Heartbeat."""
        group = _group(state, request.group_id)
        member, classic = _classic(group, request)
        end_ms = now_ms + classic.session_timeout_ms
        self._membership.timers.set(SESSION, request.group_id, member.member_id, end_ms)
        must_join = (
            member.member_epoch < group.assignment_epoch
            or member.state is MemberState.UNREVOKED
            or (member.state is MemberState.UNRELEASED and not _is_waiting(group, member))
        )
        if must_join:
            self._wait_for_join(request.group_id, member, now_ms)
        code = ErrorCode.REBALANCE_IN_PROGRESS if must_join else ErrorCode.NONE
        return CoordinatorResult((), HeartbeatResponse(error_code=code))

    def leave(self, state: "GroupsState", request: LeaveGroupRequest, now_ms: int) -> CoordinatorResult:
        """LeaveGroup; any member may be named, whatever protocol it speaks."""
        group = _group(state, request.group_id)
        draft = Draft(request.group_id, group, ResultBuilder(now_ms))
        leaving: dict[str, ConsumerMember] = {}
        answers = []
        for identity in request.members:
            answer = MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id)
            try:
                member = _leaver(request.group_id, group, identity)
                leaving[member.member_id] = member
            except ApiError as error:
                answer.error_code = error.code
            answers.append(answer)
        if leaving:
            detail = f"{', '.join(leaving)} left"
            self._leaving.remove(draft, list(leaving.values()), RebalanceReason.MEMBER_LEFT, detail)
        return draft.outcome(LeaveGroupResponse(members=answers))

    def _member(self, draft: Draft, join: Join, member_id: str) -> ConsumerMember:
        instance_id = join.request.group_instance_id
        if instance_id is None:
            return draft.group.members.get(member_id) or ConsumerMember(member_id)
        if join.request.member_id:
            return find_member(draft.group_id, draft.group, member_id, instance_id)
        former = draft.group.static_member(instance_id)
        return ConsumerMember(member_id) if former is None else self._entry.take_over(draft, former, member_id)

    def _subscribe(self, draft: Draft, before: ConsumerMember, member: ConsumerMember, join: Join) -> bool:
        is_new = before.member_id not in draft.group.members
        has_other_names = self._membership.subscribe(draft, before, member)
        change = self._regexes.update(draft, before, member)
        is_changed = has_other_names or change is not RegexChange.NONE
        reason = RebalanceReason.MEMBER_JOINED if is_new else RebalanceReason.METADATA_CHANGED
        what = "joined" if is_new else f"changed, {topic_change(before.topic_names, member.topic_names)}"
        detail = f"member {member.member_id} {what}; {join_reason(join)}"
        self._membership.refresh(draft, reason if is_changed else None, detail)
        return is_changed

    def _turn_classic(
        self,
        draft: Draft,
        member: ConsumerMember,
        subscription: ConsumerProtocolSubscription,
        downgrade: Downgrade,
        *,
        is_changed: bool,
    ) -> ConsumerMember:
        if draft.group.assignment_epoch >= draft.group.epoch:
            member = self._reconcile(draft, member, subscription, is_changed=is_changed)
        downgrade.with_all(draft)
        return member

    def _reconcile(
        self,
        draft: Draft,
        member: ConsumerMember,
        subscription: ConsumerProtocolSubscription,
        *,
        is_changed: bool,
    ) -> ConsumerMember:
        owned = owned_partitions(subscription, self._membership.context.metadata)
        return self._membership.reconcile(draft, member, owned, has_subscription_changed=is_changed)

    def _wait_for_join(self, group_id: str, member: ConsumerMember, now_ms: int) -> None:
        end_ms = now_ms + member.rebalance_timeout_ms
        self._membership.timers.set_if_absent(JOIN, group_id, member.member_id, end_ms)

    def _wait_for_sync(self, draft: Draft, member: ConsumerMember) -> None:
        timers, group_id, now_ms = self._membership.timers, draft.group_id, draft.now_ms
        timers.cancel(JOIN, group_id, member.member_id)
        if member.classic is not None:
            timers.set(SESSION, group_id, member.member_id, now_ms + member.classic.session_timeout_ms)
        timers.set(SYNC, group_id, member.member_id, now_ms + member.rebalance_timeout_ms)


def _group(state: "GroupsState", group_id: str) -> ConsumerGroup:
    group = state.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        raise UnknownMemberIdError(f"Group {group_id} is not a consumer group.")
    return group


def _needs_id(join: Join) -> bool:
    return join.caller.api_version >= _MEMBER_ID_REQUIRED_SINCE


def _check_protocols(group: ConsumerGroup, join: Join) -> bytes:
    """Refuses a member that shares no protocol with the other classic members; what its favourite says."""
    protocols = joining_member(join, "").protocols
    classic = [member.classic for member in group.members.values() if member.classic is not None]
    shared = [name for name, _ in protocols if all(name in dict(side.protocols) for side in classic)]
    if join.request.protocol_type != PROTOCOL_TYPE or not shared:
        raise InconsistentGroupProtocolError("The member's protocols are not those of the group.")
    return protocols[0][1]


def _subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    try:
        return read_subscription(metadata)
    except DecodeError as error:
        raise InconsistentGroupProtocolError(f"The member's subscription can't be read: {error}.") from error


def _said(before: ConsumerMember, join: Join, subscription: ConsumerProtocolSubscription) -> ConsumerMember:
    said = joining_member(join, before.member_id)
    return before._replace(
        instance_id=said.instance_id or before.instance_id,
        rack_id=subscription.rack_id or before.rack_id,
        rebalance_timeout_ms=said.rebalance_timeout_ms,
        topic_names=frozenset(subscription.topics),
        topic_regex="",
        client_id=said.client_id,
        client_host=said.client_host,
        classic=ClassicSide(said.session_timeout_ms, said.protocols),
    )


def _joined(member: ConsumerMember) -> JoinGroupResponse:
    protocol = None if member.classic is None else member.classic.protocols[0][0]
    return JoinGroupResponse(
        generation_id=member.member_epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=protocol,
        member_id=member.member_id,
    )


def _classic(group: ConsumerGroup, request: SyncGroupRequest | HeartbeatRequest) -> tuple[ConsumerMember, ClassicSide]:
    member = find_member(request.group_id, group, request.member_id, request.group_instance_id)
    if member.classic is None:
        raise UnknownMemberIdError(f"Member {request.member_id} does not speak the classic protocol.")
    if member.member_epoch != request.generation_id:
        raise IllegalGenerationError(f"The member is in generation {member.member_epoch}, not {request.generation_id}.")
    return member, member.classic


def _check_protocol(classic: ClassicSide, request: SyncGroupRequest) -> None:
    if request.protocol_type not in (None, PROTOCOL_TYPE):
        raise InconsistentGroupProtocolError(f"The group's protocol type is {PROTOCOL_TYPE}.")
    if request.protocol_name not in (None, classic.protocols[0][0]):
        raise InconsistentGroupProtocolError(f"The member was told to speak {classic.protocols[0][0]}.")


def _is_waiting(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether all that a member still lacks is in the hands of others, so that a join would bring it nothing."""
    for topic_id, partitions in group.target(member.member_id).items():
        owned = member.assigned.get(topic_id, {})
        if any(partition not in owned and (topic_id, partition) in group.owners for partition in partitions):
            return True
    return False


def _check_claim(group: ConsumerGroup, join: Join, subscription: ConsumerProtocolSubscription) -> None:
    """Refuses a member that was removed and still believes to own partitions.

    Others may have got them meanwhile and read on: were it given one of them again it would go on from its old
    position, and commit that. Told that it is unknown it gives them up and joins as a new member. Apache Kafka takes
    it in under its old id.
    """
    request = join.request
    is_known = not request.member_id or request.member_id in group.members
    if request.group_instance_id is None and not is_known and subscription.owned_partitions:
        raise UnknownMemberIdError(f"Member {request.member_id} is not a member of group {request.group_id}.")


def _leaver(group_id: str, group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    """A static member may be named by its instance alone, as tools do."""
    member_id, instance_id = identity.member_id, identity.group_instance_id
    if instance_id is not None and not member_id:
        member_id = group.static_members.get(instance_id, "")
    return find_member(group_id, group, member_id, instance_id)
