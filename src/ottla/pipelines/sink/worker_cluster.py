"""The settings of a sink, and the connection of a Python worker to the cluster that it writes to."""

from typing import Final

from ottla.base.config import ConfigError
from ottla.client.cluster.retrying_client import RetryingClient
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.producer.bulk.sequence_number import SequenceNumbers
from ottla.client.producer.option import ProducerOptions
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.name import KAFKA_PREFIX
from ottla.pipelines.worker_client import WorkerClient, WorkerClients

BATCH_BYTES: Final = 512 * 1024
"""`batch.size` unless given: whole columns are at hand, so that a batch need not wait for its records."""
TRANSACTION_TIMEOUT_MS: Final = 300_000
"""`transaction.timeout.ms` unless given: a micro-batch, and the restart of a driver that died, have to fit into it."""
_DEFAULTS: Final = {
    "batch.size": str(BATCH_BYTES),
    "max.request.size": str(4 * BATCH_BYTES),
    "transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
}


def sink_settings(settings: dict[str, str]) -> ClientSettings:
    """The client's settings; `OptionError` for one that a sink can't have."""
    found = ClientSettings.of(PRODUCER_KEYS, {**_DEFAULTS, **settings})
    if found.string("acks") == "0":
        raise OptionError("kafka.acks", "0 can't be: a task would end before it is known whether its rows are written")
    try:
        ProducerOptions.of(found)
    except ConfigError as error:
        # Each is right by itself, and they contradict each other.
        raise OptionError(KAFKA_PREFIX + error.key, f"{error.value}: {error.reason}") from None
    return found


def is_idempotent(settings: ClientSettings) -> bool:
    """Whether brokers know a batch again that is sent twice."""
    return ProducerOptions.of(settings).is_idempotent


class WorkerCluster(WorkerClient):
    """A cluster client that writes."""

    def __init__(self, settings: dict[str, str]) -> None:
        """Connects, trying for `max.block.ms`."""
        found = sink_settings(settings)
        self.options: Final = ProducerOptions.of(found)
        super().__init__(found, "ottla-spark-sink", self.options.max_block_ms)
        self.client: Final = RetryingClient(self.cluster, self.options.max_block_ms)
        self.numbers: SequenceNumbers | None = None
        """Of the producer that writes without transactions, while no task uses it."""

    def partition_count(self, topic: str, at_least: int = 1) -> int:
        """The number of partitions of a topic; waits `max.block.ms` for one that is being made.

        Asks again if it is known to have less than `at_least`.
        """
        found = self.cluster.view.topics.get(topic)
        if found is not None and len(found.partitions) < at_least:
            found = self.thread.run(self.cluster.refresh(timeout_ms=self.options.max_block_ms)).topics.get(topic)
        if found is None:
            found = self.thread.run(self.cluster.topic(topic, timeout_ms=self.options.max_block_ms))
        return len(found.partitions)


_clusters: Final = WorkerClients[WorkerCluster]()


def worker_cluster(settings: dict[str, str]) -> WorkerCluster:
    """The connection of this process for these settings."""
    return _clusters.get(settings, lambda: WorkerCluster(settings))
