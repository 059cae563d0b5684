"""The coordinator's state of a transactional id, and its way into the log and back.

Immutable: a change is a new value. The log has no room for the epoch before the last one; see `last_epoch`.
"""

from collections import defaultdict
from typing import Final, NamedTuple

from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.txn.state import TransactionState
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_TIME: Final = -1
PRODUCER_EPOCH_MAX: Final = 32_767
TIMEOUT_MS_MAX: Final = 2_147_483_647
"""The time-out of a transaction that another system commits (KIP-939): it never ends by itself."""
TRANSACTIONS_V2: Final = 2
"""The level of `transaction.version` from which on every end raises the epoch (KIP-890)."""


class TransactionMetadata(NamedTuple):
    """A transactional id at one moment."""

    producer_id: int
    previous_producer_id: int
    """The id before the last change, usually the same."""
    next_producer_id: int
    """The id to go on with once the markers are written, if this one's epochs ran out; else -1."""
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: frozenset[PartitionKey]
    start_ms: int
    last_update_ms: int
    client_version: int
    """The transaction version of the last request that changed the transaction."""

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether the producer may get no higher epoch: one is always kept for fencing it."""
        return is_epoch_exhausted(self.producer_epoch)

    @property
    def deadline_ms(self) -> int | None:
        """The time at which an open transaction is aborted; None for never."""
        if self.state is not TransactionState.ONGOING or self.timeout_ms == TIMEOUT_MS_MAX:
            return None
        return self.start_ms + self.timeout_ms


def is_epoch_exhausted(producer_epoch: int) -> bool:
    """Whether no higher epoch can be given out after this one.

    >>> is_epoch_exhausted(32_765), is_epoch_exhausted(32_766)
    (False, True)
    """
    return producer_epoch >= PRODUCER_EPOCH_MAX - 1


def record_of(transactional_id: str, metadata: TransactionMetadata, transaction_version: int) -> CoordinatorRecord:
    """The log record that says all of this; `transaction_version` is the cluster's finalized level."""
    value = TransactionLogValue(
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        transaction_timeout_ms=metadata.timeout_ms,
        transaction_status=metadata.state,
        transaction_partitions=_by_topic(metadata),
        transaction_last_update_timestamp_ms=metadata.last_update_ms,
        transaction_start_timestamp_ms=metadata.start_ms,
    )
    version = 1 if transaction_version >= 1 else 0
    if version:
        value.previous_producer_id = metadata.previous_producer_id
        value.next_producer_id = metadata.next_producer_id
        value.client_transaction_version = metadata.client_version
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), value, version)


def tombstone_of(transactional_id: str) -> CoordinatorRecord:
    """The tombstone of the id."""
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), None, -1)


def metadata_of(value: TransactionLogValue) -> TransactionMetadata:
    """Reads a log record."""
    partitions = value.transaction_partitions or ()
    return TransactionMetadata(
        producer_id=value.producer_id,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        producer_epoch=value.producer_epoch,
        timeout_ms=value.transaction_timeout_ms,
        state=TransactionState(value.transaction_status),
        partitions=frozenset(PartitionKey(entry.topic, index) for entry in partitions for index in entry.partition_ids),
        start_ms=value.transaction_start_timestamp_ms,
        last_update_ms=value.transaction_last_update_timestamp_ms,
        client_version=value.client_transaction_version,
    )


def _by_topic(metadata: TransactionMetadata) -> list[PartitionsSchema] | None:
    if metadata.state is TransactionState.EMPTY:
        return None
    topics: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(metadata.partitions):
        topics[topic].append(partition)
    return [PartitionsSchema(topic=topic, partition_ids=indexes) for topic, indexes in topics.items()]
