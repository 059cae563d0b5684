"""A static member that comes back under a new id (KIP-345).

Its former self is fenced at once. A stable group that would choose the same protocol again goes on as if the member had
never been away: the new id is written, the generation stays. In the middle of a rebalance the leader may already have
been told the former id, so it begins again.
"""

from functools import partial
from typing import Final, NamedTuple

from ottla.coordinator.group.classic.answer import returned_leader_answer, skipping_answer
from ottla.coordinator.group.classic.group import ClassicMember, group_record
from ottla.coordinator.group.classic.joiner import join_reason, joining_member
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.rebalance import Rebalancer
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.group.group_kind import Join
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.protocol.errors import ApiError
from ottla.protocol.messages.join_group import JoinGroupResponse

_SKIP_ASSIGNMENT_VERSION: Final = 9


class _Return(NamedTuple):
    """A return that is not committed yet."""

    group: LiveGroup
    generation: int
    join: Join
    member: ClassicMember
    former: ClassicMember
    former_leader: str | None

    def answer(self) -> JoinGroupResponse:
        """The generation goes on."""
        if self.join.caller.api_version >= _SKIP_ASSIGNMENT_VERSION:
            return skipping_answer(self.group, self.member.member_id)
        return returned_leader_answer(self.group, self.member.member_id, self.former_leader)


class StaticReturn:
    """Puts static members in the place of their former selves."""

    def __init__(self, rebalancer: Rebalancer) -> None:
        self._rebalancer: Final = rebalancer

    def take_over(self, group: LiveGroup, join: Join, member_id: str, result: ResultBuilder) -> None:
        """The member with the request's instance id is from now on `member_id`; its join is answered later."""
        instance_id = join.request.group_instance_id or ""
        former_leader, former = group.leader, group.members[group.static_members[instance_id]]
        member = joining_member(join, member_id)._replace(assignment=former.assignment)
        if former.member_id in group.new_members:
            group.new_members.add(member_id)
        result.answer_all(group.replace(former.member_id, member))
        self._rebalancer.groups.sessions.drop(group.group_id, former.member_id)
        self._rebalancer.extend_session(group, member_id, result.now_ms)
        group.joining[member_id] = join.done
        if group.state is ClassicState.STABLE and group.select_protocol() == group.protocol:
            back = _Return(group, group.generation, join, member, former, former_leader)
            result.write(group_record(group.group_id, group.stored()), partial(self._stored, back))
        else:
            detail = f"static member {instance_id} is back as {member_id}; {join_reason(join)}"
            self._rebalancer.member_changed(group, RebalanceReason.STATIC_MEMBER_REPLACED, detail, result)

    def _stored(self, back: _Return, error: ApiError | None) -> None:
        """The new id is in the log, or is taken back; a rebalance that began meanwhile answers by itself."""
        group, member_id = back.group, back.member.member_id
        if group.state is ClassicState.DEAD:
            return
        if error is not None:
            done = group.joining.pop(member_id, None)
            if member_id in group.members:
                self._take_back(back)
            if done is not None:
                done(error)
        elif group.state is ClassicState.STABLE and group.generation == back.generation:
            done = group.joining.pop(member_id, None)
            if done is not None:
                self._rebalancer.extend_session(group, member_id, self._rebalancer.groups.now_ms)
                done(back.answer())

    def _take_back(self, back: _Return) -> None:
        group, groups = back.group, self._rebalancer.groups
        waiting = group.replace(back.member.member_id, back.former)
        groups.sessions.drop(group.group_id, back.member.member_id)
        self._rebalancer.extend_session(group, back.former.member_id, groups.now_ms)
        for done, answer in waiting:
            done(answer)
