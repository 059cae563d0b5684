"""Batches between their checks and the file: they have their offsets, and nothing may refuse them any more."""

from collections.abc import Sequence
from typing import Final

from ottla.base.buffer import Buffer
from ottla.protocol.records.batch import Batch
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log.appending.producer_change import ProducerChange


class Placed:
    """One write of a log: its bytes and batches, and the changes that take effect with it."""

    __slots__ = ("batches", "change", "data", "epochs", "now_ms")

    def __init__(
        self, data: Buffer, batches: Sequence[Batch], change: ProducerChange, epochs: Sequence[EpochEntry], now_ms: int
    ) -> None:
        self.data: Final = data
        self.batches: Final = batches
        """The views on it, in order; at least one."""
        self.change: Final = change
        """What it does to the producers, not done yet."""
        self.epochs: Final = epochs
        """Epochs that begin with it."""
        self.now_ms: Final = now_ms

    @property
    def first_offset(self) -> int:
        """The first batch's first offset."""
        return self.batches[0].base_offset

    @property
    def last_offset(self) -> int:
        """The last batch's last offset."""
        return self.batches[-1].last_offset

    @property
    def max_timestamp(self) -> int:
        """The largest of all."""
        if len(self.batches) == 1:
            return self.batches[0].max_timestamp
        return max(batch.max_timestamp for batch in self.batches)
