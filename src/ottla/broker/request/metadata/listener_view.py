"""The cluster's brokers as the clients of one listener can reach them, and what those clients are told of topics.

A view is made for one set of brokers and dropped when one of them changes: every address, every leader that is out of
reach and every replica that is offline depends on them alone.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.base.ids import Uuid
from ottla.metadata.directory_id import is_online
from ottla.metadata.image.cluster import BrokerRegistration
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.messages.metadata import MetadataResponseTopic

DESCRIBED_PARTITIONS_MAX: Final = 50_000
"""How many partitions' descriptions a listener keeps: beyond, a cluster's memory counts for more than its answers."""

Describe = Callable[[TopicImage], MetadataResponseTopic]


class AliveBroker(NamedTuple):
    """An unfenced broker and where a listener's clients reach it."""

    id: int
    host: str
    port: int
    rack: str | None


class ListenerView:
    """The brokers as the clients of one listener can reach them."""

    __slots__ = ("_described", "_described_partitions", "_directories", "alive", "fenced")

    def __init__(self, brokers: list[BrokerRegistration], listener: str) -> None:
        self.alive: dict[int, AliveBroker] = {}
        self.fenced: dict[int, AliveBroker] = {}
        self._directories: dict[int, tuple[Uuid, ...]] = {}
        self._described: dict[Uuid, tuple[TopicImage, MetadataResponseTopic]] = {}
        self._described_partitions = 0
        for broker in brokers:
            for endpoint in broker.listeners:
                if endpoint.name == listener:
                    found = AliveBroker(broker.id, endpoint.host, endpoint.port, broker.rack)
                    if broker.fenced:
                        self.fenced[broker.id] = found
                    else:
                        self.alive[broker.id] = found
                        self._directories[broker.id] = broker.directories

    def reaches(self, broker_id: int) -> bool:
        """Whether the broker is registered, fenced or not, with an address for this listener."""
        return broker_id in self.alive or broker_id in self.fenced

    def offline_replicas(self, partition: PartitionRegistration) -> list[int]:
        """The replicas that cannot be served: their broker is fenced or out of reach, or their directory is gone."""
        online = self._directories
        offline = []
        for replica, directory in zip(partition.replicas, partition.directories, strict=True):
            directories = online.get(replica)
            if directories is None or not (directory in directories or is_online(directory, directories)):
                offline.append(replica)
        return offline

    def described(self, topic: TopicImage, describe: Describe) -> MetadataResponseTopic:
        """A topic as `describe` describes it, kept until the topic or a broker changes; not to be changed.

        Clients that ask for all topics ask after every change: of five thousand topics one changed.
        """
        known = self._described.get(topic.id)
        if known is not None and known[0] is topic:
            return known[1]
        description = describe(topic)
        self.forget(topic.id)
        if self._described_partitions + len(topic.partitions) <= DESCRIBED_PARTITIONS_MAX:
            self._described[topic.id] = topic, description
            self._described_partitions += len(topic.partitions)
        return description

    def forget(self, topic_id: Uuid) -> None:
        """Drops the description of a topic, if there is one."""
        known = self._described.pop(topic_id, None)
        if known is not None:
            self._described_partitions -= len(known[0].partitions)
