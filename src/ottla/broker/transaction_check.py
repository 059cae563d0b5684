"""Clears transactional batches with the transaction coordinator before they are appended (KIP-890).

A partition in which the producer has a transaction open takes more of it without a question. Any other would open one,
and nobody but the coordinator knows whether it is still going on; without asking, a late batch could open a transaction
that nobody ends, and read_committed consumers would wait for it for ever. This broker has no coordinator to ask, so
such a batch is answered as Apache Kafka answers while its coordinator cannot be reached.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.broker.parts import BrokerParts
from ottla.protocol.errors import ApiError, ErrorCode, InvalidProducerIdMappingError
from ottla.protocol.records.batch import Batch
from ottla.storage.log.append_info import FROM_CLIENT, AppendOptions
from ottla.storage.topic_partition import TopicPartition

_EPOCH_BUMP_SINCE: Final = 12
"""From this version of Produce on clients write in transactions of the second version."""
_UNVERIFIED: Final = AppendOptions(verify_transactions=False)
_UNANSWERED: Final = (
    "Unable to verify the partition has been added to the transaction. "
    f"Underlying error: {ErrorCode.COORDINATOR_NOT_AVAILABLE.name}"
)
_VERIFICATION_ENABLED: Final = "transaction.partition.verification.enable"


class TransactionalBatch(NamedTuple):
    """A batch that belongs to a transaction, and where it is to go."""

    partition: TopicPartition
    batch: Batch


class Clearance(NamedTuple):
    """What came of the question: how a partition is to be appended to, or why not."""

    options: AppendOptions = FROM_CLIENT
    error_code: int = 0
    error_message: str | None = None
    # Not the exception: what it remembers of its stack would hold on to the request's frame.


def clear_transactional(
    parts: BrokerParts, batches: Sequence[TransactionalBatch], produce_version: int
) -> dict[TopicPartition, Clearance]:
    """For each partition whether its batch may be appended. Raises what fails the whole request."""
    producers = {(found.batch.producer_id, found.batch.producer_epoch) for found in batches}
    if len(producers) > 1:
        raise InvalidProducerIdMappingError("Transactional records contained more than one producer ID")
    bumps_epoch = produce_version >= _EPOCH_BUMP_SINCE
    if not bumps_epoch and not parts.dynamic.current.boolean(_VERIFICATION_ENABLED):
        return {found.partition: Clearance(_UNVERIFIED) for found in batches}
    return {found.partition: _clear(parts, found, bumps_epoch=bumps_epoch) for found in batches}


def _clear(parts: BrokerParts, found: TransactionalBatch, *, bumps_epoch: bool) -> Clearance:
    log = parts.logs.get(found.partition)
    if log is None:
        # Whoever appends says whether the partition is unknown or elsewhere.
        return Clearance()
    try:
        question = log.start_verification(found.batch, parts.clock.now_ms(), supports_epoch_bump=bumps_epoch)
    except ApiError as error:
        return Clearance(error_code=int(error.code))
    if question is None:
        return Clearance()
    return Clearance(error_code=int(ErrorCode.NOT_ENOUGH_REPLICAS), error_message=_UNANSWERED)
