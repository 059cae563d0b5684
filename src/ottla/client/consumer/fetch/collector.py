"""Takes fetched data out of the buffer in the user's context: as records, or as Arrow columns.

Here records get decoded, deserialized and counted, and positions move on. All of it runs in the caller's thread, so
that the event loop is free to fetch what comes next.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.consumer.fetch.completed_fetch import CompletedFetch
from ottla.client.consumer.fetch.fetch_buffer import FailedFetch, FetchBuffer
from ottla.client.consumer.fetch.fetch_metric import FetchMetrics
from ottla.client.consumer.fetch.record import RecordSource
from ottla.client.consumer.fetch.record_plain import Read
from ottla.client.consumer.fetch.records import Records
from ottla.client.consumer.offset.offset_reset import OffsetReset, ResetKind
from ottla.client.errors import OffsetOutOfRangeError
from ottla.client.record import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from ottla.client.consumer.fetch.arrow_batch import ArrowReader

_SOURCES_MAX: Final = 10_000


@frozen
class CollectOptions:
    """The options for turning fetched batches into records."""

    records_max: int
    read_key: Read | None
    read_value: Read | None
    reset: OffsetReset
    check_crcs: bool


class Collector:
    """The user's end of the buffer; `on_room` and `on_reset` tell the loop's side what happened."""

    def __init__(
        self,
        buffer: FetchBuffer,
        options: CollectOptions,
        metrics: FetchMetrics,
        on_taken: Callable[[], None],
        on_reset: Callable[[], None],
    ) -> None:
        self._buffer: Final = buffer
        self._options: Final = options
        self._metrics: Final = metrics
        self._on_taken: Final = on_taken
        self._on_reset: Final = on_reset
        self._sources: Final[dict[TopicPartition, RecordSource]] = {}

    @property
    def has_fetched(self) -> bool:
        """Whether there is something to collect."""
        return self._buffer.head() is not None

    def records(self) -> Records:
        """Up to `max.poll.records` records; what is wrong with a partition is raised once all before it was taken."""
        out = Records()
        left = self._options.records_max
        while left > 0:
            fetched = self._head(len(out))
            if fetched is None:
                break
            before = len(out)
            try:
                fetched.take(out, left, self._source(fetched.state.partition))
            except OttlaError:
                if not out:
                    raise
                left = 0
            state, position = fetched.state, fetched.position
            state.position = position
            out.positions[state.partition] = OffsetAndMetadata(position.offset, "", position.epoch)
            left -= len(out) - before
            self._metrics.consumed(state, len(out) - before)
            if fetched.is_drained:
                self._drop(fetched)
        return out

    def arrow(self, reader: "ArrowReader") -> Any:
        """The next fetch's records as a `pyarrow.RecordBatch`; None if there are none."""
        while (fetched := self._head(0)) is not None:
            state = fetched.state
            try:
                batch = reader.read(fetched, check_crcs=self._options.check_crcs)
            except OttlaError:
                # Not passed over: the next poll says so again, until the user seeks.
                fetched.rewind()
                raise
            state.position = fetched.position
            self._metrics.consumed(state, batch.num_rows)
            self._drop(fetched)
            if batch.num_rows:
                return batch
        return None

    def _head(self, collected: int) -> CompletedFetch | None:
        """The next data; an error in front of it is dealt with, unless there are records to return first."""
        while (fetched := self._buffer.head()) is not None:
            if isinstance(fetched, CompletedFetch):
                return fetched
            if collected:
                return None
            self._fail(fetched)
        return None

    def _fail(self, failed: FailedFetch) -> None:
        self._drop(failed)
        state = failed.state
        if state is None:
            raise failed.error
        if isinstance(failed.error, OffsetOutOfRangeError) and self._options.reset.kind is not ResetKind.NONE:
            state.request_reset(self._options.reset)
            self._on_reset()
            return
        state.refetch()
        self._on_reset()
        raise failed.error

    def _drop(self, fetched: CompletedFetch | FailedFetch) -> None:
        self._buffer.drop(fetched)
        self._on_taken()

    def _source(self, partition: TopicPartition) -> RecordSource:
        found = self._sources.get(partition)
        if found is None:
            if len(self._sources) >= _SOURCES_MAX:
                self._sources.clear()
            options = self._options
            found = self._sources[partition] = RecordSource(*partition, options.read_key, options.read_value)
        return found
