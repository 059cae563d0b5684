"""Reads ranges of offsets into Arrow, from ordinary threads.

No group is joined and no position is kept: the caller says where a range begins and ends. While one answer is decoded
the next one is on its way. Needs pyarrow (`pip install ottla[arrow]`).
"""

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.errors import RecordsLostError
from ottla.client.consumer.fetch.arrow_columns import COLUMNS, arrow_reader
from ottla.client.consumer.range.offset_range import OffsetRange
from ottla.client.consumer.range.range_fetch import FetchLimits, RangeFetch
from ottla.client.facade.loop_thread import LoopThread
from ottla.client.record import TopicPartition
from ottla.protocol.records.reader import ReadOptions


class RangeReader:
    """Reads ranges of offsets as `pyarrow.RecordBatch`es. Thread-safe; settings are a consumer's.

    with RangeReader(bootstrap_servers="localhost:9092") as reader:
        for batch in reader.read("orders", 0, start=1_000, end=2_000, columns=["offset", "value"]):
            print(batch.num_rows)
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, **settings: object) -> None:
        """Connects to the cluster. Raises `NoBrokersAvailableError`, or `ConfigError` for a bad setting."""
        # A topic that was deleted must not come back because it is read.
        found = ClientSettings.of(CONSUMER_KEYS, config, **{**settings, "allow_auto_create_topics": False})
        self._limits: Final = _limits(found)
        self._cluster: Final = ClusterClient(found)
        self._thread: Final = LoopThread(f"{self._cluster.client_id} range reader")
        try:
            self._thread.run(self._cluster.start(timeout_ms=0))
        except BaseException:
            self._thread.close()
            raise

    def read(
        self, topic: str, partition: int, *, start: int, end: int, columns: Sequence[str] = COLUMNS
    ) -> Iterator[Any]:
        """The records from offset `start` up to and without `end`, which must be in the log or come in time.

        Markers, aborted transactions and compaction leave offsets without a record. With
        `isolation.level=read_committed` it waits for open transactions.

        Raises `RecordsLostError` if records of the range were deleted or cut off, `KafkaTimeoutError` when
        nothing came for `default.api.timeout.ms`.
        """
        wanted = OffsetRange(TopicPartition(topic, partition), start, end)
        reader = arrow_reader((*columns,) if "offset" in columns else (*columns, "offset"))
        fetch = RangeFetch(self._cluster, wanted, self._limits, _refuse)
        pending = self._thread.start(fetch.next())
        try:
            while (fetched := pending.result()) is not None:
                pending = self._thread.start(fetch.next())
                options = ReadOptions(from_offset=fetched.start, check_crcs=self._limits.check_crcs)
                records = rows_before(reader.decoded(fetched.pieces, wanted.partition, options), end)
                if records.num_rows:
                    yield records.select(list(columns))
        finally:
            pending.cancel()

    def close(self) -> None:
        """Ends all connections and the thread. May be called again."""
        if self._thread.is_usable:
            self._thread.run(self._cluster.close())
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def rows_before(records: Any, end: int) -> Any:
    """The records with offsets below `end`: batches are fetched whole. Offsets only grow, so one cut is enough."""
    rows = records.num_rows
    offsets = records.column("offset")
    if not rows or offsets[rows - 1].as_py() < end:
        return records
    low, high = 0, rows
    while low < high:
        middle = (low + high) // 2
        if offsets[middle].as_py() < end:
            low = middle + 1
        else:
            high = middle
    return records.slice(0, low)


def _refuse(what: str) -> None:
    raise RecordsLostError(what)


def _limits(settings: ClientSettings) -> FetchLimits:
    return FetchLimits(
        bytes_max=settings.integer("max.partition.fetch.bytes"),
        wait_ms_max=settings.integer("fetch.max.wait.ms"),
        timeout_ms=settings.integer("default.api.timeout.ms"),
        is_committed_only=settings.string("isolation.level") == "read_committed",
        check_crcs=settings.boolean("check.crcs"),
        rack=settings.string("client.rack"),
    )
