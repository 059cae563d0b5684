"""DeleteGroups (key 42), versions 0–2: deletes empty groups of any kind, with their offsets.

A group that is named twice is answered once. KIP-229.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.protocol.messages.delete_groups import DeleteGroupsRequest


def handle(parts: BrokerParts, context: RequestContext, request: DeleteGroupsRequest) -> None:
    """Answers when all of them are gone, or refused."""
    coordinators = parts.coordinators
    delete = coordinators.groups.delete_groups
    request.groups_names = list(dict.fromkeys(request.groups_names))
    ask_in_pieces(
        context,
        request,
        Lists("groups_names", "results"),
        lambda piece, done: coordinators.ask_groups(delete, context, piece, done),
    )
