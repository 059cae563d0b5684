"""DescribeTransactions (key 65), version 0: transactional ids with their producer, state and partitions.

An id that nobody knows is TRANSACTIONAL_ID_NOT_FOUND, one of another coordinator NOT_COORDINATOR, each on its own.

KIP-664.
"""

from ottla.broker.parts import BrokerParts
from ottla.broker.request_context import RequestContext
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse


def handle(
    parts: BrokerParts, context: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    """Describes all of them."""
    return parts.coordinators.transactions.describe_transactions(request)
