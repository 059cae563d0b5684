"""The interface of connectors in Python: a class for the connector, and one for its tasks.

A connector is asked once, for its settings and how to share the work; its tasks move the data. Each task runs in a
process and a thread of its own and is told everything through its methods: it needs no locks and no event loop. A
`poll` with nothing to give returns an empty list at once; the worker waits before it asks again.

    class Ticks(SourceConnector):
        def task_class(self):
            return TickTask
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.config.definition import ConfigDef
from ottla.connect.data.column import Column
from ottla.connect.record import SinkRecord, SourceRecord
from ottla.connect.transaction import TransactionContext

Partition = Mapping[str, object]
Offset = Mapping[str, object]
Settings = Mapping[str, str]


class SourceContext(Protocol):
    """The services that the worker offers to a source task."""

    def offset(self, partition: Partition) -> Offset | None:
        """The last stored offset of a partition of the source; None if there is none."""
        ...

    def now_ms(self) -> int:
        """The time, for records whose source tells none."""
        ...

    @property
    def transaction(self) -> TransactionContext | None:
        """The ends of transactions, with `transaction.boundary=connector`; None otherwise."""
        ...


class SinkContext(Protocol):
    """The services that the worker offers to a sink task."""

    def report(self, record: SinkRecord, error: BaseException) -> None:
        """Gives up one record: it becomes a dead letter or fails the task, by the setting `errors.tolerance`."""
        ...


class SourceTask:
    """Reads a part of the source."""

    java_name: ClassVar[str] = ""
    """What Kafka calls the class, where it has it."""

    def start(self, context: SourceContext, settings: Settings) -> None:
        """Called once, before anything else."""

    def poll(self) -> Sequence[SourceRecord]:
        """Returns the next records, or an empty list if there are none now. Must not wait long."""
        raise AssertionError(f"{type(self).__name__} has no poll")

    has_column_keys: ClassVar[bool] = False
    """Whether its columns may have keys."""

    def column_kind(self) -> ColumnKind | None:
        """The kind of values that `poll_columns` returns, asked once after `start`; None without columns."""
        return None

    def poll_columns(self) -> SourceColumns | None:
        """Returns the next records as columns. After None the worker calls `poll`, which continues from there."""
        return None

    def commit(self) -> None:
        """Called once all records of earlier polls are stored: the source may be acknowledged."""

    def stop(self) -> None:
        """Called once, at the end of the task."""


class SinkTask:
    """Writes records to their destination."""

    java_name: ClassVar[str] = ""
    """What Kafka calls the class, where it has it."""

    def start(self, context: SinkContext, settings: Settings) -> None:
        """Called once, before anything else."""

    def open(self, partitions: Sequence[tuple[str, int]]) -> None:
        """Called when partitions are assigned to the task."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Takes records. After `RetriableError` the same records come again."""
        raise AssertionError(f"{type(self).__name__} has no put")

    takes_texts: ClassVar[bool] = False
    """Whether `put_texts` does the same as `put` for records whose values are texts, whatever else they have."""

    def put_texts(self, values: Any) -> None:
        """Takes values as a `pyarrow.Array` of strings; null is a tombstone. Errors are as with `put`."""
        raise AssertionError(f"{type(self).__name__} has no put_texts")

    takes_columns: ClassVar[bool] = False
    """Whether `put_columns` does the same as `put` for any records, whatever they have besides values."""

    def put_columns(self, values: Sequence[Column]) -> None:
        """Takes values by their fields (`ottla.connect.data.column`), in order. Errors are as with `put`."""
        raise AssertionError(f"{type(self).__name__} has no put_columns")

    def flush(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Makes everything that was put durable; the worker then commits these offsets."""

    def close(self, partitions: Sequence[tuple[str, int]]) -> None:
        """Called when partitions are taken from the task."""

    def stop(self) -> None:
        """Called once, at the end of the task."""


class Connector:
    """The base class of `SourceConnector` and `SinkConnector`."""

    version: ClassVar[str] = "4.3.1"
    config_def: ClassVar[ConfigDef] = ConfigDef()

    def __init__(self) -> None:
        self.settings: Settings = {}

    def validate(self, settings: Settings) -> Mapping[str, Sequence[str]]:
        """Checks settings against each other: error messages by the name of the setting."""
        return {}

    def start(self, settings: Settings) -> None:
        """Called once, before `task_configs`."""
        self.settings = settings

    def task_configs(self, tasks_max: int) -> Sequence[Settings]:
        """Shares the work: the settings of each task, for at most `tasks_max` tasks."""
        return [self.settings]

    def has_changed(self) -> bool:
        """Whether `task_configs` would answer otherwise now. Called every few seconds; must not wait long."""
        return False

    def stop(self) -> None:
        """Called once, at the end."""


class SourceConnector(Connector):
    """The base class of connectors that write to topics."""

    exactly_once: ClassVar[bool] = True
    """Whether a task that starts from its last offset gives exactly the records that are missing."""

    def defines_transactions(self, settings: Settings) -> bool:
        """Whether its tasks set the bounds of transactions, for `transaction.boundary=connector`."""
        return False

    def task_class(self) -> type[SourceTask]:
        """The class of its tasks."""
        raise AssertionError(f"{type(self).__name__} has no task_class")

    def alter_offsets(self, settings: Settings, offsets: Sequence[tuple[Partition, Offset | None]]) -> bool:
        """Checks offsets that a user sets, and raises `ConnectError` to refuse them; False if it does not check."""
        return False


class SinkConnector(Connector):
    """The base class of connectors that read topics."""

    def task_class(self) -> type[SinkTask]:
        """The class of its tasks."""
        raise AssertionError(f"{type(self).__name__} has no task_class")

    def task_configs(self, tasks_max: int) -> Sequence[Settings]:
        """As many tasks as there may be: they share the partitions."""
        return [self.settings] * tasks_max

    def alter_offsets(self, settings: Settings, offsets: Mapping[tuple[str, int], int | None]) -> bool:
        """Refuses offsets that make no sense (`ConnectError`); False if it does not look at them."""
        return False
