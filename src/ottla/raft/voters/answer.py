"""Answers to who asked for a voter change, now or when the change is decided."""

from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.add_raft_voter import AddRaftVoterResponse
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterResponse
from ottla.raft.context import RaftContext
from ottla.raft.roles.leader import Leader


def answer_add(context: RaftContext, request_id: int | None, error: ErrorCode, message: str | None = None) -> None:
    """Answers AddRaftVoter, unless that was done already."""
    if request_id is not None:
        response = AddRaftVoterResponse(error_code=error, error_message=_message(error, message))
        context.respond(request_id, response)


def answer_remove(context: RaftContext, request_id: int, error: ErrorCode, message: str | None = None) -> None:
    """Answers RemoveRaftVoter."""
    context.respond(request_id, RemoveRaftVoterResponse(error_code=error, error_message=_message(error, message)))


def finish_add(context: RaftContext, leader: Leader, error: ErrorCode, message: str | None = None) -> None:
    """Ends the addition that is under way."""
    pending, leader.changes.add = leader.changes.add, None
    if pending is not None:
        answer_add(context, pending.request_id, error, message)


def finish_remove(context: RaftContext, leader: Leader, error: ErrorCode) -> None:
    """Ends the removal that is under way."""
    pending, leader.changes.remove = leader.changes.remove, None
    if pending is not None:
        answer_remove(context, pending.request_id, error)


def expire_changes(context: RaftContext, leader: Leader, now_ms: int) -> None:
    """Gives up on changes whose time is up; what is in the log may still be committed."""
    if leader.changes.add is not None and leader.changes.add.deadline_ms <= now_ms:
        finish_add(context, leader, ErrorCode.REQUEST_TIMED_OUT)
    if leader.changes.remove is not None and leader.changes.remove.deadline_ms <= now_ms:
        finish_remove(context, leader, ErrorCode.REQUEST_TIMED_OUT)


def abandon_changes(context: RaftContext, leader: Leader) -> None:
    """Ends all changes because the leadership does."""
    finish_add(context, leader, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    finish_remove(context, leader, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def cluster_id_message(context: RaftContext, cluster_id: str | None) -> str:
    """Kafka's words for INCONSISTENT_CLUSTER_ID."""
    return f'The given id "{cluster_id}" doesn\'t match the cluster id "{context.setup.cluster_id}"'


def _message(error: ErrorCode, message: str | None) -> str | None:
    return str(error_for(error)) if message is None and error != ErrorCode.NONE else message
