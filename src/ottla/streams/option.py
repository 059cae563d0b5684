"""The options of operators: names, serdes and stores. Options are immutable; `with_…` methods return a changed copy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, TypeAlias

from ottla.streams.duration import Duration, milliseconds
from ottla.streams.engine.extractor import TimestampExtractor
from ottla.streams.engine.store.spec import StoreSupplier
from ottla.streams.naming import checked_name
from ottla.streams.record import K, T, V
from ottla.streams.serde import Serde

Partitioner: TypeAlias = Callable[[str, Any, Any, int], int | None]
"""`(topic, key, value, number of partitions)` to a partition; None leaves it to the producer."""


class StoreType(Enum):
    """Where the stores of the DSL lie that have no supplier of their own, by Kafka Streams' names."""

    ROCKS_DB = "rocksDB"
    """On disk. It is LMDB here."""
    IN_MEMORY = "in_memory"
    """In memory, on the local host; Spark keeps all stores on disk."""


@dataclass(frozen=True, slots=True)
class Named:
    """The name of an operator, which its node in `describe()` has."""

    name: str

    def __post_init__(self) -> None:
        checked_name(self.name)

    @classmethod
    def as_(cls, name: str) -> "Named":
        """This name."""
        return cls(name)

    def with_name(self, name: str) -> "Named":
        """Another name."""
        return replace(self, name=name)


def name_of(named: Named | None) -> str | None:
    """The name, if there is one."""
    return None if named is None else named.name


@dataclass(frozen=True, slots=True)
class Consumed(Generic[K, V]):
    """Options of a source: serdes, timestamps, and where to begin without a committed offset."""

    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    timestamp_extractor: TimestampExtractor | None = None
    offset_reset: str | None = None
    name: str | None = None

    @classmethod
    def with_(cls, key_serde: Serde[K] | None = None, value_serde: Serde[V] | None = None) -> "Consumed[K, V]":
        """With these serdes."""
        return cls(key_serde, value_serde)

    @classmethod
    def as_(cls, name: str) -> "Consumed[K, V]":
        """With this name."""
        return cls(name=name)

    def with_key_serde(self, serde: Serde[K]) -> "Consumed[K, V]":
        """With this serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: Serde[V]) -> "Consumed[K, V]":
        """With this serde of values."""
        return replace(self, value_serde=serde)

    def with_timestamp_extractor(self, extractor: TimestampExtractor) -> "Consumed[K, V]":
        """Takes timestamps from `extractor(record, partition_time)`."""
        return replace(self, timestamp_extractor=extractor)

    def with_offset_reset_policy(self, policy: str) -> "Consumed[K, V]":
        """Begins at `earliest` or `latest` where the group has no committed offset."""
        if policy not in ("earliest", "latest"):
            raise ValueError(f"the offset reset policy is earliest or latest, not {policy}")
        return replace(self, offset_reset=policy)

    def with_name(self, name: str) -> "Consumed[K, V]":
        """With this name."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class Produced(Generic[K, V]):
    """Options of a sink: serdes and the choice of partitions."""

    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    partitioner: Partitioner | None = None
    name: str | None = None

    @classmethod
    def with_(cls, key_serde: Serde[K] | None = None, value_serde: Serde[V] | None = None) -> "Produced[K, V]":
        """With these serdes."""
        return cls(key_serde, value_serde)

    @classmethod
    def as_(cls, name: str) -> "Produced[K, V]":
        """With this name."""
        return cls(name=name)

    def with_key_serde(self, serde: Serde[K]) -> "Produced[K, V]":
        """With this serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: Serde[V]) -> "Produced[K, V]":
        """With this serde of values."""
        return replace(self, value_serde=serde)

    def with_stream_partitioner(self, partitioner: Partitioner) -> "Produced[K, V]":
        """With this choice of the partition."""
        return replace(self, partitioner=partitioner)

    def with_name(self, name: str) -> "Produced[K, V]":
        """With this name."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class Grouped(Generic[K, V]):
    """Options of `group_by` and `group_by_key`: serdes, and the name of the repartition topic."""

    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    name: str | None = None

    @classmethod
    def with_(cls, key_serde: Serde[K] | None = None, value_serde: Serde[V] | None = None) -> "Grouped[K, V]":
        """With these serdes."""
        return cls(key_serde, value_serde)

    @classmethod
    def as_(cls, name: str) -> "Grouped[K, V]":
        """With this name."""
        return cls(name=name)

    def with_key_serde(self, serde: Serde[K]) -> "Grouped[K, V]":
        """With this serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: Serde[V]) -> "Grouped[K, V]":
        """With this serde of values."""
        return replace(self, value_serde=serde)

    def with_name(self, name: str) -> "Grouped[K, V]":
        """With this name."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class Joined(Generic[K, V]):
    """Options of the join of a stream with a table."""

    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    other_value_serde: Serde[Any] | None = None
    name: str | None = None
    grace_ms: int | None = None

    @classmethod
    def with_(
        cls,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        other_value_serde: Serde[Any] | None = None,
    ) -> "Joined[K, V]":
        """With these serdes."""
        return cls(key_serde, value_serde, other_value_serde)

    @classmethod
    def as_(cls, name: str) -> "Joined[K, V]":
        """With this name."""
        return cls(name=name)

    def with_key_serde(self, serde: Serde[K]) -> "Joined[K, V]":
        """With this serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: Serde[V]) -> "Joined[K, V]":
        """With this serde of values."""
        return replace(self, value_serde=serde)

    def with_other_value_serde(self, serde: Serde[Any]) -> "Joined[K, V]":
        """With this serde of the other side's values."""
        return replace(self, other_value_serde=serde)

    def with_name(self, name: str) -> "Joined[K, V]":
        """With this name."""
        return replace(self, name=name)

    def with_grace_period(self, grace: Duration) -> "Joined[K, V]":
        """Holds records of the stream back for this stream time, until the versioned table is complete."""
        return replace(self, grace_ms=milliseconds(grace, "Grace period must not be negative."))


@dataclass(frozen=True, slots=True)
class StreamJoined(Generic[K, V]):
    """Options of the join of two streams: serdes, and the stores that hold both sides."""

    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    other_value_serde: Serde[Any] | None = None
    name: str | None = None
    store_name: str | None = None
    logging: bool = True
    this_store: StoreSupplier | None = None
    other_store: StoreSupplier | None = None
    topic_config: Mapping[str, str] = field(default_factory=dict)
    store_type: StoreType | None = None

    @classmethod
    def with_(
        cls,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        other_value_serde: Serde[Any] | None = None,
    ) -> "StreamJoined[K, V]":
        """With these serdes."""
        return cls(key_serde, value_serde, other_value_serde)

    @classmethod
    def as_(cls, store_name: str) -> "StreamJoined[K, V]":
        """With this name of the stores."""
        return cls(store_name=store_name)

    def with_key_serde(self, serde: Serde[K]) -> "StreamJoined[K, V]":
        """With this serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: Serde[V]) -> "StreamJoined[K, V]":
        """With this serde of values."""
        return replace(self, value_serde=serde)

    def with_other_value_serde(self, serde: Serde[Any]) -> "StreamJoined[K, V]":
        """With this serde of the other side's values."""
        return replace(self, other_value_serde=serde)

    def with_name(self, name: str) -> "StreamJoined[K, V]":
        """With this name of the nodes."""
        return replace(self, name=name)

    def with_store_name(self, name: str) -> "StreamJoined[K, V]":
        """With this name of the stores."""
        return replace(self, store_name=name)

    @classmethod
    def with_store_suppliers(cls, this_store: StoreSupplier, other_store: StoreSupplier) -> "StreamJoined[K, V]":
        """With these window stores."""
        return cls(this_store=this_store, other_store=other_store)

    def with_this_store_supplier(self, supplier: StoreSupplier) -> "StreamJoined[K, V]":
        """With this window store of the left records. It retains duplicates, and has the size of the join's windows."""
        return replace(self, this_store=supplier)

    def with_other_store_supplier(self, supplier: StoreSupplier) -> "StreamJoined[K, V]":
        """With this window store of the right records."""
        return replace(self, other_store=supplier)

    def with_dsl_store_suppliers(self, store_type: StoreType) -> "StreamJoined[K, V]":
        """With stores of this type, where no supplier is given."""
        return replace(self, store_type=store_type)

    def with_logging_enabled(self, config: Mapping[str, str]) -> "StreamJoined[K, V]":
        """With changelogs that have these settings."""
        return replace(self, logging=True, topic_config=dict(config))

    def with_logging_disabled(self) -> "StreamJoined[K, V]":
        """Without changelogs."""
        return replace(self, logging=False)


@dataclass(frozen=True, slots=True)
class TableJoined:
    """How two tables are joined by a foreign key: a name, and how their topics are partitioned."""

    name: str | None = None
    partitioner: Partitioner | None = None
    other_partitioner: Partitioner | None = None

    @classmethod
    def as_(cls, name: str) -> "TableJoined":
        """With this name."""
        return cls(name)

    @classmethod
    def with_(cls, partitioner: Partitioner | None, other_partitioner: Partitioner | None) -> "TableJoined":
        """With the partitioners of this table's topic and of the other's; they are called without a value."""
        return cls(None, partitioner, other_partitioner)

    def with_name(self, name: str) -> "TableJoined":
        """With this name."""
        return replace(self, name=name)

    def with_partitioner(self, partitioner: Partitioner) -> "TableJoined":
        """With this table's partitioner; without one an answer goes to the partition that asked."""
        return replace(self, partitioner=partitioner)

    def with_other_partitioner(self, partitioner: Partitioner) -> "TableJoined":
        """With the other table's partitioner."""
        return replace(self, other_partitioner=partitioner)


@dataclass(frozen=True, slots=True)
class Repartitioned(Generic[K, V]):
    """Options of `repartition`: serdes, and the number and choice of partitions."""

    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    name: str | None = None
    partitions: int | None = None
    partitioner: Partitioner | None = None

    @classmethod
    def with_(cls, key_serde: Serde[K] | None = None, value_serde: Serde[V] | None = None) -> "Repartitioned[K, V]":
        """With these serdes."""
        return cls(key_serde, value_serde)

    @classmethod
    def as_(cls, name: str) -> "Repartitioned[K, V]":
        """With this name."""
        return cls(name=name)

    @classmethod
    def stream_partitioner(cls, partitioner: Partitioner) -> "Repartitioned[K, V]":
        """With this choice of the partition."""
        return cls(partitioner=partitioner)

    @classmethod
    def number_of_partitions(cls, number: int) -> "Repartitioned[K, V]":
        """With as many partitions."""
        return cls(partitions=number)

    def with_key_serde(self, serde: Serde[K]) -> "Repartitioned[K, V]":
        """With this serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: Serde[V]) -> "Repartitioned[K, V]":
        """With this serde of values."""
        return replace(self, value_serde=serde)

    def with_name(self, name: str) -> "Repartitioned[K, V]":
        """With this name."""
        return replace(self, name=name)

    def with_number_of_partitions(self, number: int) -> "Repartitioned[K, V]":
        """With as many partitions."""
        return replace(self, partitions=number)

    def with_stream_partitioner(self, partitioner: Partitioner) -> "Repartitioned[K, V]":
        """With this choice of the partition."""
        return replace(self, partitioner=partitioner)


@dataclass(frozen=True, slots=True)
class Materialized(Generic[K, V]):
    """The store behind a table: its name or supplier, serdes, retention and changelog."""

    store_name: str | None = None
    supplier: StoreSupplier | None = None
    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    retention_ms: int | None = None
    logging: bool = True
    topic_config: Mapping[str, str] = field(default_factory=dict)
    store_type: StoreType | None = None

    @classmethod
    def as_(cls, store: str | StoreSupplier | StoreType) -> "Materialized[K, V]":
        """A store of this name, of this supplier, or of this type."""
        if isinstance(store, StoreType):
            return cls(store_type=store)
        return cls(checked_name(store)) if isinstance(store, str) else cls(store.name, store)

    @classmethod
    def with_(cls, key_serde: Serde[K] | None = None, value_serde: Serde[V] | None = None) -> "Materialized[K, V]":
        """With these serdes."""
        return cls(key_serde=key_serde, value_serde=value_serde)

    def with_key_serde(self, serde: Serde[T]) -> "Materialized[T, V]":
        """With this serde of keys."""
        return replace(self, key_serde=serde)  # type: ignore[return-value, arg-type]  # the type of keys is new

    def with_value_serde(self, serde: Serde[T]) -> "Materialized[K, T]":
        """With this serde of values."""
        return replace(self, value_serde=serde)  # type: ignore[return-value, arg-type]  # the type of values is new

    def with_store_type(self, store_type: StoreType) -> "Materialized[K, V]":
        """A store of this type; a supplier has one already."""
        if self.supplier is not None:
            raise ValueError("Cannot set store type when store supplier is pre-configured.")
        return replace(self, store_type=store_type)

    def with_retention(self, retention: Duration) -> "Materialized[K, V]":
        """Keeps windows for this long, by stream time."""
        return replace(self, retention_ms=milliseconds(retention, "Retention must not be negative."))

    def with_logging_enabled(self, config: Mapping[str, str]) -> "Materialized[K, V]":
        """With a changelog that has these settings."""
        return replace(self, logging=True, topic_config=dict(config))

    def with_logging_disabled(self) -> "Materialized[K, V]":
        """Without a changelog."""
        return replace(self, logging=False)

    def with_caching_enabled(self) -> "Materialized[K, V]":
        """Has no effect: every update is an output, as in Kafka Streams with a cache of 0 bytes."""
        return self

    def with_caching_disabled(self) -> "Materialized[K, V]":
        """Has no effect: every update is an output anyway."""
        return self


class EmitStrategy(Enum):
    """When a windowed aggregate emits: at each update, or once when its window closes."""

    ON_WINDOW_UPDATE = "update"
    ON_WINDOW_CLOSE = "close"

    @staticmethod
    def on_window_update() -> "EmitStrategy":
        """Emits each update of a window."""
        return EmitStrategy.ON_WINDOW_UPDATE

    @staticmethod
    def on_window_close() -> "EmitStrategy":
        """Emits a window's final result once stream time reaches its end plus grace."""
        return EmitStrategy.ON_WINDOW_CLOSE


@dataclass(frozen=True, slots=True)
class Branched:
    """Options of a branch of `split`: its name, and a function that continues or consumes its stream."""

    name: str | None = None
    chain: Callable[[Any], Any] | None = None
    consumer: Callable[[Any], None] | None = None

    @classmethod
    def as_(cls, name: str) -> "Branched":
        """A branch of this name."""
        return cls(name)

    @classmethod
    def with_function(cls, chain: Callable[[Any], Any], name: str | None = None) -> "Branched":
        """A branch whose stream is the function's result."""
        return cls(name, chain)

    @classmethod
    def with_consumer(cls, consumer: Callable[[Any], None], name: str | None = None) -> "Branched":
        """A branch whose stream the function consumes: it is not among the results of `split`."""
        return cls(name, None, consumer)

    def with_name(self, name: str) -> "Branched":
        """The branch under this name."""
        return replace(self, name=name)
