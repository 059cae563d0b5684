"""AddPartitionsToTxn (key 24), versions 0–5: makes partitions part of a transaction, or verifies that they are.

Producers send v0 to v3, for one transaction; brokers send v4 and v5, for several, to verify or to add (KIP-890). If one
partition can't be added the others are OPERATION_NOT_ATTEMPTED. A fenced producer is told so from v2 on (KIP-588).

KIP-98, KIP-588, KIP-890.
"""

from ottla.broker.parts import BrokerParts
from ottla.broker.request_context import RequestContext
from ottla.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest


def handle(parts: BrokerParts, context: RequestContext, request: AddPartitionsToTxnRequest) -> None:
    """Answers when the partitions are committed to be part of their transactions."""
    coordinators = parts.coordinators
    coordinators.ask_transactions(coordinators.transactions.add_partitions_to_txn, context, request)
