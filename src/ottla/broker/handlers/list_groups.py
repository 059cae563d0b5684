"""ListGroups (key 16), versions 0–5: all groups that this broker coordinates, by state (v4) and type (v5) if asked.

COORDINATOR_LOAD_IN_PROGRESS while some are still being loaded: the list would lack them.

KIP-518, KIP-848.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse


def handle(parts: BrokerParts, context: RequestContext, request: ListGroupsRequest) -> None:
    """Lists those that the client may describe."""
    coordinators, rights = parts.coordinators, context.rights

    def answer(response: ListGroupsResponse) -> None:
        if not rights.is_unlimited and not rights.sees(AclOperation.DESCRIBE, AclResourceType.CLUSTER, CLUSTER_NAME):
            response.groups = [
                group
                for group in response.groups
                if rights.sees(AclOperation.DESCRIBE, AclResourceType.GROUP, group.group_id)
            ]
        context.answer(response)

    coordinators.ask_groups(coordinators.groups.list_groups, context, request, answer)
