"""ListTransactions (key 66), versions 0–2: the transactional ids that this broker coordinates.

By state, producer id, how long they have been open (v1) and a pattern of their id (v2, RE2's rules; one that can't be
read is INVALID_REGULAR_EXPRESSION). COORDINATOR_LOAD_IN_PROGRESS while some are still being loaded.

KIP-664, KIP-994, KIP-1152.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse


def handle(parts: BrokerParts, context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """Lists those that the client may describe."""
    coordinators, rights = parts.coordinators, context.rights
    response = coordinators.transactions.list_transactions(request, coordinators.now_ms)
    if not rights.is_unlimited:
        response.transaction_states = [
            state
            for state in response.transaction_states
            if rights.sees(AclOperation.DESCRIBE, AclResourceType.TRANSACTIONAL_ID, state.transactional_id)
        ]
    return response
