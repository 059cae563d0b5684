"""A broker's replication on a disk in memory and a manual loop, and the metadata that tells it what to do."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ottla.base.ids import Uuid
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage, Provenance
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.metadata_log.broker import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.topic import (
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.replication.follower.fetcher_pool import EndpointOf
from ottla.replication.partition.partition import Partition
from ottla.replication.ports import AlterPartitionDone, LeaderAndIsr
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.replica_manager_options import ReplicaManagerOptions
from ottla.replication.request.fetch import FetchParams, FetchPartition, FetchResult
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.replication.settings import ReplicationSettings
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log_config import LogConfig
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from tests.unit.replication.manual_loop import EPOCH_MS, LoopWorker, ManualLoop


def topic_id(name: str) -> Uuid:
    """An id that goes with the name."""
    return Uuid(name.encode().ljust(16, b"-")[:16])


def directory_id(number: int) -> Uuid:
    """An id that is none of the reserved ones."""
    return Uuid(bytes([number]) * 16)


class Metadata:
    """The cluster's metadata, published to brokers as it changes."""

    def __init__(self, *brokers: "BrokerUnderTest") -> None:
        self.image: MetadataImage = EMPTY_IMAGE
        self.brokers = list(brokers)
        self.publish(FeatureLevelRecord(name="metadata.version", feature_level=int(max(MetadataVersion))))

    def publish(self, *records: MetadataRecord) -> None:
        """Takes records in, and tells the brokers."""
        offset = self.image.provenance.offset + len(records)
        self.image, delta = apply_records(self.image, records, Provenance(offset, 1, EPOCH_MS))
        for broker in self.brokers:
            broker.replicas.metadata_changed(delta, self.image)

    def register(self, broker_id: int, *, epoch: int = 1, directories: Sequence[Uuid] = ()) -> None:
        """A broker that is unfenced at once."""
        self.publish(
            RegisterBrokerRecord(broker_id=broker_id, broker_epoch=epoch, fenced=False, log_dirs=list(directories))
        )

    def fence(self, broker_id: int, *, fenced: bool = True) -> None:
        epoch = self.image.cluster.brokers[broker_id].epoch
        change = 1 if fenced else -1
        self.publish(BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=epoch, fenced=change))

    def create(
        self,
        topic: str,
        *replicas: Sequence[int],
        directories: Sequence[Uuid] | None = None,
        isr: Sequence[int] | None = None,
    ) -> None:
        """A topic with a partition for each list of replicas, led by the first."""
        self.publish(
            TopicRecord(name=topic, topic_id=topic_id(topic)), *self._partitions(topic, replicas, directories, isr)
        )

    def _partitions(
        self,
        topic: str,
        replicas: Iterable[Sequence[int]],
        directories: Sequence[Uuid] | None,
        isr: Sequence[int] | None,
    ) -> list[MetadataRecord]:
        return [
            PartitionRecord(
                partition_id=index,
                topic_id=topic_id(topic),
                replicas=list(members),
                isr=list(members if isr is None else isr),
                leader=members[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=list(directories or [directory_id(member) for member in members]),
            )
            for index, members in enumerate(replicas)
        ]

    def change(self, topic: str, index: int = 0, **changes: object) -> None:
        """A partition with other leader, ISR, replicas."""
        self.publish(PartitionChangeRecord(partition_id=index, topic_id=topic_id(topic), **changes))

    def delete(self, topic: str) -> None:
        self.publish(RemoveTopicRecord(topic_id=topic_id(topic)))


class Proposals:
    """The controller's side of AlterPartition: proposals wait until the test answers them."""

    def __init__(self) -> None:
        self.open: list[tuple[Uuid, int, LeaderAndIsr, AlterPartitionDone]] = []

    def alter(self, topic_id: Uuid, partition: int, proposed: LeaderAndIsr, done: AlterPartitionDone) -> None:
        self.open.append((topic_id, partition, proposed, done))

    @property
    def isrs(self) -> list[list[int]]:
        """The members that are proposed."""
        return [[member.broker_id for member in proposed.isr] for _, _, proposed, _ in self.open]

    def accept(self) -> None:
        """The controller makes the change that was proposed first."""
        _, _, proposed, done = self.open.pop(0)
        done(replace(proposed, partition_epoch=proposed.partition_epoch + 1))

    def refuse(self, error: Exception) -> None:
        """The controller does not make it."""
        done = self.open.pop(0)[3]
        done(error)  # type: ignore[arg-type]


class DirectoryEvents:
    """What the controller is told about directories."""

    def __init__(self) -> None:
        self.assigned: list[tuple[Uuid, int, Uuid]] = []
        self.lost: list[str] = []
        self.is_over = False

    def assign(self, topic_id: Uuid, partition: int, directory_id: Uuid) -> None:
        self.assigned.append((topic_id, partition, directory_id))

    def failed(self, directory_id: Uuid | None, path: str) -> None:
        self.lost.append(path)

    def all_failed(self) -> None:
        self.is_over = True


class NoLeader:
    """An endpoint that never answers."""

    def fetch(self, wanted: object, done: object) -> None:
        pass

    def list_offset(self, request: object, done: object) -> None:
        pass

    def close(self) -> None:
        pass


class BrokerUnderTest:
    """One broker."""

    def __init__(
        self,
        loop: ManualLoop,
        node_id: int = 1,
        *,
        directories: Sequence[str] = ("/data",),
        config: LogConfig | None = None,
        settings: ReplicationSettings | None = None,
        endpoint_of: EndpointOf | None = None,
        disk: SimulatedDisk | None = None,
    ) -> None:
        self.loop = loop
        self.node_id = node_id
        self.disk = disk or SimulatedDisk()
        self.proposals = Proposals()
        self.events = DirectoryEvents()
        self.logs = LogManager(
            LogManagerOptions(
                directories=tuple(directories),
                disk=self.disk,
                clock=loop,
                default_config=config or LogConfig(),
                lock_directory=None,
            )
        )
        self.logs.load()
        for number, home in enumerate(self.logs.directories.all()):
            home.directory_id = directory_id(node_id + 10 * number)
        self.replicas = ReplicaManager(
            ReplicaManagerOptions(
                node_id=node_id,
                logs=self.logs,
                clock=loop,
                loop=loop,
                alter_partition=self.proposals,
                directory_events=self.events,
                endpoint_of=endpoint_of or (lambda broker_id, number: NoLeader()),
                settings=settings or ReplicationSettings(),
                make_worker=lambda name: LoopWorker(loop),
            )
        )

    def partition(self, topic: str = "orders", index: int = 0) -> Partition:
        """A partition that has to be there."""
        partition = self.replicas.get(topic, index)
        assert partition is not None
        return partition

    def produce(
        self,
        topic: str = "orders",
        index: int = 0,
        *,
        count: int = 1,
        acks: int = 1,
        timeout_ms: int = 1000,
        size: int = 1,
    ) -> "Answers[AppendResult]":
        """Appends a batch; the answers so far."""
        answers: Answers[AppendResult] = Answers()
        entry = AppendEntry(topic, index, batch(count, size))
        self.replicas.append([entry], acks=acks, timeout_ms=timeout_ms, done=answers.take)
        return answers

    def fetch(self, *wanted: FetchPartition, **params: int) -> "Answers[FetchResult]":
        """Fetches; the answers so far."""
        answers: Answers[FetchResult] = Answers()
        given = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, **params}
        self.replicas.fetch(FetchParams(**given), wanted, answers.take)  # type: ignore[arg-type]
        return answers


class Answers(list):  # type: ignore[type-arg]
    """The results of a request; empty while it waits, an error if it is answered twice."""

    is_done = False

    def take(self, results: Sequence[object]) -> None:
        assert not self.is_done, "answered twice"
        self.is_done = True
        self.extend(results)


def want(
    topic: str = "orders", index: int = 0, offset: int = 0, *, max_bytes: int = 1 << 20, **more: object
) -> FetchPartition:
    """What a consumer wants of a partition."""
    return FetchPartition(topic, index, offset, max_bytes, **more)  # type: ignore[arg-type]


def batch(count: int = 1, size: int = 1, **options: object) -> bytearray:
    """A batch of records with values of a size."""
    records = [(index, EPOCH_MS + 100_000, None, b"v" * size, ()) for index in range(count)]
    return write_batch(records, BatchOptions(**options))  # type: ignore[arg-type]


def offsets(result: FetchResult) -> list[int]:
    """The offsets of the records in a fetch's answer."""
    return [] if result.records is None else [record[0] for record in read_tuples(result.records.read())]
