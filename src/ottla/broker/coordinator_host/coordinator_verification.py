"""Asks the transaction coordinator about a producer's transaction: here, or on the broker that coordinates it.

While the transaction before is still being ended (CONCURRENT_TRANSACTIONS) the question is put again for a moment: a
producer of the second version writes on as soon as its EndTxn is answered, while the markers are on their way.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from ottla.base.clock import Clock
from ottla.broker.coordinator_host.coordinator_peer import BrokerPeers
from ottla.broker.coordinator_host.internal_topic import TRANSACTION_STATE
from ottla.broker.coordinator_host.transaction_question import TransactionQuestion
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.txn.txn_coordinator import TxnCoordinator
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.replication.ports import EventLoop

_VERSION: Final = 5
"""Of AddPartitionsToTxn, as if it came over the network."""

Codes = Mapping[PartitionKey, int]


class VerifierSettings(NamedTuple):
    """The timeouts of a verification."""

    node_id: int
    request_timeout_ms: int
    retry_backoff_ms: int
    """`add.partitions.to.txn.retry.backoff.ms`"""
    retry_backoff_max_ms: int
    """`add.partitions.to.txn.retry.backoff.max.ms`"""


class TransactionVerifier:
    """Puts questions. Loop thread only."""

    def __init__(
        self,
        settings: VerifierSettings,
        time: tuple[EventLoop, Clock],
        transactions: TxnCoordinator,
        metadata: MetadataCache,
        peers: BrokerPeers,
    ) -> None:
        self._settings: Final = settings
        self._loop, self._clock = time
        self._transactions: Final = transactions
        self._metadata: Final = metadata
        self._peers: Final = peers

    def ask(self, question: TransactionQuestion, done: Callable[[Codes], None]) -> None:
        """Tells `done` the code of every partition, maybe within this call."""
        self._ask(question, done, self._clock.monotonic_ms() + self._settings.retry_backoff_max_ms)

    def _ask(self, question: TransactionQuestion, done: Callable[[Codes], None], until_ms: int) -> None:
        def heard(answer: Response | ApiError) -> None:
            codes = _codes(question, answer)
            is_ending = ErrorCode.CONCURRENT_TRANSACTIONS in codes.values() and not question.is_verify_only
            if is_ending and self._clock.monotonic_ms() < until_ms:
                due = self._loop.time() + self._settings.retry_backoff_ms / 1000
                self._loop.call_at(due, partial(self._ask, question, done, until_ms))
            else:
                done(codes)

        partition = self._transactions.partition_for(question.transactional_id)
        registration = self._metadata.partition(TRANSACTION_STATE, partition)
        leader = -1 if registration is None else registration.leader
        request = _request(question)
        if leader == self._settings.node_id:
            self._transactions.add_partitions_to_txn(request, _VERSION, self._clock.now_ms(), heard)
        elif leader < 0:
            done(dict.fromkeys(question.partitions, int(ErrorCode.COORDINATOR_NOT_AVAILABLE)))
        else:
            self._peers.send(leader, request, heard, self._settings.request_timeout_ms)


def _request(question: TransactionQuestion) -> AddPartitionsToTxnRequest:
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for topic, index in question.partitions:
        topics.setdefault(topic, AddPartitionsToTxnTopic(name=topic)).partitions.append(index)
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=question.transactional_id,
        producer_id=question.producer_id,
        producer_epoch=question.producer_epoch,
        verify_only=question.is_verify_only,
        topics=list(topics.values()),
    )
    return AddPartitionsToTxnRequest(transactions=[transaction])


def _codes(question: TransactionQuestion, answer: Response | ApiError) -> dict[PartitionKey, int]:
    if not isinstance(answer, AddPartitionsToTxnResponse):
        code = answer.code if isinstance(answer, ApiError) else ErrorCode.UNKNOWN_SERVER_ERROR
        return dict.fromkeys(question.partitions, int(code))
    if answer.error_code:
        return dict.fromkeys(question.partitions, answer.error_code)
    return {
        PartitionKey(topic.name, partition.partition_index): partition.partition_error_code
        for found in answer.results_by_transaction
        for topic in found.topic_results
        for partition in topic.results_by_partition
    }
