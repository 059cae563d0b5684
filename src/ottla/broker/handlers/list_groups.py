"""ListGroups (key 16), versions 0–5: all groups that this broker coordinates, by state (v4) and type (v5) if asked.

COORDINATOR_LOAD_IN_PROGRESS while some are still being loaded: the list would lack them.

KIP-518, KIP-848.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.list_groups import ListGroupsRequest


def handle(parts: BrokerParts, context: RequestContext, request: ListGroupsRequest) -> None:
    """Lists them."""
    coordinators = parts.coordinators
    coordinators.ask_groups(coordinators.groups.list_groups, context, request)
