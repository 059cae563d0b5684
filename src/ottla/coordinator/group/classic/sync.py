"""SyncGroup on classic groups: the leader's assignment is written, then each member gets its share.

The group is stable once the record is committed and not before, so that no member works on an assignment that the next
coordinator would not know. If it can't be written, all members get an error and join again.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ottla.coordinator.group.classic.answer import synced_answer
from ottla.coordinator.group.classic.group import ClassicMember, group_record
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.rebalance import Rebalancer
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.group.group_kind import Sync
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.coordinator.runtime.coordinator_result import DEFERRED, CoordinatorResult, Done
from ottla.protocol.errors import (
    ApiError,
    IllegalGenerationError,
    InconsistentGroupProtocolError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from ottla.protocol.messages.sync_group import SyncGroupRequest

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState


class _Assignment(NamedTuple):
    """A leader's assignment, until it is committed."""

    group: LiveGroup
    generation: int
    members: dict[str, ClassicMember]


class Syncing:
    """Hands out assignments."""

    def __init__(self, rebalancer: Rebalancer) -> None:
        self._rebalancer: Final = rebalancer

    def sync(self, state: "GroupsState", sync: Sync, now_ms: int) -> CoordinatorResult:
        """The operation."""
        result = ResultBuilder(now_ms)
        request = sync.request
        group = self._rebalancer.groups.find(state, request.group_id, result)
        if group is None or group.state is ClassicState.EMPTY:
            raise UnknownMemberIdError
        _validate(group, request)
        if group.state is ClassicState.PREPARING_REBALANCE:
            raise RebalanceInProgressError
        self._rebalancer.sync_received(group, request.member_id)
        if group.state is ClassicState.STABLE:
            return result.build(synced_answer(group, request.member_id))
        return result.build(self._wait(group, sync, result))

    def _wait(self, group: LiveGroup, sync: Sync, result: ResultBuilder) -> Any:
        member_id = sync.request.member_id
        former: Done | None = group.syncing.get(member_id)
        if former is not None:
            # The sender of that one has given it up, or should join again.
            result.answer(former, RebalanceInProgressError())
        group.syncing[member_id] = sync.done
        if group.leader == member_id and not group.is_storing:
            # One assignment for a generation: a leader that asks again gets the one that is on its way.
            self._assign(group, sync.request, result)
        return DEFERRED

    def _assign(self, group: LiveGroup, request: SyncGroupRequest, result: ResultBuilder) -> None:
        """Writes the leader's assignment; who is not in it gets nothing."""
        shares = {share.member_id: bytes(share.assignment) for share in request.assignments}
        members = {
            member_id: member._replace(assignment=shares.get(member_id, b""))
            for member_id, member in group.members.items()
        }
        stored = group.stored()._replace(members=tuple(members.values()))
        group.is_storing = True
        assignment = _Assignment(group, group.generation, members)
        result.write(group_record(group.group_id, stored), partial(self._stored, assignment))

    def _stored(self, assignment: _Assignment, error: ApiError | None) -> None:
        """Unless the group went on to something else meanwhile, this ends its rebalance."""
        group = assignment.group
        if group.state is not ClassicState.COMPLETING_REBALANCE or group.generation != assignment.generation:
            return
        group.is_storing = False
        now_ms = self._rebalancer.groups.now_ms
        if error is None:
            group.members.update(assignment.members)
            group.transition(ClassicState.STABLE, now_ms)
        else:
            self._rebalancer.reset_assignments(group)
            detail = f"the assignment of leader {group.leader} could not be written: {error}"
            self._rebalancer.rebalance_soon(group.group_id, RebalanceReason.STORE_FAILED, detail)
        answers: list[tuple[Done, Any]] = []
        for member_id, done in group.syncing.items():
            self._rebalancer.extend_session(group, member_id, now_ms)
            answers.append((done, synced_answer(group, member_id) if error is None else error))
        group.syncing.clear()
        # Last: what is called may be a client that comes with its next request.
        for done, answer in answers:
            done(answer)


def _validate(group: LiveGroup, request: SyncGroupRequest) -> None:
    group.validate_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise IllegalGenerationError
    for said, present in ((request.protocol_type, group.protocol_type), (request.protocol_name, group.protocol)):
        if said is not None and present is not None and said != present:
            raise InconsistentGroupProtocolError
