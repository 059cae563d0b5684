"""The markers of one transaction that is ending: which partitions still lack theirs."""

from collections.abc import Callable
from typing import Final

from ottla.coordinator.ports import PartitionKey, TransactionMarker
from ottla.coordinator.txn.state import TransactionState
from ottla.coordinator.txn.transaction_metadata import TransactionMetadata


class MarkerJob:
    """A decided transaction on its way into its partitions.

    `remaining` shrinks with each acknowledgement. When it is empty `written` is called, once, unless the job was
    cancelled: then another coordinator goes on with it.
    """

    __slots__ = (
        "attempts",
        "coordinator_epoch",
        "due_ms",
        "is_over",
        "metadata",
        "remaining",
        "transactional_id",
        "waiting",
        "written",
    )

    def __init__(
        self,
        transactional_id: str,
        metadata: TransactionMetadata,
        coordinator_epoch: Callable[[], int],
        written: Callable[["MarkerJob"], None],
    ) -> None:
        """`coordinator_epoch` is asked for each marker: it may rise while markers are still refused."""
        self.transactional_id: Final = transactional_id
        self.metadata: Final = metadata
        self.coordinator_epoch: Final = coordinator_epoch
        self.written: Final = written
        self.remaining: Final[set[PartitionKey]] = set(metadata.partitions)
        self.waiting: set[PartitionKey] = set()
        """Partitions whose leader is unknown or has refused."""
        self.due_ms: int | None = None
        """When to try those again."""
        self.attempts = 0
        self.is_over = False

    @property
    def marker(self) -> TransactionMarker:
        """The marker for each partition."""
        metadata = self.metadata
        return TransactionMarker(
            producer_id=metadata.producer_id,
            producer_epoch=metadata.producer_epoch,
            coordinator_epoch=self.coordinator_epoch(),
            committed=metadata.state is TransactionState.PREPARE_COMMIT,
            transaction_version=metadata.client_version,
        )
