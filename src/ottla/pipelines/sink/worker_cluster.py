"""The connection of a Python worker to the cluster that it writes to: one per process and settings, kept between tasks.

Spark forks its workers from one process and uses them again for task after task. A forked child makes its own: threads
and sockets of its parent are none of its.
"""

import gc
import os
from typing import Final

from ottla.base.config import ConfigError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.facade.loop_thread import LoopThread
from ottla.client.producer.option import ProducerOptions
from ottla.pipelines.option.error import OptionError
from ottla.pipelines.option.name import KAFKA_PREFIX
from ottla.pipelines.sink.patience import Patience
from ottla.pipelines.sink.producer_number import ProducerNumbers

BATCH_BYTES: Final = 512 * 1024
"""`batch.size` unless given: whole columns are at hand, so that a batch need not wait for its records."""
TRANSACTION_TIMEOUT_MS: Final = 300_000
"""`transaction.timeout.ms` unless given: a micro-batch, and the restart of a driver that died, have to fit into it."""
_DEFAULTS: Final = {
    "batch.size": str(BATCH_BYTES),
    "max.request.size": str(4 * BATCH_BYTES),
    "transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
}
_clients: Final[dict[tuple[int, frozenset[tuple[str, str]]], "WorkerCluster"]] = {}


def sink_settings(settings: dict[str, str]) -> ClientSettings:
    """The client's settings; `OptionError` for one that a sink can't have."""
    found = ClientSettings.of(PRODUCER_KEYS, {**_DEFAULTS, **settings})
    if found.string("acks") == "0":
        raise OptionError("kafka.acks", "0 can't be: a task would end before anybody knew whether its rows are written")
    try:
        ProducerOptions.of(found)
    except ConfigError as error:
        # Each is right by itself, and they contradict each other.
        raise OptionError(KAFKA_PREFIX + error.key, f"{error.value}: {error.reason}") from None
    return found


def is_idempotent(settings: ClientSettings) -> bool:
    """Whether brokers know a batch again that is sent twice."""
    return ProducerOptions.of(settings).is_idempotent


class WorkerCluster:
    """A cluster client and the thread that it lives in."""

    def __init__(self, settings: dict[str, str]) -> None:
        """Connects, trying for `max.block.ms`."""
        self.settings: Final = sink_settings(settings)
        self.options: Final = ProducerOptions.of(self.settings)
        self.thread: Final = LoopThread("ottla-spark-sink")
        self.cluster: Final = ClusterClient(self.settings)
        self.patience: Final = Patience(self.cluster, self.options.max_block_ms)
        self.numbers: ProducerNumbers | None = None
        """Of the producer that writes without transactions, while no task uses it."""
        try:
            self.thread.run(self.cluster.start(timeout_ms=self.options.max_block_ms))
        except BaseException:
            self.thread.close()
            raise

    def partition_count(self, topic: str, at_least: int = 1) -> int:
        """How many partitions a topic has; waits `max.block.ms` for one that is being made.

        Asks again if it is known to have less than `at_least`.
        """
        found = self.cluster.view.topics.get(topic)
        if found is not None and len(found.partitions) < at_least:
            found = self.thread.run(self.cluster.refresh(timeout_ms=self.options.max_block_ms)).topics.get(topic)
        if found is None:
            found = self.thread.run(self.cluster.topic(topic, timeout_ms=self.options.max_block_ms))
        return len(found.partitions)


def worker_cluster(settings: dict[str, str]) -> WorkerCluster:
    """The connection of this process for these settings."""
    key = (os.getpid(), frozenset(settings.items()))
    client = _clients.get(key)
    if client is None or not client.thread.is_usable:
        client = _clients[key] = WorkerCluster(settings)
        # Spark's worker collects garbage after every task; what is there now stays, and need not be looked at again.
        gc.freeze()
    return client
