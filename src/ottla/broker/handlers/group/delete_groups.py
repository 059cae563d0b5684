"""DeleteGroups (key 42), versions 0–2: deletes empty groups of any kind, with their offsets.

A group that is named twice is answered once. KIP-229.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.broker.security.rights import split_groups
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse


def handle(parts: BrokerParts, context: RequestContext, request: DeleteGroupsRequest) -> None:
    """Answers when all of them are gone, or refused."""
    coordinators = parts.coordinators
    delete = coordinators.groups.delete_groups
    names = list(dict.fromkeys(request.groups_names))
    request.groups_names, forbidden = split_groups(context.rights, AclOperation.DELETE, names)

    def answer(response: DeleteGroupsResponse) -> None:
        code = ErrorCode.GROUP_AUTHORIZATION_FAILED
        response.results += [DeletableGroupResult(group_id=name, error_code=code) for name in forbidden]
        context.answer(response)

    if forbidden and not request.groups_names:
        answer(DeleteGroupsResponse())
        return
    ask_in_pieces(
        context,
        request,
        Lists("groups_names", "results"),
        lambda piece, done: coordinators.ask_groups(delete, context, piece, done),
        answer,
    )
