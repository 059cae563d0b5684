"""AddPartitionsToTxn (key 24), versions 0–5: makes partitions part of a transaction, or verifies that they are.

Producers send v0 to v3, for one transaction; brokers send v4 and v5, for several, to verify or to add (KIP-890). If one
partition can't be added the others are OPERATION_NOT_ATTEMPTED. A fenced producer is told so from v2 on (KIP-588).
Producers may not write internal topics: TOPIC_AUTHORIZATION_FAILED.

KIP-98, KIP-588, KIP-890.
"""

from typing import Final

from ottla.broker.coordinator_host.internal_topic import is_internal
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import Lists, ask_in_pieces
from ottla.broker.security.rights import Rights, may_cluster, may_topic, may_transact
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import (
    ClusterAuthorizationFailedError,
    ErrorCode,
    TransactionalIdAuthorizationFailedError,
)
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)

_FOR_BROKERS_SINCE: Final = 4


def handle(
    parts: BrokerParts, context: RequestContext, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse | None:
    """Answers when the partitions are committed to be part of their transactions."""
    rights = context.rights
    if context.version >= _FOR_BROKERS_SINCE:
        if not may_cluster(rights, AclOperation.CLUSTER_ACTION):
            raise ClusterAuthorizationFailedError
    elif not may_transact(rights, AclOperation.WRITE, request.v3_and_below_transactional_id):
        raise TransactionalIdAuthorizationFailedError
    forbidden = {topic.name for topic in request.v3_and_below_topics if not _may_write(rights, topic.name)}
    if any(topic.partitions and topic.name in forbidden for topic in request.v3_and_below_topics):
        refused = _refused(parts, request.v3_and_below_topics, forbidden)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=refused)
    coordinators = parts.coordinators
    add = coordinators.transactions.add_partitions_to_txn
    ask_in_pieces(
        context,
        request,
        Lists("transactions", "results_by_transaction"),
        lambda piece, done: coordinators.ask_transactions(add, context, piece, done),
    )
    return None


def _may_write(rights: Rights, topic: str) -> bool:
    return not is_internal(topic) and may_topic(rights, AclOperation.WRITE, topic)


def _refused(
    parts: BrokerParts, topics: list[AddPartitionsToTxnTopic], forbidden: set[str]
) -> list[AddPartitionsToTxnTopicResult]:
    """An answer for each partition, once, under its topic."""
    codes: dict[str, dict[int, ErrorCode]] = {}
    for topic in topics:
        image = parts.metadata.topic(topic.name)
        for index in topic.partitions:
            if topic.name in forbidden:
                code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif image is None or not 0 <= index < len(image.partitions):
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                code = ErrorCode.OPERATION_NOT_ATTEMPTED
            codes.setdefault(topic.name, {})[index] = code
    return [
        AddPartitionsToTxnTopicResult(
            name=name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
                for index, code in found.items()
            ],
        )
        for name, found in codes.items()
    ]
