"""The work of a task: one range of offsets becomes Arrow batches.

While a fetched answer is decoded and handed to Spark, the next one is on its way.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pyspark.sql.datasource import InputPartition

from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.range.range_fetch import FetchLimits, RangeFetch
from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.source.arrow_column import ArrowColumns
from ottla.pipelines.source.data_loss import DataLoss
from ottla.pipelines.source.offset_range import OffsetRange
from ottla.pipelines.worker_client import WorkerClient, WorkerClients

FETCH_BYTES: Final = 4 << 20
"""The bytes of one request unless `kafka.max.partition.fetch.bytes` is set."""
_clients: Final = WorkerClients[WorkerClient]()


class RangePartition(InputPartition):
    """A range as Spark's planner passes it to a task."""

    def __init__(self, wanted: OffsetRange) -> None:
        super().__init__(wanted)
        self.range: Final = wanted


def read_range(partition: InputPartition, options: ReadOptions, columns: Sequence[str]) -> Iterator[Any]:
    """The records of a task as `pyarrow.RecordBatch`es."""
    if not isinstance(partition, RangePartition):
        # A plan without partitions still has one task, which Spark gives nothing to read.
        return
    client = source_client(options)
    limits = _limits(client.settings, options)
    fetch = RangeFetch(client.cluster, partition.range, limits, DataLoss(options.fails_on_data_loss).report)
    arrow = ArrowColumns(columns, partition.range)
    pending = client.thread.start(fetch.next())
    try:
        while (fetched := pending.result()) is not None:
            pending = client.thread.start(fetch.next())
            yield from arrow.batches(fetched, check_crcs=limits.check_crcs)
    finally:
        # A query with a limit stops in the middle.
        pending.cancel()


def source_client(options: ReadOptions) -> WorkerClient:
    """This process's connection to the cluster that is read."""
    return _clients.get(options.settings, lambda: _connect(options))


def _connect(options: ReadOptions) -> WorkerClient:
    settings = ClientSettings.of(CONSUMER_KEYS, {**options.settings, "allow.auto.create.topics": "false"})
    return WorkerClient(settings, "ottla-spark-source", options.poll_timeout_ms)


def _limits(settings: ClientSettings, options: ReadOptions) -> FetchLimits:
    name = "max.partition.fetch.bytes"
    wanted = settings.integer(name) if settings.is_given(name) else FETCH_BYTES
    return FetchLimits(
        bytes_max=min(wanted, settings.integer("fetch.max.bytes")),
        wait_ms_max=settings.integer("fetch.max.wait.ms"),
        timeout_ms=options.poll_timeout_ms,
        is_committed_only=options.is_committed_only,
        check_crcs=settings.boolean("check.crcs"),
        rack=settings.string("client.rack"),
        timeout_setting="kafkaConsumer.pollTimeoutMs",
    )
