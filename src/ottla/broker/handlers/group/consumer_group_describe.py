"""ConsumerGroupDescribe (key 69), versions 0–1: consumer groups with their members, epochs and assignments.

A group that is unknown, or of another kind, is GROUP_ID_NOT_FOUND with a message. Authorised operations are told to
those who ask. From v1 on classic members of a group are marked as such.

KIP-848, KIP-1099.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.group_protocol import check_consumer_protocol
from ottla.broker.request.metadata.authorized_operation import group_operations
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.broker.security.rights import Rights, may_topic, split_groups
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)


def handle(parts: BrokerParts, context: RequestContext, request: ConsumerGroupDescribeRequest) -> None:
    """Describes all of them."""
    check_consumer_protocol(parts.config)
    rights = context.rights
    request.group_ids, forbidden = split_groups(rights, AclOperation.DESCRIBE, request.group_ids)

    def answer(response: ConsumerGroupDescribeResponse) -> None:
        for group in response.groups:
            if not group.group_id:
                # What is not a name needs no explanation, as in Apache Kafka's answers.
                group.error_message = None
        if request.include_authorized_operations:
            for group in response.groups:
                if group.error_code == ErrorCode.NONE:
                    group.authorized_operations = group_operations(rights, group.group_id)
        if not rights.is_unlimited:
            response.groups = [_hiding_topics(rights, group) for group in response.groups]
        response.groups = [*map(_forbidden, forbidden), *response.groups]
        context.answer(response)

    if forbidden and not request.group_ids:
        answer(ConsumerGroupDescribeResponse())
        return
    coordinators = parts.coordinators
    describe = coordinators.groups.consumer_group_describe
    ask_in_pieces(
        context,
        request,
        Lists("group_ids", "groups"),
        lambda piece, done: coordinators.ask_groups(describe, context, piece, done),
        answer,
    )


def _forbidden(group_id: str) -> DescribedGroup:
    return DescribedGroup(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group_id)


def _hiding_topics(rights: Rights, group: DescribedGroup) -> DescribedGroup:
    """The group, or that it may not be described, because it works on a topic that the client may not see."""
    topics = {
        partitions.topic_name
        for member in group.members
        for assignment in (member.assignment, member.target_assignment)
        for partitions in assignment.topic_partitions
    }
    if all(may_topic(rights, AclOperation.DESCRIBE, topic) for topic in topics):
        return group
    return DescribedGroup(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message="The group has described topic(s) that the client is not authorized to describe.",
        group_id=group.group_id,
    )
