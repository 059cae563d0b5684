"""RemoveRaftVoter (key 81): a voter goes; the record without it is committed by those who stay.

A leader that removes itself goes on leading, without counting itself, until the record is committed, and resigns then:
earlier, the others might not have it.
"""

from ottla.base.ids import ZERO_UUID
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.raft.context import RaftContext
from ottla.raft.event import RequestReceived
from ottla.raft.identity import ReplicaKey
from ottla.raft.request import is_our_cluster, leader_request_error
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.answer import answer_remove, cluster_id_message, finish_remove
from ottla.raft.voters.change import PendingRemove
from ottla.raft.voters.precondition import Refusal, change_refusal


class RemoveVoter:
    """Runs one removal at a time."""

    def __init__(self, context: RaftContext) -> None:
        self._context = context

    def handle(self, event: RequestReceived, request: RemoveRaftVoterRequest, now_ms: int) -> None:
        """Writes the voters without the one named, or says why not."""
        refusal = self._refusal(request, now_ms)
        if refusal is not None:
            answer_remove(self._context, event.request_id, *refusal)
            return
        leader = self._context.quorum.role
        assert isinstance(leader, Leader)
        key = ReplicaKey(request.voter_id, request.voter_directory_id)
        remaining = self._context.voters.last_set.without_voter(key)
        if remaining is None:
            keys = ", ".join(map(str, self._context.voters.last_set.keys))
            message = f"Cannot remove voter {key} from the set of voters [{keys}]"
            answer_remove(self._context, event.request_id, ErrorCode.VOTER_NOT_FOUND, message)
            return
        last_offset = leader.accumulator.append_control([remaining.record()], now_ms)
        deadline_ms = now_ms + self._context.config.request_timeout_ms
        leader.changes.remove = PendingRemove(event.request_id, last_offset, deadline_ms)

    def committed(self, leader: Leader, high_watermark: int) -> None:
        """The high watermark moved; perhaps past the new voters."""
        pending = leader.changes.remove
        if pending is not None and pending.last_offset < high_watermark:
            finish_remove(self._context, leader, ErrorCode.NONE)
        offset = self._context.voters.last_set_offset
        is_committed = offset is not None and offset < high_watermark
        if is_committed and not self._context.voters.last_set.is_voter(leader.local.key):
            leader.resign_requested = True

    def _refusal(self, request: RemoveRaftVoterRequest, now_ms: int) -> Refusal | None:
        context = self._context
        if not is_our_cluster(context, request.cluster_id):
            return ErrorCode.INCONSISTENT_CLUSTER_ID, cluster_id_message(context, request.cluster_id)
        error = leader_request_error(context, context.quorum.epoch)
        leader = context.quorum.role
        if error != ErrorCode.NONE or not isinstance(leader, Leader):
            return error, ""
        if request.voter_id < 0 or request.voter_directory_id == ZERO_UUID:
            return ErrorCode.INVALID_REQUEST, "Remove voter request didn't include a valid voter"
        return change_refusal(context, leader, "removing", now_ms)
