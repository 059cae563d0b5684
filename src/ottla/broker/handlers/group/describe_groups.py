"""DescribeGroups (key 15), versions 0–6: classic groups with their members.

A group that is unknown, or of another kind, is "Dead"; from v6 on GROUP_ID_NOT_FOUND with a message. Authorised
operations are told from v3 on, to those who ask.

KIP-345, KIP-430, KIP-1043.
"""

from typing import Final

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.metadata.authorized_operation import group_operations
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.broker.security.rights import split_groups
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse

_OPERATIONS_SINCE: Final = 3


def handle(parts: BrokerParts, context: RequestContext, request: DescribeGroupsRequest) -> None:
    """Describes all of them."""
    rights = context.rights
    request.groups, forbidden = split_groups(rights, AclOperation.DESCRIBE, request.groups)

    def answer(response: DescribeGroupsResponse) -> None:
        if request.include_authorized_operations and context.version >= _OPERATIONS_SINCE:
            for group in response.groups:
                if group.error_code == ErrorCode.NONE:
                    group.authorized_operations = group_operations(rights, group.group_id)
        response.groups = [*map(_forbidden, forbidden), *response.groups]
        context.answer(response)

    if forbidden and not request.groups:
        answer(DescribeGroupsResponse())
        return
    coordinators = parts.coordinators
    describe = coordinators.groups.describe_groups
    ask_in_pieces(
        context,
        request,
        Lists("groups", "groups"),
        lambda piece, done: coordinators.ask_groups(describe, context, piece, done),
        answer,
    )


def _forbidden(group_id: str) -> DescribedGroup:
    return DescribedGroup(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group_id)
