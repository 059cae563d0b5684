"""Verifies transactions (KIP-890): asks the coordinator before the first batch of a transaction is appended.

The verification guard of the log goes with the request, so that an answer from before an abort can't open a
transaction that is never ended. For producers of transaction version 2 the request adds the partition.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.txn.txn_coordinator import TxnCoordinator
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.records.batch import Batch
from ottla.storage.log.append_info import FROM_CLIENT, AppendOptions
from ottla.testing.simulation.coordinator.connection import Caller
from ottla.testing.simulation.coordinator.image import TRANSACTIONS, ClusterView
from ottla.testing.simulation.coordinator.partition import LeaderLog
from ottla.testing.simulation.node import SimulatedNode

_TIMEOUT_MS: Final = 800
_VERSION: Final = 5
_ASK_AGAIN: Final = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""Nothing is wrong with the batch: the client tries again."""


class TransactionalWrite(NamedTuple):
    """A batch that belongs to a transaction, and where it is to go."""

    key: PartitionKey
    transactional_id: str
    batch: Batch
    adds_partitions: bool
    """Whether its producer is of the second version."""


Cleared = Callable[[AppendOptions | ErrorCode], None]
"""Told how to append, or why not."""


class TransactionGate:
    """Asks the transaction coordinator on behalf of the partitions that a broker leads."""

    def __init__(self, node: SimulatedNode, view: ClusterView, caller: Caller, transactions: TxnCoordinator) -> None:
        self._node: Final = node
        self._view: Final = view
        self._caller: Final = caller
        self._transactions: Final = transactions

    def clear(self, log: LeaderLog, write: TransactionalWrite, done: Cleared) -> None:
        """Calls `done` with the options to append with, or the error; raises errors that need no request."""
        receipt = log.producers.start_verification(
            write.batch, self._node.clock.now_ms(), supports_epoch_bump=write.adds_partitions
        )
        if receipt is None:
            done(FROM_CLIENT)
            return

        def heard(response: Response | None) -> None:
            code = _code(response)
            done(AppendOptions(verification=receipt) if code == ErrorCode.NONE else code)

        self._ask(write, heard)

    def _ask(self, write: TransactionalWrite, heard: Callable[[Response | None], None]) -> None:
        coordinator = PartitionKey(TRANSACTIONS, self._transactions.partition_for(write.transactional_id))
        leader_id = self._view.image.leader(coordinator).broker_id
        request = _request(write)
        if leader_id == self._node.id:
            self._transactions.add_partitions_to_txn(request, _VERSION, self._node.clock.now_ms(), heard)
        elif leader_id < 0:
            heard(None)
        else:
            self._caller.ask(leader_id, request, _VERSION, heard, _TIMEOUT_MS)


def _request(write: TransactionalWrite) -> AddPartitionsToTxnRequest:
    topic = AddPartitionsToTxnTopic(name=write.key.topic, partitions=[write.key.partition])
    return AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=write.transactional_id,
                producer_id=write.batch.producer_id,
                producer_epoch=write.batch.producer_epoch,
                verify_only=not write.adds_partitions,
                topics=[topic],
            )
        ]
    )


def _code(response: Response | None) -> ErrorCode:
    """The error that a producer gets for the coordinator's answer; NOT_ENOUGH_REPLICAS makes it try again."""
    if not isinstance(response, AddPartitionsToTxnResponse):
        return ErrorCode.NOT_ENOUGH_REPLICAS
    code = response.error_code or next(
        (
            result.partition_error_code
            for found in response.results_by_transaction
            for topic in found.topic_results
            for result in topic.results_by_partition
        ),
        ErrorCode.UNKNOWN_SERVER_ERROR,
    )
    if code in _ASK_AGAIN:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return ErrorCode.INVALID_PRODUCER_EPOCH if code == ErrorCode.PRODUCER_FENCED else ErrorCode(code)
