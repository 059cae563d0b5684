"""Whether a transaction's first write was cleared with the coordinator (KIP-890).

Before a partition takes a transactional batch of a producer that has no transaction open there, the broker asks the
coordinator whether the transaction is still going on. `VerificationEntry` is the receipt for that question: only the
append that brings the very entry along is let through, so that an answer from before an abort cannot open a
transaction that no coordinator will end. So every marker voids it, even one that finds no transaction to end.

With transactions v2 epochs tell transactions apart: the marker that ends the one of epoch 4 has epoch 5, which is the
epoch of the next one. A producer may begin that before the markers are written, and then the answer that clears it may
come right behind the marker of epoch 5: that one leaves a question of epoch 5 alone, and voids one of epoch 4.
"""


class VerificationEntry:
    """An open question about one producer, identical only to itself."""

    __slots__ = ("created_ms", "is_void", "lowest_sequence", "producer_epoch", "supports_epoch_bump")

    def __init__(self, created_ms: int, sequence: int, producer_epoch: int, *, supports_epoch_bump: bool) -> None:
        self.created_ms = created_ms
        self.lowest_sequence = sequence
        self.producer_epoch = producer_epoch
        self.supports_epoch_bump = supports_epoch_bump
        self.is_void = False
        """Whether a marker has come since, so that the question was about a transaction that is over."""

    def note(self, sequence: int, producer_epoch: int) -> None:
        """Another request asks too: the lowest sequence number of the newest epoch has to be appended first."""
        if producer_epoch == self.producer_epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)
        elif producer_epoch > self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.lowest_sequence = sequence
