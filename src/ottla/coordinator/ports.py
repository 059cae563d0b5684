"""The ports of the coordinators: their logs, the cluster's metadata, other brokers, ids and dice.

All calls come from one thread and none waits; what takes time answers through a callback, on that thread.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from ottla.base.ids import Uuid
from ottla.protocol.errors import ApiError

KeyValue: TypeAlias = tuple[bytes, bytes | None]
"""A record's key and value; None is a tombstone."""


class TransactionalProducer(NamedTuple):
    """Whose transaction a batch belongs to. `verification` is what the log gave when the transaction was verified."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    verification: object | None = None


class TransactionMarker(NamedTuple):
    """The end of a producer's transaction, to be written into a partition."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    committed: bool
    transaction_version: int = 0
    """2 if the epoch was raised for this end (KIP-890): an equal epoch in the log is then no proof of a zombie."""


class PartitionKey(NamedTuple):
    """A partition by its topic's name."""

    topic: str
    partition: int


class ShardLog(Protocol):
    """The log of one partition of an internal topic, as its leader writes it, with the time of day on each batch.

    A call that refuses raises an `ApiError` and has written nothing.
    """

    @property
    def batch_bytes_max(self) -> int:
        """The largest batch that the log takes (`max.message.bytes`)."""
        ...

    def append(self, records: list[KeyValue], producer: TransactionalProducer | None) -> int:
        """Writes one batch, a transactional one if `producer` is given; the log's end offset after it.

        With three records in an empty log: 3. It is committed once the high watermark is at least that.
        """
        ...

    def append_marker(self, marker: TransactionMarker) -> int:
        """Writes a control batch that ends a transaction; the log's end offset after it."""
        ...


class TopicView(NamedTuple):
    """A topic, as coordinators see it."""

    name: str
    id: Uuid
    partition_count: int


class PartitionLeader(NamedTuple):
    """A partition's leader and its epoch; the broker is -1 while there is no leader."""

    broker_id: int
    leader_epoch: int


class MetadataView(Protocol):
    """The newest metadata of the cluster that this broker knows."""

    def topic(self, name: str) -> TopicView | None:
        """The topic of that name."""
        ...

    def topic_by_id(self, topic_id: Uuid) -> TopicView | None:
        """The topic with that id."""
        ...

    def topic_names(self) -> Iterable[str]:
        """All topics, in no order."""
        ...

    def partition_racks(self, topic: str, partition: int) -> frozenset[str]:
        """The racks of a partition's replicas; empty where brokers have none or the partition is unknown."""
        ...

    def partition_leader(self, topic: str, partition: int) -> PartitionLeader | None:
        """The leader of a partition; None if there is no such partition."""
        ...

    def is_broker_alive(self, broker_id: int) -> bool:
        """Whether that broker is registered and not fenced."""
        ...

    def feature_level(self, name: str) -> int:
        """The finalized level of a feature such as `transaction.version`; 0 if it has none."""
        ...

    def group_configs(self, group_id: str) -> Mapping[str, str]:
        """The configs that were set for that group, by Kafka's dotted names; what was not set is not in there."""
        ...


class ProducerIds(Protocol):
    """The cluster's producer ids; none is ever given twice."""

    def next(self, done: Callable[[int | ApiError], None]) -> None:
        """Hands an id to `done`, within this call if one is at hand."""
        ...


class MarkersToSend(NamedTuple):
    """A marker and the partitions, all led by the same broker, that it goes to."""

    marker: TransactionMarker
    partitions: tuple[PartitionKey, ...]


MarkerErrors: TypeAlias = Sequence[Mapping[PartitionKey, int]]
"""For each entry of a request, in its order, the error code of each of its partitions."""


class MarkerSender(Protocol):
    """Takes transaction markers to the brokers that lead the partitions."""

    def send(
        self, broker_id: int, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors | ApiError], None]
    ) -> None:
        """One WriteTxnMarkers to a broker, which may be this one.

        `done` gets the code of every partition, or an `ApiError` if the request as a whole had no answer, and then
        it is unknown whether the markers were written.
        """
        ...
