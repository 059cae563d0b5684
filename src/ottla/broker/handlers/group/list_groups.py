"""ListGroups (key 16), versions 0–5: all groups that this broker coordinates, by state (v4) and type (v5) if asked.

COORDINATOR_LOAD_IN_PROGRESS while some are still being loaded: the list would lack them.

KIP-518, KIP-848.
"""

from collections.abc import Iterator

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import Rights
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.definition import Response
from ottla.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


def handle(parts: BrokerParts, context: RequestContext, request: ListGroupsRequest) -> Response | None:
    """Lists those that the client may describe, in turns with others if there are many."""
    return context.in_turns(_list_all(parts.coordinators.groups.list_groups(request), context.rights))


def _list_all(pages: Iterator[list[ListedGroup]], rights: Rights) -> WorkInTurns:
    response = ListGroupsResponse()
    sees_all = rights.is_unlimited or rights.sees(AclOperation.DESCRIBE, AclResourceType.CLUSTER, CLUSTER_NAME)
    for page in pages:
        for group in page:
            if sees_all or rights.sees(AclOperation.DESCRIBE, AclResourceType.GROUP, group.group_id):
                response.groups.append(group)
        yield
    return response
