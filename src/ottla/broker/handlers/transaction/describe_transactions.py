"""DescribeTransactions (key 65), version 0: transactional ids with their producer, state and partitions.

An unknown id is TRANSACTIONAL_ID_NOT_FOUND, one of another coordinator NOT_COORDINATOR, each on its own.

KIP-664.
"""

from collections.abc import Callable

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.broker.security.rights import Rights, may_transact, sees_topic
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)


def handle(parts: BrokerParts, context: RequestContext, request: DescribeTransactionsRequest) -> None:
    """Describes all of them."""
    describe = parts.coordinators.transactions.describe_transactions
    rights = context.rights

    def ask(piece: DescribeTransactionsRequest, done: Callable[[DescribeTransactionsResponse], None]) -> None:
        done(describe(piece) if rights.is_unlimited else _permitted(rights, piece, describe))

    ask_in_pieces(context, request, Lists("transactional_ids", "transaction_states"), ask)


def _permitted(
    rights: Rights,
    request: DescribeTransactionsRequest,
    describe: Callable[[DescribeTransactionsRequest], DescribeTransactionsResponse],
) -> DescribeTransactionsResponse:
    """The descriptions that the client may see, each with the topics that it may describe."""
    operation, states = AclOperation.DESCRIBE, []
    for transactional_id in request.transactional_ids:
        if not may_transact(rights, operation, transactional_id):
            code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            states.append(TransactionState(error_code=code, transactional_id=transactional_id))
            continue
        [state] = describe(DescribeTransactionsRequest(transactional_ids=[transactional_id])).transaction_states
        state.topics = [topic for topic in state.topics if sees_topic(rights, operation, topic.topic)]
        states.append(state)
    return DescribeTransactionsResponse(transaction_states=states)
