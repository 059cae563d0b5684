"""TxnOffsetCommit (key 28), versions 0–5: stores a group's positions as part of a transaction.

They count once the transaction is committed. The group's partition of `__consumer_offsets` must be part of it; from v5
on this call adds it (KIP-890). Partitions that don't exist are UNKNOWN_TOPIC_OR_PARTITION, the rest is stored. Versions
before 2 don't know COORDINATOR_LOAD_IN_PROGRESS and are told COORDINATOR_NOT_AVAILABLE.

KIP-98, KIP-447, KIP-890.
"""

from typing import Any, Final

from ottla.broker.coordinator_host.internal_topic import CONSUMER_OFFSETS
from ottla.broker.coordinator_host.offset_topic import AnswerTypes, merged, sift
from ottla.broker.coordinator_host.transaction_check import (
    Clearance,
    Clearances,
    TransactionalBatch,
    clear_transactional,
    offset_commit_support,
)
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import may_group
from ottla.coordinator.group.caller import GroupCaller
from ottla.coordinator.group.offsets.refusal import refused_transactional
from ottla.coordinator.ports import TransactionalProducer
from ottla.coordinator.runtime.append_error import seen_by_client
from ottla.coordinator.runtime.coordinator_result import Done
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode, GroupAuthorizationFailedError, error_for
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.topic_partition import TopicPartition

_ANSWERS: Final = AnswerTypes(TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition)
_LOADING_SINCE: Final = 2


def handle(parts: BrokerParts, context: RequestContext, request: TxnOffsetCommitRequest) -> Response | None:
    """Answers when the offsets are in the group's log, undecided."""
    return context.in_turns(_commit(parts, context, request))


def _commit(parts: BrokerParts, context: RequestContext, request: TxnOffsetCommitRequest) -> WorkInTurns:
    if not may_group(context.rights, AclOperation.READ, request.group_id):
        raise GroupAuthorizationFailedError
    existing, refused = yield from sift(parts.metadata, request.topics, _ANSWERS, context.rights)
    if not existing:
        return TxnOffsetCommitResponse(topics=refused)
    request.topics = existing
    _Commit(parts, context, request, refused).verify()
    return None


class _Commit:
    """A commit that waits for the transaction coordinator, then for the group coordinator."""

    def __init__(
        self,
        parts: BrokerParts,
        context: RequestContext,
        request: TxnOffsetCommitRequest,
        refused: list[TxnOffsetCommitResponseTopic],
    ) -> None:
        self._parts = parts
        self._context = context
        self._request = request
        self._refused = refused
        groups = parts.coordinators.groups
        self._partition = TopicPartition(CONSUMER_OFFSETS, groups.partition_for(request.group_id))

    def verify(self) -> None:
        """Asks whether the transaction is going on and the group's offsets are part of it."""
        request = self._request
        if not request.group_id:
            self._answer(refused_transactional(request, int(ErrorCode.INVALID_GROUP_ID)))
            return
        options = BatchOptions(
            producer_id=request.producer_id,
            producer_epoch=request.producer_epoch,
            base_sequence=0,
            is_transactional=True,
        )
        batch = TransactionalBatch(self._partition, Batch(write_batch([], options)))
        support = offset_commit_support(self._context.version)
        clear_transactional(self._parts, request.transactional_id, [batch], support, self._verified)

    def _verified(self, clearances: Clearances) -> None:
        clearance = clearances[self._partition]
        if clearance.error_code:
            # In the words of the group coordinator: the client knows nothing of its log.
            code = seen_by_client(error_for(clearance.error_code)).code
            self._answer(refused_transactional(self._request, int(code)))
            return
        self._parts.coordinators.ask_groups(self._commit(clearance), self._context, self._request, self._answer)

    def _commit(self, clearance: Clearance) -> Any:
        request = self._request
        producer = TransactionalProducer(
            request.transactional_id, request.producer_id, request.producer_epoch, clearance.options
        )
        groups = self._parts.coordinators.groups

        def commit(asked: TxnOffsetCommitRequest, caller: GroupCaller, now_ms: int, done: Done) -> None:
            groups.txn_offset_commit(asked, caller, producer, now_ms, done)

        return commit

    def _answer(self, response: TxnOffsetCommitResponse) -> None:
        response.topics = merged(self._refused, response.topics)
        if self._context.version < _LOADING_SINCE:
            for topic in response.topics:
                for partition in topic.partitions:
                    if partition.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                        partition.error_code = int(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        self._context.answer(response)
