"""Writes the rows of a task on an executor, where each may be written more than once.

The producer's identity is kept from task to task: a new one each time would fill the brokers' memory of producers.
After a failure it is dropped: which of its numbers were used is not known.
"""

from collections.abc import Iterable
from typing import Any

from ottla.client.cluster.cluster_client import ANY_NODE
from ottla.client.producer.bulk.delivery import DeliveryTerms
from ottla.client.producer.bulk.sequence_number import SequenceNumbers
from ottla.client.producer.sequence import ProducerIdentity
from ottla.pipelines.option.parse import WriteOptions
from ottla.pipelines.sink.record_sender import RecordSender
from ottla.pipelines.sink.row_routing import RowRouting
from ottla.pipelines.sink.worker_cluster import WorkerCluster, worker_cluster
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def write_at_least_once(options: WriteOptions, batches: Iterable[Any], partition_id: int) -> int:
    """Writes all rows; how many they were. `partition_id` is Spark's."""
    worker = worker_cluster(options.settings)
    numbers = worker.numbers or _new_numbers(worker)
    worker.numbers = None
    sender = RecordSender(worker, numbers, DeliveryTerms())
    rows = sender.write(batches, RowRouting(options.topic, worker.partition_count, partition_id))
    worker.numbers = numbers
    return rows


def _new_numbers(worker: WorkerCluster) -> SequenceNumbers:
    if not worker.options.is_idempotent:
        return SequenceNumbers()
    return SequenceNumbers(worker.thread.run(_new_identity(worker)))


async def _new_identity(worker: WorkerCluster) -> ProducerIdentity:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=worker.options.transaction_timeout_ms)
    response = await worker.client.ask(ANY_NODE, request, InitProducerIdResponse)
    return ProducerIdentity(response.producer_id, response.producer_epoch)
