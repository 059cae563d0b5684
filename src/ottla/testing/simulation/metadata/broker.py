"""A broker as the controller knows it: registers, sends heartbeats, proposes ISRs, stops when it is told to.

It has no logs: which followers are in sync is decided by chance, which is all the controller could know of it. It
lives on an observer node, so crashes, pauses and partitions come to it as to any other.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ottla.base.ids import Uuid
from ottla.metadata.feature import supported_features
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import alter_partition, assign_replicas_to_dirs
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from ottla.testing.simulation.metadata.directory import BrokerDirectories, BrokerFiles
from ottla.testing.simulation.metadata.part import MetadataPart, MetadataPlan
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.node import SimulatedNode

NAME: Final = "broker"
_RACKS: Final = 2
_DOWN_TIME_MS: Final = 500
_REPAIR_TIME_MS: Final = (300, 3000)
_PARTITIONS_PER_REQUEST_MAX: Final = 4


class BrokerPart:
    """One incarnation of a broker."""

    def __init__(self, metadata: MetadataPart, plan: MetadataPlan, files: BrokerFiles) -> None:
        self.node = metadata.node
        self.metadata = metadata
        self.epoch: int | None = None
        """The broker epoch, once registered."""
        self.wants_shut_down = False
        count = 1 + self.node.id % plan.directories_max
        self.directories: Final = BrokerDirectories(self.node.disk.directory_id, count, files)
        self._plan = plan
        self._files = files
        self._incarnation_id = self._new_incarnation_id()
        self._previous_epoch = -1 if files.clean_shutdown_epoch is None else files.clean_shutdown_epoch
        files.clean_shutdown_epoch = None
        self._next_ms = 0

    @property
    def deadline_ms(self) -> int:
        return self._next_ms

    def start(self) -> None:
        self._next_ms = self.node.clock.now_ms()

    def wake(self) -> None:
        self._next_ms = self.node.clock.now_ms() + self._plan.heartbeat_interval_ms
        if self.epoch is None:
            self._register()
        else:
            self._heartbeat(self.epoch)
            self._assign_directories(self.epoch)

    def receive(self, frame: Frame) -> None:
        """Never called: a broker gets no requests, and the metadata part gets the answers."""

    def alter_isr(self) -> None:
        """Proposes random changes of the ISR for some of the partitions that this broker leads."""
        image = self.metadata.loader.image
        led = [place for place in _partitions(image) if self._leads(place[2])]
        if self.epoch is None or not led:
            return
        random = self.node.random
        data: dict[Uuid, list[alter_partition.RequestPartitionData]] = {}
        for topic, index, partition in random.sample(led, min(len(led), _PARTITIONS_PER_REQUEST_MAX)):
            states = [
                alter_partition.BrokerState(broker_id=member, broker_epoch=_epoch_of(image, member))
                for member in self._next_isr(image, partition)
            ]
            wanted = alter_partition.RequestPartitionData(
                partition_index=index,
                leader_epoch=partition.leader_epoch,
                new_isr_with_epochs=states,
                partition_epoch=partition.partition_epoch,
            )
            data.setdefault(topic.id, []).append(wanted)
        topics = [alter_partition.RequestTopicData(topic_id=key, partitions=wanted) for key, wanted in data.items()]
        request = alter_partition.AlterPartitionRequest(broker_id=self.node.id, broker_epoch=self.epoch, topics=topics)
        self.metadata.client.ask(request, _ignore)

    def fail_directory(self) -> None:
        """Takes a log directory offline; the broker restarts with it after a while, as if an operator had mended it."""
        random = self.node.random
        if self.directories.fail(random):
            self.node.note("a log directory of the broker fails")
            self.node.later(random.randint(*_REPAIR_TIME_MS), lambda: self.node.restart(_DOWN_TIME_MS))

    def _leads(self, partition: PartitionRegistration) -> bool:
        """Whether this broker leads a partition, and has it in a directory that works."""
        return partition.leader == self.node.id and partition.directory(self.node.id) not in self.directories.offline

    def _new_incarnation_id(self) -> Uuid:
        return Uuid(self.node.random.randbytes(16))

    def _register(self) -> None:
        incarnation_id = self._incarnation_id
        request = BrokerRegistrationRequest(
            broker_id=self.node.id,
            cluster_id=self._plan.cluster_id,
            incarnation_id=incarnation_id,
            listeners=[Listener(name="PLAINTEXT", host=self.node.host, port=9092)],
            features=[
                Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
                for name, levels in supported_features().items()
            ],
            rack=f"rack-{self.node.id % _RACKS}",
            log_dirs=list(self.directories.all),
            previous_broker_epoch=self._previous_epoch,
        )

        def heard(error: int, response: Any) -> None:
            if not error and self.epoch is None and incarnation_id == self._incarnation_id:
                self.epoch = response.broker_epoch
                self.node.note(f"broker registered with epoch {self.epoch}")

        self.metadata.client.ask(request, heard)

    def _heartbeat(self, epoch: int) -> None:
        request = BrokerHeartbeatRequest(
            broker_id=self.node.id,
            broker_epoch=epoch,
            current_metadata_offset=self.metadata.loader.image.provenance.offset,
            want_shut_down=self.wants_shut_down,
            offline_log_dirs=list(self.directories.offline),
        )

        def heard(error: int, response: Any) -> None:
            if epoch != self.epoch:
                return
            if error == ErrorCode.STALE_BROKER_EPOCH:
                # Somebody took the id: an operator would start the broker again.
                self.node.note("broker starts over")
                self.epoch, self._incarnation_id, self._previous_epoch = None, self._new_incarnation_id(), -1
            elif not error and response.should_shut_down and self.wants_shut_down:
                self._stop(epoch)

        self.metadata.client.ask(request, heard)

    def _stop(self, epoch: int) -> None:
        self.node.note("broker stops as asked")
        self._files.clean_shutdown_epoch = epoch
        self.epoch = None
        self._next_ms = self.node.clock.now_ms() + _DOWN_TIME_MS
        self.node.later(0, lambda: self.node.restart(_DOWN_TIME_MS))

    def _next_isr(self, image: MetadataImage, partition: PartitionRegistration) -> list[int]:
        random = self.node.random
        isr = list(partition.isr)
        outside = [replica for replica in partition.replicas if replica not in isr]
        live = [replica for replica in outside if image.cluster.is_active(replica)]
        others = [replica for replica in isr if replica != self.node.id]
        if live and random.randrange(4):
            return [*isr, random.choice(live)]
        if others and random.randrange(2):
            isr.remove(random.choice(others))
        elif outside:
            # Mostly refused: the controller knows better who is alive.
            isr.append(random.choice(outside))
        return isr

    def _assign_directories(self, epoch: int) -> None:
        """Says where replicas live that the controller believes elsewhere: the disk may be another by now."""
        broker_id = self.node.id
        moved: dict[Uuid, dict[Uuid, list[int]]] = {}
        for topic, index, partition in _partitions(self.metadata.loader.image):
            believed = partition.directory(broker_id)
            if believed is None:
                continue
            home = self.directories.home_of((topic.id, index), believed, self.node.random)
            if home != believed and home not in self.directories.offline:
                moved.setdefault(home, {}).setdefault(topic.id, []).append(index)
        if not moved:
            return
        directories = [
            assign_replicas_to_dirs.RequestDirectoryData(id=home, topics=_topic_data(topics))
            for home, topics in moved.items()
        ]
        request = assign_replicas_to_dirs.AssignReplicasToDirsRequest(
            broker_id=broker_id, broker_epoch=epoch, directories=directories
        )
        self.metadata.client.ask(request, _ignore)


def _topic_data(topics: Mapping[Uuid, Sequence[int]]) -> list[assign_replicas_to_dirs.RequestTopicData]:
    return [
        assign_replicas_to_dirs.RequestTopicData(
            topic_id=topic_id,
            partitions=[assign_replicas_to_dirs.RequestPartitionData(partition_index=index) for index in indexes],
        )
        for topic_id, indexes in topics.items()
    ]


def _ignore(error: int, response: Any) -> None:
    """A refused proposal is made again, with what the broker knows then."""


def _partitions(image: MetadataImage) -> Iterator[tuple[TopicImage, int, PartitionRegistration]]:
    """All partitions in an order that does not depend on hashes."""
    for _, topic in sorted(image.topics.by_id.items()):
        for index, partition in enumerate(topic.partitions):
            yield topic, index, partition


def _epoch_of(image: MetadataImage, broker_id: int) -> int:
    broker = image.cluster.brokers.get(broker_id)
    return -1 if broker is None else broker.epoch


def broker_part(node: SimulatedNode) -> BrokerPart | None:
    """The broker of a node; None while it is down, and on controllers."""
    part = node.parts.get(NAME)
    return part if isinstance(part, BrokerPart) else None
