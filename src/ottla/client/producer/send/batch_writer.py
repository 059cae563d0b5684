"""Gives batches their sequence numbers, and writes them as they are sent."""

from typing import Final

from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.sequence import SequenceLedger
from ottla.protocol.compression import CompressionType
from ottla.protocol.records.writer import BatchOptions


class BatchWriter:
    """Writes one producer's batches, in the event loop or in a thread that carries a batch by itself."""

    def __init__(self, accumulator: Accumulator, ledger: SequenceLedger | None, options: BatchOptions) -> None:
        self._accumulator: Final = accumulator
        self._ledger: Final = ledger
        self._options: Final = options

    def write(self, batch: ProducerBatch) -> None:
        """Numbers a batch that has no number yet, and writes one that is not written yet."""
        identity = None
        if self._ledger is not None and not batch.has_sequence:
            identity = self._ledger.number(batch.queue, batch)
        if batch.records is not None:
            if identity is not None:
                batch.assign(*identity)
            return
        known = (batch.producer_id, batch.producer_epoch, batch.base_sequence)
        written = batch.write(self._options, identity or known)
        if self._options.compression is not CompressionType.NONE:
            self._accumulator.learn_ratio(batch.queue.topic, len(written) / max(1, batch.used))
