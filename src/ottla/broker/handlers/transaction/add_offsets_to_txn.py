"""AddOffsetsToTxn (key 25), versions 0–4: makes a group's offsets part of a transaction.

It adds the partition of `__consumer_offsets` that the group belongs to, whether the topic exists yet or not.

KIP-98, KIP-588, KIP-890.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.rights import may_group
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import GroupAuthorizationFailedError
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest


def handle(parts: BrokerParts, context: RequestContext, request: AddOffsetsToTxnRequest) -> None:
    """Answers when that is committed."""
    if not may_group(context.rights, AclOperation.READ, request.group_id):
        raise GroupAuthorizationFailedError
    coordinators = parts.coordinators
    coordinators.ask_transactions(coordinators.transactions.add_offsets_to_txn, context, request)
