"""The newest image of the cluster's metadata, as a broker's clients see it.

Every listener has its own view: a broker is reached at the address that it registered for the listener the client came
in by, and one without such an address is as good as down for that client. The views are made at first use and dropped
when a broker changes; encoded Metadata answers are kept until a broker or a topic changes, never for longer, and only
so many bytes of them.

It is a metadata listener and must come first among a broker's: the others may tell clients of what it holds.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from ottla.base.dice import DICE
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.request.metadata.listener_view import AliveBroker, ListenerView
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.image.topic import TopicImage

NO_BROKER: Final = -1
PREPARED_BYTES_MAX: Final = 16 * 1024 * 1024
"""The most bytes of prepared answers, requests included; the cache is emptied before it would exceed them."""

Address = tuple[str, int]
"""A host and a port."""


class Dialled(Protocol):
    """The part of a connection that decides its client's addresses (`ottla.net.connection.Connection`)."""

    @property
    def listener(self) -> str:
        """The name of the listener that the client came in by."""

    @property
    def local(self) -> Address:
        """The address that the client dialled."""


class PreparedKey(NamedTuple):
    """The key of a Metadata answer, besides the image."""

    version: int
    body: bytes
    listener: str
    dialled: Address | None
    rights: object = None
    """The principal and the version of the access control lists; None where all clients are shown the same."""


class MetadataCache:
    """A broker's answers about the cluster."""

    def __init__(
        self,
        node_id: int,
        *,
        follow_dialled_address: bool = False,
        choose: Callable[[list[int]], int] = DICE.choice,
    ) -> None:
        """With `follow_dialled_address` this broker's own address is the one that a client dialled.

        `choose` picks the broker that is called the controller.
        """
        self.image: MetadataImage = EMPTY_IMAGE
        self.node_id = node_id
        self.follow_dialled_address = follow_dialled_address
        self._choose = choose
        self._views: dict[str, ListenerView] = {}
        self._topic_names: list[str] | None = None
        self._prepared: dict[PreparedKey, bytes] = {}
        self._prepared_bytes = 0

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes the newest image; most of the time a NoOpRecord moved it, and nothing that was prepared is stale."""
        before, self.image = self.image, image
        brokers_changed = before.cluster.brokers is not image.cluster.brokers
        if brokers_changed:
            self._views.clear()
        for topic_id in delta.topics.deleted:
            for view in self._views.values():
                view.forget(topic_id)
        if before.topics.ids is not image.topics.ids:
            self._topic_names = None
        if brokers_changed or before.topics is not image.topics:
            self._prepared.clear()
            self._prepared_bytes = 0

    def view(self, listener: str) -> ListenerView:
        """The brokers as the clients of `listener` can reach them."""
        view = self._views.get(listener)
        if view is None:
            brokers = self.image.cluster.brokers
            view = self._views[listener] = ListenerView([brokers[id_] for id_ in sorted(brokers)], listener)
        return view

    def endpoint(self, broker_id: int, listener: str, connection: Dialled | None = None) -> Address | None:
        """The address of a live broker for clients of `listener`; None if it is not alive or lacks that listener."""
        broker = self.view(listener).alive.get(broker_id)
        if broker is None:
            return None
        if self.follow_dialled_address and broker_id == self.node_id and connection is not None:
            return connection.local
        return broker.host, broker.port

    def alive_brokers(self, listener: str, connection: Dialled | None = None) -> list[AliveBroker]:
        """All unfenced brokers that `listener` reaches, by id."""
        return [self._as_dialled(broker, connection) for broker in self.view(listener).alive.values()]

    def registered_brokers(self, listener: str, connection: Dialled | None = None) -> list[tuple[AliveBroker, bool]]:
        """All brokers that `listener` reaches, fenced ones too, by id; each with whether it is fenced."""
        view = self.view(listener)
        both = sorted((*view.alive.values(), *view.fenced.values()))
        return [(self._as_dialled(broker, connection), broker.id in view.fenced) for broker in both]

    def _as_dialled(self, broker: AliveBroker, connection: Dialled | None) -> AliveBroker:
        if not self.follow_dialled_address or broker.id != self.node_id or connection is None:
            return broker
        host, port = connection.local
        return AliveBroker(broker.id, host, port, broker.rack)

    @property
    def controller_id(self) -> int:
        """Some live broker: any of them forwards to the controller, which clients never talk to (KIP-590)."""
        alive = [broker.id for broker in self.image.cluster.brokers.values() if not broker.fenced]
        return self._choose(alive) if alive else NO_BROKER

    def is_alive(self, broker_id: int) -> bool:
        """Whether the broker is registered and unfenced, whatever its listeners."""
        broker = self.image.cluster.brokers.get(broker_id)
        return broker is not None and not broker.fenced

    def topic_names(self) -> list[str]:
        """The names of all topics, sorted; not to be changed."""
        if self._topic_names is None:
            self._topic_names = sorted(self.image.topics.ids)
        return self._topic_names

    def topic(self, name: str) -> TopicImage | None:
        """The topic of that name."""
        return self.image.topics.topic(name)

    def topic_id(self, name: str) -> Uuid:
        """The id of a topic; sixteen zero bytes if there is none of that name."""
        return self.image.topics.ids.get(name, ZERO_UUID)

    def topic_name(self, topic_id: Uuid) -> str | None:
        """The name of the topic with that id."""
        topic = self.image.topics.by_id.get(topic_id)
        return None if topic is None else topic.name

    def partition(self, topic: str, index: int) -> PartitionRegistration | None:
        """A partition, if there are such a topic and index."""
        topic_id = self.image.topics.ids.get(topic)
        return None if topic_id is None else self.image.topics.partition(topic_id, index)

    def leader(self, partition: PartitionRegistration, listener: str) -> int:
        """The partition's leader, if clients of `listener` can reach it; else -1."""
        return partition.leader if self.view(listener).reaches(partition.leader) else NO_LEADER

    def prepared_key(self, version: int, body: bytes, connection: Dialled, rights: object = None) -> PreparedKey:
        """Under what an answer to the Metadata request with that body is kept, for that client and its like."""
        dialled = connection.local if self.follow_dialled_address else None
        return PreparedKey(version, body, connection.listener, dialled, rights)

    def prepared(self, key: PreparedKey) -> bytes | None:
        """The body of a Metadata answer that is still true."""
        return self._prepared.get(key)

    def prepare(self, key: PreparedKey, encoded: bytes) -> None:
        """Keeps the body of a Metadata answer until the cluster changes."""
        size = len(encoded) + len(key.body)
        if size > PREPARED_BYTES_MAX or key in self._prepared:
            return
        if self._prepared_bytes + size > PREPARED_BYTES_MAX:
            self._prepared.clear()
            self._prepared_bytes = 0
        self._prepared[key] = encoded
        self._prepared_bytes += size
