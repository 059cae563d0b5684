"""Which epoch a producer had before the newest one: soft state, since the log has no room for it.

A producer that asked for a new epoch and missed the answer asks again with the old one; this is how it is told from a
zombie. After a change of coordinator it can't be told any more, and the producer is fenced: so it is in Kafka.
"""

from ottla.coordinator.txn.transaction_metadata import NO_PRODUCER_EPOCH, TransactionMetadata


class LastEpochs:
    """Last epochs by transactional id. An entry counts for one id and epoch: if those are rolled back, it lapses."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, int, int]] = {}

    def note(self, transactional_id: str, metadata: TransactionMetadata, last_epoch: int) -> None:
        """The producer that has `metadata`'s id and epoch had `last_epoch` before; -1 if it had none."""
        if last_epoch == NO_PRODUCER_EPOCH:
            self._entries.pop(transactional_id, None)
        else:
            self._entries[transactional_id] = (metadata.producer_id, metadata.producer_epoch, last_epoch)

    def of(self, transactional_id: str, metadata: TransactionMetadata | None) -> int:
        """The epoch before the newest; -1 if it is not known."""
        entry = self._entries.get(transactional_id)
        if entry is None or metadata is None or entry[:2] != (metadata.producer_id, metadata.producer_epoch):
            return NO_PRODUCER_EPOCH
        return entry[2]

    def forget(self, transactional_id: str) -> None:
        """The id is no more."""
        self._entries.pop(transactional_id, None)

    def clear(self) -> None:
        """Forgets everything."""
        self._entries.clear()
