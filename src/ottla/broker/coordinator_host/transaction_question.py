"""The request of a partition's leader to a transaction coordinator before it appends."""

from typing import NamedTuple

from ottla.coordinator.ports import PartitionKey


class TransactionQuestion(NamedTuple):
    """The question whether the partitions are part of the producer's transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[PartitionKey, ...]
    is_verify_only: bool
    """Otherwise they are made part of it."""
