"""OffsetDelete (key 47), version 0: deletes a group's offsets of some partitions.

Partitions that don't exist are UNKNOWN_TOPIC_OR_PARTITION, topics that members are subscribed to
GROUP_SUBSCRIBED_TO_TOPIC; the rest is done. An error of the group stands alone at the top.

KIP-496.
"""

from typing import Final

from ottla.broker.coordinator_host.offset_topic import AnswerTypes, merged, sift
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

_ANSWERS: Final = AnswerTypes(OffsetDeleteResponseTopic, OffsetDeleteResponsePartition)


def handle(parts: BrokerParts, context: RequestContext, request: OffsetDeleteRequest) -> None:
    """Answers when they are deleted."""
    context.in_turns(_delete(parts, context, request))


def _delete(parts: BrokerParts, context: RequestContext, request: OffsetDeleteRequest) -> WorkInTurns:
    existing, refused = yield from sift(parts.metadata, request.topics, _ANSWERS, context.rights)

    def answer(response: OffsetDeleteResponse) -> None:
        if not response.error_code:
            response.topics = merged(refused, response.topics)
        context.answer(response)

    asked = OffsetDeleteRequest(group_id=request.group_id, topics=existing)
    coordinators = parts.coordinators
    coordinators.ask_groups(coordinators.groups.offset_delete, context, asked, answer)
    return None
