"""DescribeTransactions (key 65), version 0: transactional ids with their producer, state and partitions.

An id that nobody knows is TRANSACTIONAL_ID_NOT_FOUND, one of another coordinator NOT_COORDINATOR, each on its own.

KIP-664.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest


def handle(parts: BrokerParts, context: RequestContext, request: DescribeTransactionsRequest) -> None:
    """Describes all of them."""
    describe = parts.coordinators.transactions.describe_transactions
    ask_in_pieces(
        context,
        request,
        Lists("transactional_ids", "transaction_states"),
        lambda piece, done: done(describe(piece)),
    )
