"""ConsumerGroupDescribe (key 69), versions 0–1: consumer groups with their members, epochs and assignments.

A group that is unknown, or of another kind, is GROUP_ID_NOT_FOUND with a message. Authorised operations are told to
those who ask. From v1 on classic members of a group are marked as such.

KIP-848, KIP-1099.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.authorized_operation import GROUP_OPERATIONS
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse


def handle(parts: BrokerParts, context: RequestContext, request: ConsumerGroupDescribeRequest) -> None:
    """Describes all of them."""

    def answer(response: ConsumerGroupDescribeResponse) -> None:
        for group in response.groups:
            if not group.group_id:
                # What is not a name needs no explanation, as in Apache Kafka's answers.
                group.error_message = None
        if request.include_authorized_operations:
            for group in response.groups:
                if group.error_code == ErrorCode.NONE:
                    group.authorized_operations = GROUP_OPERATIONS
        context.answer(response)

    coordinators = parts.coordinators
    describe = coordinators.groups.consumer_group_describe
    ask_in_pieces(
        context,
        request,
        Lists("group_ids", "groups"),
        lambda piece, done: coordinators.ask_groups(describe, context, piece, done),
        answer,
    )
