"""JoinGroup on classic groups.

A new dynamic member is first given an id to come back with (KIP-394), so that a client that retries does not leave a
trail of members behind; a static one is known by its instance id, and one that comes back takes over its former self
(KIP-345), without a rebalance if the group is stable and goes on with the same protocol.

A group that does not exist is made by the first join without a member id, and written at once, even if its protocols
are refused.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ottla.base.chance import Chance
from ottla.coordinator.group.classic.answer import joined_answer
from ottla.coordinator.group.classic.group import ClassicGroup, ClassicMember, group_record
from ottla.coordinator.group.classic.joiner import join_reason, joining_member, joining_protocols
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.rebalance import Rebalancer
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.group.classic.static_return import StaticReturn
from ottla.coordinator.group.classic.subscription import subscribed_topics
from ottla.coordinator.group.group_kind import Join
from ottla.coordinator.group.rebalance_reason import RebalanceReason, topic_change
from ottla.coordinator.runtime.coordinator_result import DEFERRED, CoordinatorResult, Done
from ottla.protocol.errors import (
    ApiError,
    ErrorCode,
    InconsistentGroupProtocolError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    UnknownServerError,
)
from ottla.protocol.messages.join_group import JoinGroupResponse

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

_MEMBER_ID_REQUIRED_VERSION: Final = 4
_UUID_VERSION_4 = 0x4000
_UUID_VARIANT = 0x8000


class Joining:
    """Lets members in."""

    def __init__(self, rebalancer: Rebalancer, chance: Chance) -> None:
        self._rebalancer: Final = rebalancer
        self._groups: Final = rebalancer.groups
        self._chance: Final = chance
        self._static_return: Final = StaticReturn(rebalancer)

    def join(self, state: "GroupsState", join: Join, result: ResultBuilder) -> CoordinatorResult:
        """The operation; `result` may hold records that make room for the group, of one of another kind."""
        group_id, member_id = join.request.group_id, join.request.member_id
        group = self._groups.find(state, group_id, result)
        if group is None:
            if member_id:
                raise UnknownMemberIdError
            group = self._create(join, result)
        if not self._has_room(group, member_id):
            return result.build(self._turn_away(group, member_id, result))
        if not group.supports(join.request.protocol_type, [name for name, _ in joining_protocols(join)]):
            return result.build(InconsistentGroupProtocolError())
        response = self._join_known(group, join, result) if member_id else self._join_new(group, join, result)
        return result.build(response)

    def _create(self, join: Join, result: ResultBuilder) -> LiveGroup:
        stored = ClassicGroup(state_timestamp_ms=result.now_ms)
        group = self._groups.adopt(join.request.group_id, stored, result.now_ms)
        result.write(group_record(join.request.group_id, stored), partial(self._created, group))
        return group

    def _created(self, group: LiveGroup, error: ApiError | None) -> None:
        if error is None:
            self._groups.release(group)
            return
        for done, answer in self._groups.drop(group, error):
            done(answer)

    def _has_room(self, group: LiveGroup, member_id: str) -> bool:
        """While a rebalance is prepared those who have joined count, so that the last of too many are turned away."""
        size_max = self._rebalancer.config.max_size
        if group.state is ClassicState.EMPTY:
            return True
        if group.state is ClassicState.PREPARING_REBALANCE:
            return member_id in group.joining or len(group.joining) < size_max
        return member_id in group.members or len(group.members) < size_max

    def _turn_away(self, group: LiveGroup, member_id: str, result: ResultBuilder) -> JoinGroupResponse:
        self._rebalancer.remove(group, member_id, result)
        self._rebalancer.maybe_complete_join(group, result)
        return JoinGroupResponse(error_code=ErrorCode.GROUP_MAX_SIZE_REACHED, protocol_name=None)

    def _join_new(self, group: LiveGroup, join: Join, result: ResultBuilder) -> Any:
        instance_id = join.request.group_instance_id
        member_id = new_member_id(join.caller.client_id, instance_id, self._chance)
        if instance_id is not None:
            former_id = group.static_members.get(instance_id)
            if former_id is not None:
                self._static_return.take_over(group, join, member_id, result)
                return DEFERRED
        elif join.caller.api_version >= _MEMBER_ID_REQUIRED_VERSION:
            self._groups.keep(group)
            group.pending_members.add(member_id)
            self._groups.sessions.extend(group.group_id, member_id, result.now_ms + join.request.session_timeout_ms)
            return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, protocol_name=None, member_id=member_id)
        return self._add(group, join, member_id, result)

    def _join_known(self, group: LiveGroup, join: Join, result: ResultBuilder) -> Any:
        member_id, instance_id = join.request.member_id, join.request.group_instance_id
        if member_id in group.pending_members:
            if instance_id is not None:
                raise UnknownServerError("An id that was given to a dynamic member came back with an instance id")
            return self._add(group, join, member_id, result)
        group.validate_member(member_id, instance_id)
        is_same = group.members[member_id].protocols == joining_protocols(join)
        match group.state:
            case ClassicState.COMPLETING_REBALANCE if is_same:
                return joined_answer(group, member_id)
            case ClassicState.STABLE if is_same and group.leader != member_id:
                return joined_answer(group, member_id)
        return self._rejoin(group, join, is_same=is_same, result=result)

    def _add(self, group: LiveGroup, join: Join, member_id: str, result: ResultBuilder) -> Any:
        self._groups.keep(group)
        group.has_grown = group.has_grown or group.is_in_initial_rebalance
        if not group.members:
            group.protocol_type = join.request.protocol_type
        group.add(joining_member(join, member_id))
        group.new_members.add(member_id)
        group.joining[member_id] = join.done
        timeout_ms = self._rebalancer.config.new_member_join_timeout_ms
        self._groups.sessions.extend(group.group_id, member_id, result.now_ms + timeout_ms)
        detail = f"member {member_id} joined; {join_reason(join)}"
        self._rebalancer.member_changed(group, RebalanceReason.MEMBER_JOINED, detail, result)
        return DEFERRED

    def _rejoin(self, group: LiveGroup, join: Join, *, is_same: bool, result: ResultBuilder) -> Any:
        member_id = join.request.member_id
        before = group.members[member_id]
        said = joining_member(join, member_id)
        group.update(
            before._replace(
                session_timeout_ms=said.session_timeout_ms,
                rebalance_timeout_ms=said.rebalance_timeout_ms,
                protocols=said.protocols,
            )
        )
        self._park(group, member_id, join.done, result)
        if is_same:
            reason, detail = RebalanceReason.LEADER_REJOINED, f"leader {member_id} joined again; {join_reason(join)}"
        else:
            what = _change(group, before, said)
            reason, detail = RebalanceReason.METADATA_CHANGED, f"member {member_id} changed{what}; {join_reason(join)}"
        self._rebalancer.member_changed(group, reason, detail, result)
        return DEFERRED

    def _park(self, group: LiveGroup, member_id: str, done: Done, result: ResultBuilder) -> None:
        """A join that takes the place of one that still waits: its sender has given it up, or should retry."""
        former = group.joining.get(member_id)
        if former is not None:
            result.answer(former, RebalanceInProgressError())
        group.joining[member_id] = done


def _change(group: LiveGroup, before: ClassicMember, said: ClassicMember) -> str:
    """Which topics a consumer wants and wanted; the metadata of other protocols is opaque."""
    if not group.is_of_consumers:
        return ""
    old, new = (subscribed_topics(group.group_id, [data for _, data in each.protocols]) for each in (before, said))
    return "" if old is None or new is None else f", {topic_change(old, new)}"


def new_member_id(client_id: str, instance_id: str | None, chance: Chance) -> str:
    """The instance id of a static member, or the client id, and a random UUID: `app-1b4e28ba-2fa1-41d2-883f-…`."""
    return f"{client_id if instance_id is None else instance_id}-{_random_uuid(chance)}"


def _random_uuid(chance: Chance) -> str:
    digits = bytearray(chance.randbytes(16))
    digits[6] = digits[6] & 0x0F | _UUID_VERSION_4 >> 8
    digits[8] = digits[8] & 0x3F | _UUID_VARIANT >> 8
    text = digits.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
