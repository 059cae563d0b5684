"""OffsetCommit (key 8), versions 2–10: stores a group's positions in partitions.

Partitions that don't exist are refused one by one: UNKNOWN_TOPIC_OR_PARTITION, or UNKNOWN_TOPIC_ID for an unknown topic
id (v10). The refusals of groups are in `ottla.coordinator.group.offsets`. If nothing is left to commit the group is not
asked. v2 to v4 may say how long the offsets are kept.

KIP-211, KIP-320, KIP-345, KIP-848.
"""

from typing import Final

from ottla.base.accelerated import compiled_module
from ottla.broker.coordinator_host.offset_topic import AnswerTypes, merged, sift
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.request.route import Lane, Route
from ottla.protocol.definition import Response
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_ANSWERS: Final = AnswerTypes(OffsetCommitResponseTopic, OffsetCommitResponsePartition)
_TOPIC_IDS_SINCE: Final = 10
_NO_RETENTION_SINCE: Final = 5


def handle(parts: BrokerParts, context: RequestContext, request: OffsetCommitRequest) -> Response | None:
    """Answers when the offsets are committed."""
    return context.in_turns(_commit(parts, context, request))


def _commit(parts: BrokerParts, context: RequestContext, request: OffsetCommitRequest) -> WorkInTurns:
    by_id = context.version >= _TOPIC_IDS_SINCE
    existing, refused = yield from sift(parts.metadata, request.topics, _ANSWERS, context.rights, by_id=by_id)
    if not existing:
        return OffsetCommitResponse(topics=refused)
    coordinators = parts.coordinators
    commit = coordinators.groups.offset_commit
    request.topics = existing
    if not refused:
        coordinators.ask_groups(commit, context, request)
        return None

    def answer(response: OffsetCommitResponse) -> None:
        response.topics = merged(refused, response.topics)
        context.answer(response)

    coordinators.ask_groups(commit, context, request, answer)
    return None


def lane(parts: BrokerParts, route: Route) -> Lane | None:
    """The compiled short way for commits that nothing speaks against, which nearly all are."""
    compiled = compiled_module("ottla.broker.request._commit_lane")
    if compiled is None or route.version < _NO_RETENTION_SINCE:
        return None
    return compiled.CommitLane(parts, route)  # type: ignore[no-any-return]
