"""OffsetCommit (key 8), versions 2–10: stores a group's positions in partitions.

Partitions that don't exist are refused one by one: UNKNOWN_TOPIC_OR_PARTITION, or UNKNOWN_TOPIC_ID for a topic id (v10)
that nobody knows. What groups refuse is in `ottla.coordinator.group.offsets`. If nothing is left to commit the group is
not asked. v2 to v4 may say how long the offsets are kept.

KIP-211, KIP-320, KIP-345, KIP-848.
"""

from typing import Final

from ottla.broker.offset_topic import AnswerTypes, merged, sift
from ottla.broker.parts import BrokerParts
from ottla.broker.request_context import RequestContext
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_ANSWERS: Final = AnswerTypes(OffsetCommitResponseTopic, OffsetCommitResponsePartition)


def handle(parts: BrokerParts, context: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse | None:
    """Answers when the offsets are committed."""
    existing, refused = sift(parts.metadata, request.topics, _ANSWERS)
    if not existing:
        return OffsetCommitResponse(topics=refused)
    coordinators = parts.coordinators
    commit = coordinators.groups.offset_commit
    if not refused:
        coordinators.ask_groups(commit, context, request)
        return None

    def answer(response: OffsetCommitResponse) -> None:
        response.topics = merged(refused, response.topics)
        context.answer(response)

    request.topics = existing
    coordinators.ask_groups(commit, context, request, answer)
    return None
