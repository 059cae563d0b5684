"""EndTxn (key 26), versions 0–5: commits or aborts a producer's transaction.

Answered when the outcome is committed, while the markers are still on their way to the partitions. From v5 on it
brings the epoch that the producer goes on with (KIP-890).

KIP-98, KIP-588, KIP-890.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.end_txn import EndTxnRequest


def handle(parts: BrokerParts, context: RequestContext, request: EndTxnRequest) -> None:
    """Answers when the outcome is committed."""
    coordinators = parts.coordinators
    coordinators.ask_transactions(coordinators.transactions.end_txn, context, request)
