"""The preconditions of a voter change: one at a time, and only on top of committed voters.

A leader that has not yet committed in its own epoch may not know of a change that an earlier leader committed, and
two changes on top of each other can have majorities that do not meet (raft dissertation §4.1 and its later erratum).
"""

from ottla.protocol.errors import ErrorCode
from ottla.raft.context import RaftContext
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.answer import expire_changes

Refusal = tuple[ErrorCode, str]


def change_refusal(context: RaftContext, leader: Leader, verb: str, now_ms: int) -> Refusal | None:
    """Why a voter cannot be added or removed now."""
    unready = unready_refusal(context, leader, now_ms)
    if unready is not None:
        return unready
    if not context.voters.supports_reconfiguration:
        level = context.voters.kraft_version
        return (
            ErrorCode.UNSUPPORTED_VERSION,
            f"Cluster doesn't support {verb} voter because the kraft.version feature is {level}",
        )
    return uncommitted_refusal(context, leader)


def unready_refusal(context: RaftContext, leader: Leader, now_ms: int) -> Refusal | None:
    """Why this leader cannot change anything yet."""
    expire_changes(context, leader, now_ms)
    if leader.changes.is_any_pending:
        message = "Request timed out waiting for leader to handle previous voter change request"
        return ErrorCode.REQUEST_TIMED_OUT, message
    if leader.high_watermark is None:
        message = "Request timed out waiting for leader to establish HWM and fence previous voter changes"
        return ErrorCode.REQUEST_TIMED_OUT, message
    return None


def uncommitted_refusal(context: RaftContext, leader: Leader) -> Refusal | None:
    """Whether the voters that count now may still be taken back."""
    offset, high_watermark = context.voters.last_set_offset, leader.high_watermark
    if offset is not None and high_watermark is not None and offset < high_watermark:
        return None
    message = f"Request timed out waiting for voters to commit the latest voter change at {offset}"
    return ErrorCode.REQUEST_TIMED_OUT, f"{message} with HWM {high_watermark}"
