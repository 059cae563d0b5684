"""Transactions and the producers that partitions remember."""

from typing import NamedTuple

from ottla.client.record import TopicPartition


class TransactionListing(NamedTuple):
    """A transactional id in a list."""

    transactional_id: str
    producer_id: int
    state: str
    """In Kafka's spelling: Empty, Ongoing, PrepareCommit, CompleteCommit, PrepareAbort, CompleteAbort, Dead."""
    coordinator_id: int


class TransactionDescription(NamedTuple):
    """A transactional id and its present transaction; the start is None without one."""

    coordinator_id: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: frozenset[TopicPartition]


class ProducerState(NamedTuple):
    """A partition's state of a producer; the start offset is None without an open transaction."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int | None
    current_transaction_start_offset: int | None


class AbortTransactionSpec(NamedTuple):
    """A transaction that hangs in one partition."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int


class FencedProducer(NamedTuple):
    """The producer id and the epoch that fence what came before."""

    producer_id: int
    producer_epoch: int
