"""A client's view of the cluster at one moment: brokers, topics, and the leaders of partitions.

Views are immutable, so that readers on other threads and callbacks see one consistent state; `apply` and its sisters
return new ones. They do no I/O.

Invariant: a partition's leader epoch never goes back while its topic id stays the same: an answer from a broker that
lags behind can't undo what a newer one said (KIP-320).
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.cluster.address import Address
from ottla.protocol.errors import ApiError, ErrorCode, error_for
from ottla.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

NO_NODE: Final = -1


class BrokerView(NamedTuple):
    """A broker and where it says that it can be reached."""

    id: int
    host: str
    port: int
    rack: str | None = None

    @property
    def address(self) -> Address:
        """The address of the node."""
        return Address(self.host, self.port)

    def __str__(self) -> str:
        return f"{self.address} (broker {self.id})"


@frozen
class PartitionView:
    """A partition: its leader (-1: none), the leader's epoch (-1: unknown), and its replicas."""

    index: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()
    error_code: int = 0


class TopicView(NamedTuple):
    """A topic; partitions by their number."""

    name: str
    id: Uuid
    partitions: Mapping[int, PartitionView]
    is_internal: bool = False


@frozen
class ClusterView:
    """One state of knowledge."""

    cluster_id: str | None = None
    controller_id: int = NO_NODE
    brokers: Mapping[int, BrokerView] = field(default_factory=dict)
    topics: Mapping[str, TopicView] = field(default_factory=dict)
    names: Mapping[Uuid, str] = field(default_factory=dict)
    """Topic names by topic id, for brokers that know ids."""
    errors: Mapping[str, ApiError] = field(default_factory=dict)
    """Topics that were asked for and that the broker refused, each with why."""

    def partition(self, topic: str, index: int) -> PartitionView | None:
        """One partition, None if it isn't known."""
        found = self.topics.get(topic)
        return None if found is None else found.partitions.get(index)

    def leader(self, topic: str, index: int) -> BrokerView | None:
        """The broker that leads a partition, None if there is none, or none that is known."""
        found = self.partition(topic, index)
        return None if found is None else self.brokers.get(found.leader)

    def topic_of(self, topic_id: Uuid) -> TopicView | None:
        """A topic by its id."""
        name = self.names.get(topic_id)
        return None if name is None else self.topics.get(name)

    def applied(self, response: MetadataResponse, asked: frozenset[str] | None) -> "ClusterView":
        """The view after an answer about the topics `asked` (None: all); other topics are forgotten."""
        topics: dict[str, TopicView] = {}
        errors: dict[str, ApiError] = {}
        for found in response.topics:
            if found.name is None:
                continue
            known = self.topics.get(found.name)
            if found.error_code == ErrorCode.NONE:
                topics[found.name] = _merged(found, known)
                continue
            errors[found.name] = error_for(found.error_code)
            # A passing trouble does not make forget who led the partitions.
            if known is not None and errors[found.name].retriable and asked is not None and found.partitions:
                topics[found.name] = known
        return replace(
            self,
            cluster_id=response.cluster_id,
            controller_id=response.controller_id,
            brokers={
                broker.node_id: BrokerView(broker.node_id, broker.host, broker.port, broker.rack)
                for broker in response.brokers
            },
            topics=topics,
            names={topic.id: topic.name for topic in topics.values() if topic.id != ZERO_UUID},
            errors=errors,
        )

    def with_leader(self, topic: str, partition: PartitionView, brokers: Iterable[BrokerView]) -> "ClusterView":
        """The view after a broker named a partition's new leader and its address (KIP-951)."""
        found = self.topics[topic]
        changed = found._replace(partitions={**found.partitions, partition.index: partition})
        return replace(
            self,
            brokers={**self.brokers, **{broker.id: broker for broker in brokers}},
            topics={**self.topics, topic: changed},
        )

    def with_broker(self, broker: BrokerView) -> "ClusterView":
        """The view after an answer named a broker."""
        return replace(self, brokers={**self.brokers, broker.id: broker})


def _merged(found: MetadataResponseTopic, known: TopicView | None) -> TopicView:
    assert found.name is not None
    older = known.partitions if known is not None and known.id == found.topic_id else {}
    partitions = {each.partition_index: _newer(each, older.get(each.partition_index)) for each in found.partitions}
    return TopicView(found.name, found.topic_id, partitions, found.is_internal)


def _newer(found: MetadataResponsePartition, known: PartitionView | None) -> PartitionView:
    """Epoch 5 is known and the answer says 4: 5 stays. Without epochs the answer counts."""
    if known is not None and -1 < found.leader_epoch < known.leader_epoch:
        return known
    has_leader = found.error_code in (ErrorCode.NONE, ErrorCode.REPLICA_NOT_AVAILABLE)
    return PartitionView(
        found.partition_index,
        found.leader_id if has_leader else NO_NODE,
        found.leader_epoch,
        tuple(found.replica_nodes),
        tuple(found.isr_nodes),
        tuple(found.offline_replicas),
        found.error_code,
    )
