"""Clears transactional batches with the transaction coordinator before they are appended (KIP-890).

A partition in which the producer has a transaction open takes more of it without a question. Any other would open one,
and only the coordinator knows whether it is still going on; without asking, a late batch could open a transaction
that never ends, and read_committed consumers would wait for it for ever. Producers of the second transaction version
don't add partitions themselves: for them the question adds the partition. The answer may come within the call.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ottla.broker.coordinator_host.transaction_question import TransactionQuestion
from ottla.coordinator.ports import PartitionKey
from ottla.protocol.errors import ApiError, ErrorCode, InvalidProducerIdMappingError
from ottla.protocol.records.batch import Batch
from ottla.storage.log.append_info import FROM_CLIENT, AppendOptions
from ottla.storage.topic_partition import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts

_UNVERIFIED: Final = AppendOptions(verify_transactions=False)
_VERIFICATION_ENABLED: Final = "transaction.partition.verification.enable"
_NOT_ADDED: Final = "Partition was not added to the transaction"
_UNANSWERED: Final = "Unable to verify the partition has been added to the transaction. Underlying error: "
_ASK_AGAIN: Final = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""Nothing is wrong with the batch; NOT_ENOUGH_REPLICAS has clients of every age try again without new metadata."""


class TransactionSupport(NamedTuple):
    """The sender's support of transactions, by the version of its request."""

    adds_partitions: bool
    """Of the second version: its partitions are added by the brokers, its epoch rises with every transaction."""
    knows_abortable: bool
    """Whether it knows TRANSACTION_ABORTABLE."""


def produce_support(version: int) -> TransactionSupport:
    """Of a Produce in that version."""
    return TransactionSupport(adds_partitions=version >= 12, knows_abortable=version >= 11)


def offset_commit_support(version: int) -> TransactionSupport:
    """Of a TxnOffsetCommit in that version."""
    return TransactionSupport(adds_partitions=version >= 5, knows_abortable=version >= 4)


class TransactionalBatch(NamedTuple):
    """A batch that belongs to a transaction, and where it is to go."""

    partition: TopicPartition
    batch: Batch


class Clearance(NamedTuple):
    """The result of the check: how to append to a partition, or the error."""

    options: AppendOptions = FROM_CLIENT
    error_code: int = 0
    error_message: str | None = None
    # Not the exception: what it remembers of its stack would hold on to the request's frame.


Clearances: TypeAlias = dict[TopicPartition, Clearance]


def clear_transactional(
    parts: "BrokerParts",
    transactional_id: str,
    batches: Sequence[TransactionalBatch],
    support: TransactionSupport,
    done: Callable[[Clearances], None],
) -> None:
    """Tells `done` for each partition whether its batch may be appended. Raises what fails the whole request.

    The batches are looked at within this call alone.
    """
    producers = {(found.batch.producer_id, found.batch.producer_epoch) for found in batches}
    if len(producers) > 1:
        raise InvalidProducerIdMappingError("Transactional records contained more than one producer ID")
    if not support.adds_partitions and not parts.dynamic.current.boolean(_VERIFICATION_ENABLED):
        done({found.partition: Clearance(_UNVERIFIED) for found in batches})
        return
    cleared: Clearances = {}
    asked: dict[PartitionKey, AppendOptions] = {}
    for found in batches:
        clearance = _clear(parts, found, support)
        if isinstance(clearance, Clearance):
            cleared[found.partition] = clearance
        else:
            asked[PartitionKey(*found.partition)] = clearance
    if not asked:
        done(cleared)
        return
    question = TransactionQuestion(
        transactional_id, *producers.pop(), tuple(asked), is_verify_only=not support.adds_partitions
    )

    def answered(codes: Mapping[PartitionKey, int]) -> None:
        for key, options in asked.items():
            code = codes.get(key, ErrorCode.UNKNOWN_SERVER_ERROR)
            cleared[TopicPartition(*key)] = _refusal(code, support) if code else Clearance(options)
        done(cleared)

    parts.coordinators.verifier.ask(question, answered)


def _clear(parts: "BrokerParts", found: TransactionalBatch, support: TransactionSupport) -> Clearance | AppendOptions:
    """The result without a request, or the verification to append with once the coordinator agrees."""
    log = parts.logs.get(found.partition)
    if log is None:
        # The append says whether the partition is unknown or elsewhere.
        return Clearance()
    try:
        receipt = log.start_verification(found.batch, parts.clock.now_ms(), supports_epoch_bump=support.adds_partitions)
    except ApiError as error:
        return Clearance(error_code=int(error.code))
    return Clearance() if receipt is None else AppendOptions(verification=receipt)


def _refusal(code: int, support: TransactionSupport) -> Clearance:
    """The error in a form that a client of this version understands."""
    if code in _ASK_AGAIN:
        return Clearance(
            error_code=int(ErrorCode.NOT_ENOUGH_REPLICAS), error_message=f"{_UNANSWERED}{ErrorCode(code).name}"
        )
    if code == ErrorCode.PRODUCER_FENCED:
        return Clearance(error_code=int(ErrorCode.INVALID_PRODUCER_EPOCH))
    if code == ErrorCode.INVALID_TXN_STATE or (code == ErrorCode.TRANSACTION_ABORTABLE and not support.knows_abortable):
        return Clearance(error_code=int(ErrorCode.INVALID_TXN_STATE), error_message=_NOT_ADDED)
    return Clearance(error_code=int(code))
