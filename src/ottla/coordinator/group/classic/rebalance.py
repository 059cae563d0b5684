"""Takes a classic group from one generation to the next.

A member joins, leaves or falls silent: `prepare` asks all members to join. Once they have, or the rebalance timeout is
over, `complete_join` starts the generation and answers them; the leader's SyncGroup ends the rebalance (`sync`). A
group that was empty waits `group.initial.rebalance.delay.ms` for more members first, again for each that comes, up to
the rebalance timeout.

No function answers by itself: answers go into the `ResultBuilder`.
"""

from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.coordinator.group.classic.answer import joined_answer
from ottla.coordinator.group.classic.group import group_record
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.live_groups import LiveGroups
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.group.config import ClassicGroupConfig
from ottla.coordinator.group.rebalance_reason import Rebalance, RebalanceLog, RebalanceReason
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.errors import ApiError, RebalanceInProgressError

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

_NOBODY_JOINED_WAIT_MS: Final = 1_000
"""Added to the rebalance timeout when no member joined: one of 0 would have us look again without end."""
_STORE_RETRY_MS: Final = 500
_ONGOING: Final = (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE)


class Rebalancer:
    """Rebalances the classic groups of one shard."""

    def __init__(self, groups: LiveGroups, config: ClassicGroupConfig, log: RebalanceLog) -> None:
        self.groups: Final = groups
        self.config: Final = config
        self._log: Final = log

    def member_changed(self, group: LiveGroup, reason: RebalanceReason, detail: str, result: ResultBuilder) -> None:
        """A member joined, or joined again: starts a rebalance, or completes one if all have joined now."""
        if group.state is ClassicState.PREPARING_REBALANCE:
            self.maybe_complete_join(group, result)
        else:
            self.prepare(group, reason, detail, result)

    def members_removed(self, group: LiveGroup, reason: RebalanceReason, detail: str, result: ResultBuilder) -> None:
        """Members are gone: rebalances, or goes on with the rebalance if it only waited for them."""
        if group.state in _ONGOING:
            self.prepare(group, reason, detail, result)
        else:
            self.maybe_complete_join(group, result)

    def pending_removed(self, group: LiveGroup, result: ResultBuilder) -> None:
        """A member that was given an id won't join: no reason to rebalance, but it may be the last missing one."""
        self.maybe_complete_join(group, result)
        self.groups.release(group)

    def maybe_complete_join(self, group: LiveGroup, result: ResultBuilder) -> None:
        """Ends the join phase if all are there; an initial one takes its time."""
        if (
            group.state is ClassicState.PREPARING_REBALANCE
            and not group.is_in_initial_rebalance
            and group.has_all_joined
        ):
            self.complete_join(group, result)

    def prepare(self, group: LiveGroup, reason: RebalanceReason, detail: str, result: ResultBuilder) -> None:
        """Starts a rebalance: members that wait for an assignment are told to join again."""
        self._log.started(Rebalance(group.group_id, group.state.value, group.generation, reason, detail))
        if group.state is ClassicState.COMPLETING_REBALANCE:
            self.reset_assignments(group)
            self._release_syncs(group, RebalanceInProgressError(), result)
        self.groups.timers.cancel(("sync", group.group_id))
        group.unsynced.clear()
        is_initial = group.state is ClassicState.EMPTY
        group.transition(ClassicState.PREPARING_REBALANCE, result.now_ms)
        if is_initial:
            group.has_grown = False
            delay_ms = self.config.initial_rebalance_delay_ms
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._wait_for_more(group, delay_ms, remaining_ms, result.now_ms)
        elif group.has_all_joined:
            self.complete_join(group, result)
        else:
            self._wait_for_all(group, result.now_ms)

    def complete_join(self, group: LiveGroup, result: ResultBuilder) -> None:
        """Starts the next generation with those who joined; static members stay even if they did not (KIP-345)."""
        self.groups.timers.cancel(("join", group.group_id))
        missing = [
            member_id
            for member_id, member in group.members.items()
            if member.instance_id is None and member_id not in group.joining
        ]
        for member_id in missing:
            self.remove(group, member_id, result)
        if group.members and not group.elect_joined_leader():
            # Only static members that are away: they have until their sessions end.
            self._wait_for_all(group, result.now_ms + _NOBODY_JOINED_WAIT_MS)
            return
        group.start_generation(result.now_ms)
        if group.state is ClassicState.EMPTY:
            self._write_empty(group, result)
        else:
            self._announce(group, result)

    def remove(self, group: LiveGroup, member_id: str, result: ResultBuilder) -> None:
        """Takes a member out; what follows for the group is up to the caller."""
        self.groups.sessions.drop(group.group_id, member_id)
        result.answer_all(group.remove(member_id))

    def reset_assignments(self, group: LiveGroup) -> None:
        """Drops assignments of a generation that was not committed, so that they are not found later."""
        for member in list(group.members.values()):
            group.members[member.member_id] = member._replace(assignment=b"")

    def extend_session(self, group: LiveGroup, member_id: str, now_ms: int) -> None:
        """A sign of life."""
        end_ms = now_ms + group.members[member_id].session_timeout_ms
        self.groups.sessions.extend(group.group_id, member_id, end_ms)

    def session_ended(self, group_id: str, member_id: str, state: "GroupsState", now_ms: int) -> CoordinatorResult:
        """The operation when a member, or one that was given an id and did not come back, fell silent."""
        result = ResultBuilder(now_ms)
        group = self.groups.find(state, group_id, result)
        if group is None:
            return result.build()
        is_waiting = member_id in group.joining or member_id in group.syncing
        if member_id in group.pending_members:
            self.remove(group, member_id, result)
            self.pending_removed(group, result)
        elif member_id in group.members and (not is_waiting or member_id in group.new_members):
            # A member that waits for us is not silent, and the answer starts its session again. New members can't send
            # heartbeats, so whether they still wait is unknown.
            self.remove(group, member_id, result)
            detail = f"member {member_id} sent no heartbeat within its session"
            self.members_removed(group, RebalanceReason.SESSION_TIMED_OUT, detail, result)
        return result.build()

    def rebalance_soon(self, group_id: str, reason: RebalanceReason, detail: str) -> None:
        """Has a group rebalance by an operation of its own, where none is running."""
        self.groups.timers.set(("rebalance", group_id), 0, partial(self._rebalance, group_id, reason, detail))

    def sync_received(self, group: LiveGroup, member_id: str) -> None:
        """A member asked for its assignment; the wait ends once all have."""
        group.unsynced.discard(member_id)
        if not group.unsynced:
            self.groups.timers.cancel(("sync", group.group_id))

    def _announce(self, group: LiveGroup, result: ResultBuilder) -> None:
        """Answers all members with the new generation and waits for their syncs."""
        for member_id in group.members:
            done = group.joining.pop(member_id, None)
            if done is not None:
                result.answer(done, joined_answer(group, member_id))
            self.extend_session(group, member_id, result.now_ms)
        group.new_members.clear()
        group.unsynced.update(group.members)
        deadline_ms = result.now_ms + group.rebalance_timeout_ms
        self.groups.timers.set(
            ("sync", group.group_id), deadline_ms, partial(self._sync_timed_out, group.group_id, group.generation)
        )

    def _release_syncs(self, group: LiveGroup, error: ApiError, result: ResultBuilder) -> None:
        for member_id, done in list(group.syncing.items()):
            result.answer(done, error)
            self.extend_session(group, member_id, result.now_ms)
        group.syncing.clear()

    def _wait_for_all(self, group: LiveGroup, now_ms: int) -> None:
        deadline_ms = now_ms + group.rebalance_timeout_ms
        self.groups.timers.set(("join", group.group_id), deadline_ms, partial(self._join_timed_out, group.group_id))

    def _wait_for_more(self, group: LiveGroup, delay_ms: int, remaining_ms: int, now_ms: int) -> None:
        operation = partial(self._initial_delay_over, group.group_id, delay_ms, remaining_ms)
        self.groups.timers.set(("join", group.group_id), now_ms + delay_ms, operation)

    def _initial_delay_over(
        self, group_id: str, delay_ms: int, remaining_ms: int, state: "GroupsState", now_ms: int
    ) -> CoordinatorResult:
        result = ResultBuilder(now_ms)
        group = self.groups.find(state, group_id, result)
        if group is None or group.state is not ClassicState.PREPARING_REBALANCE:
            return result.build()
        if group.has_grown and remaining_ms:
            group.has_grown = False
            next_delay_ms = min(self.config.initial_rebalance_delay_ms, remaining_ms)
            self._wait_for_more(group, next_delay_ms, max(remaining_ms - delay_ms, 0), now_ms)
        else:
            self.complete_join(group, result)
        return result.build()

    def _join_timed_out(self, group_id: str, state: "GroupsState", now_ms: int) -> CoordinatorResult:
        result = ResultBuilder(now_ms)
        group = self.groups.find(state, group_id, result)
        if group is not None and group.state is ClassicState.PREPARING_REBALANCE:
            self.complete_join(group, result)
        return result.build()

    def _sync_timed_out(self, group_id: str, generation: int, state: "GroupsState", now_ms: int) -> CoordinatorResult:
        result = ResultBuilder(now_ms)
        group = self.groups.find(state, group_id, result)
        if group is None or group.generation != generation or group.state not in _ONGOING or not group.unsynced:
            return result.build()
        silent = sorted(group.unsynced)
        for member_id in silent:
            self.remove(group, member_id, result)
        detail = f"members {', '.join(silent)} sent no SyncGroup within the rebalance timeout"
        self.prepare(group, RebalanceReason.SYNC_TIMED_OUT, detail, result)
        return result.build()

    def _rebalance(
        self, group_id: str, reason: RebalanceReason, detail: str, state: "GroupsState", now_ms: int
    ) -> CoordinatorResult:
        result = ResultBuilder(now_ms)
        group = self.groups.find(state, group_id, result)
        if group is not None and group.state in _ONGOING:
            self.prepare(group, reason, detail, result)
        return result.build()

    def _write_empty(self, group: LiveGroup, result: ResultBuilder) -> None:
        group.is_unwritten = True
        written = partial(self._emptied, group, group.generation)
        result.write(group_record(group.group_id, group.stored()), written)

    def _write_empty_again(self, group_id: str, state: "GroupsState", now_ms: int) -> CoordinatorResult:
        result = ResultBuilder(now_ms)
        group = self.groups.find(state, group_id, result)
        if group is not None and group.state is ClassicState.EMPTY and group.is_unwritten:
            self._write_empty(group, result)
        return result.build()

    def _emptied(self, group: LiveGroup, generation: int, error: ApiError | None) -> None:
        """Writes a failed record later: until then the log has the members, which must be denied."""
        if group.state is not ClassicState.EMPTY or group.generation != generation:
            return
        if error is None:
            group.is_unwritten = False
            self.groups.release(group)
        else:
            again = partial(self._write_empty_again, group.group_id)
            self.groups.timers.set(("rebalance", group.group_id), self.groups.now_ms + _STORE_RETRY_MS, again)
