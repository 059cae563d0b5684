"""Writes the rows of one task: routed, encoded straight from Arrow's columns in the task's thread, sent in another.

Encoding and sending overlap; `buffer.memory` bounds what lies between them.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from ottla.client.producer.bulk.backlog import Backlog
from ottla.client.producer.bulk.delivery import Delivery, DeliveryTerms, EncodedBatch
from ottla.client.producer.bulk.sequence_number import SequenceNumbers
from ottla.client.record import TopicPartition
from ottla.pipelines.sink.record_time import with_record_times
from ottla.pipelines.sink.row_routing import RoutedRows, RowRouting
from ottla.pipelines.sink.worker_cluster import WorkerCluster
from ottla.protocol.records.arrow.batches import encode_batches
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.writer import BatchOptions

_SLICE_BYTES: Final = 16 * 1024
"""The least bytes of a partition at a time: a producer's usual `batch.size`."""


class RecordSender:
    """The rows of one task on their way."""

    def __init__(self, worker: WorkerCluster, numbers: SequenceNumbers, terms: DeliveryTerms) -> None:
        options = worker.options
        self.rows = 0
        """How many were handed over."""
        self._thread: Final = worker.thread
        self._numbers: Final = numbers
        self._batch_bytes_max: Final = max(options.accumulator.batch_size, 1)
        self._request_bytes_max: Final = options.request_bytes_max
        self._batch: Final = BatchOptions(
            compression=options.batch.compression,
            compression_level=options.batch.compression_level,
            producer_id=numbers.identity.producer_id,
            producer_epoch=numbers.identity.epoch,
            is_transactional=terms.transactional_id is not None,
        )
        self._gather_bytes_max: Final = options.accumulator.memory_bytes // 4
        self._gather_bytes = 0
        self._backlog: Final = Backlog(options.accumulator.memory_bytes)
        self._delivery: Final = Delivery(worker.cluster, options, terms, self._backlog)

    def write(self, batches: Iterable[Any], routing: RowRouting) -> int:
        """Writes the rows of all `pyarrow.RecordBatch`es and waits until they are acknowledged; how many they were."""
        try:
            for batch in self._gathered(batches):
                self._send(routing.route(with_record_times(batch)))
            self._backlog.wait()
        except BaseException:
            self._thread.call_soon(self._delivery.cancel)
            raise
        return self.rows

    def _send(self, slices: Iterable[RoutedRows]) -> None:
        """Hands over a request's worth at a time, so that slices for the same broker travel together."""
        ready: list[EncodedBatch] = []
        size = count = 0
        for routed in slices:
            count += 1
            self.rows += routed.rows.num_rows
            for batch in self._encoded(routed):
                if ready and size + len(batch.data) > self._request_bytes_max:
                    self._hand_over(ready, size)
                    ready, size = [], 0
                ready.append(batch)
                size += len(batch.data)
        if ready:
            self._hand_over(ready, size)
        self._gather_bytes = min(count * _SLICE_BYTES, self._gather_bytes_max)

    def _gathered(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Several batches as one where each partition would get a few rows of each: 10,000 rows for 1,000 partitions
        would be 1,000 batches of records, whose cost is that of batches and not of bytes.
        """
        kept: list[Any] = []
        size = 0
        for batch in batches:
            kept.append(batch)
            size += batch.nbytes
            if size >= self._gather_bytes:
                yield _joined(kept)
                kept, size = [], 0
        if kept:
            yield _joined(kept)

    def _encoded(self, routed: RoutedRows) -> Iterator[EncodedBatch]:
        place = TopicPartition(routed.topic, routed.partition)
        encoded = encode_batches(
            routed.rows,
            replace(self._batch, base_sequence=self._numbers.take(place, routed.rows.num_rows)),
            batch_bytes_max=self._batch_bytes_max,
            default_timestamp=time.time_ns() // 1_000_000,
        )
        for data in encoded:
            # A producer's batch begins at 0; `encode_batches` goes on from batch to batch.
            Batch(data).assign(0, -1)
            yield EncodedBatch(place, data)

    def _hand_over(self, batches: list[EncodedBatch], size: int) -> None:
        self._backlog.add(size)
        self._thread.call_soon(self._delivery.add, batches)


def _joined(batches: list[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
