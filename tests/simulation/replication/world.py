"""Three brokers, a controller and clients in one thread and no time; whatever may go wrong does, by the dice of a seed.

Messages take their time or are lost, metadata reaches each broker when it likes, processes are killed, machines lose
what was not flushed. One broker is down at a time, and none whose loss could take a committed record with it.

What must hold: a record that was acknowledged (acks=-1, min.insync.replicas=2) or read by a consumer stays what it is
until it is deleted, no leader brings back records whose deletion was confirmed, and when all is well again the replicas
are the same.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from ottla.base.ids import Uuid
from ottla.metadata.image.difference import difference
from ottla.metadata.image.metadata_delta import MetadataDelta, apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage, Provenance
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import (
    ApiError,
    FencedLeaderEpochError,
    IneligibleReplicaError,
    InvalidUpdateVersionError,
    NetworkError,
)
from ottla.protocol.metadata_log.broker import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.topic import PartitionChangeRecord, PartitionRecord, TopicRecord
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.writer import write_batch
from ottla.replication.ports import AlterPartitionDone, LeaderAndIsr
from ottla.replication.request.delete_records import DeleteRecordsEntry
from ottla.replication.request.fetch import FetchResult
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.replication.settings import ReplicationSettings
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.topic_partition import TopicPartition
from tests.simulation.replication.link import Link
from tests.unit.replication.broker_under_test import BrokerUnderTest, directory_id, topic_id, want
from tests.unit.replication.manual_loop import EPOCH_MS, ManualLoop

BROKERS = (1, 2, 3)
PARTITIONS = 2
TOPIC = "orders"
STEP_MS = 5
CONFIG = LogConfig(segment_bytes=3000, index_interval_bytes=300, min_insync_replicas=2)
SETTINGS = ReplicationSettings(replica_lag_time_max_ms=400, replica_fetch_backoff_ms=30)


class Machine:
    """A broker's machine: the disk outlives the process."""

    def __init__(self, world: "World", broker_id: int) -> None:
        self.world = world
        self.id = broker_id
        self.disk = SimulatedDisk()
        self.broker: BrokerUnderTest | None = None
        self.unseen: list[tuple[MetadataDelta, MetadataImage]] = []
        """Metadata that has not reached it yet."""

    def start(self) -> None:
        loop = ManualLoop()
        loop.advance(self.world.now_ms)
        broker = BrokerUnderTest(
            loop,
            self.id,
            config=CONFIG,
            settings=SETTINGS,
            disk=self.disk,
            endpoint_of=lambda leader_id, number: Link(self.world, self, leader_id),
        )
        broker.proposals = self  # type: ignore[assignment]
        broker.replicas.isr._port = self
        broker.replicas.start()
        image = self.world.image
        self.unseen = [(difference(EMPTY_IMAGE, image), image)]
        self.broker = broker

    def alter(self, topic_id: Uuid, partition: int, proposed: LeaderAndIsr, done: AlterPartitionDone) -> None:
        """See `AlterPartitionPort`: to the controller and back."""
        world, broker = self.world, self.broker

        def decide() -> None:
            answer = world.decide(partition, proposed)
            world.later(lambda: self.broker is broker and done(answer))

        world.later(decide)

    def learn(self, count: int = 1) -> None:
        """Some metadata arrives."""
        for _ in range(min(count, len(self.unseen))):
            assert self.broker is not None
            self.broker.replicas.metadata_changed(*self.unseen.pop(0))

    def log(self, index: int) -> Log | None:
        return None if self.broker is None else self.broker.logs.get(TopicPartition(TOPIC, index))


class World:
    """Everything, and what has to be remembered of it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now_ms = 0
        self.image: MetadataImage = EMPTY_IMAGE
        self.machines = {broker_id: Machine(self, broker_id) for broker_id in BROKERS}
        self.cut: set[int] = set()
        self._events: list[tuple[int, Callable[[], object]]] = []
        self._epochs = dict.fromkeys(BROKERS, 0)
        self._produced = 0
        self.acknowledged: dict[tuple[int, int], bytes] = {}
        self.consumed: dict[tuple[int, int], bytes] = {}
        self.deleted = [0] * PARTITIONS
        """Up to where deletions were confirmed."""
        self._begin()

    def _begin(self) -> None:
        self.publish(FeatureLevelRecord(name="metadata.version", feature_level=int(max(MetadataVersion))))
        for broker_id in BROKERS:
            self._register(broker_id)
            self._unfence(broker_id)
        self.publish(
            TopicRecord(name=TOPIC, topic_id=topic_id(TOPIC)),
            *(
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id(TOPIC),
                    replicas=list(BROKERS),
                    isr=list(BROKERS),
                    leader=BROKERS[index],
                    leader_epoch=0,
                    partition_epoch=0,
                    directories=[directory_id(broker_id) for broker_id in BROKERS],
                )
                for index in range(PARTITIONS)
            ),
        )
        for machine in self.machines.values():
            machine.start()

    # Time and messages

    def later(self, event: Callable[[], object]) -> None:
        """Something that takes its time."""
        self.at(self.random.choice((0, 5, 10, 40)), event)

    def at(self, ms: int, event: Callable[[], object]) -> None:
        """Something that happens in so many milliseconds."""
        self._events.append((self.now_ms + ms, event))

    def is_cut(self, one: int, other: int) -> bool:
        """Whether two brokers cannot reach each other."""
        return one in self.cut or other in self.cut or self.random.random() < 0.01

    def pass_time(self, ms: int) -> None:
        for _ in range(ms // STEP_MS):
            self.now_ms += STEP_MS
            for machine in self.machines.values():
                if machine.broker is not None:
                    machine.broker.loop.advance(STEP_MS)
            due = [event for when, event in self._events if when <= self.now_ms]
            self._events = [(when, event) for when, event in self._events if when > self.now_ms]
            for event in due:
                event()

    # The controller

    def publish(self, *records: MetadataRecord) -> None:
        offset = self.image.provenance.offset + len(records)
        self.image, delta = apply_records(self.image, records, Provenance(offset, 1, EPOCH_MS))
        for machine in self.machines.values():
            if machine.broker is not None:
                machine.unseen.append((delta, self.image))

    def partition(self, index: int) -> PartitionRegistration:
        found = self.image.topics.partition(topic_id(TOPIC), index)
        assert found is not None
        return found

    def decide(self, index: int, proposed: LeaderAndIsr) -> LeaderAndIsr | ApiError:
        partition = self.partition(index)
        if self.random.random() < 0.05:
            return NetworkError()
        if proposed.leader_epoch != partition.leader_epoch:
            return FencedLeaderEpochError()
        if proposed.partition_epoch != partition.partition_epoch:
            return InvalidUpdateVersionError()
        for member in proposed.isr:
            broker = self.image.cluster.brokers[member.broker_id]
            if not broker.is_active or member.broker_epoch not in (-1, broker.epoch):
                return IneligibleReplicaError()
        self._change(index, isr=[member.broker_id for member in proposed.isr])
        answer = replace(proposed, partition_epoch=self.partition(index).partition_epoch)
        return NetworkError() if self.random.random() < 0.05 else answer

    def _change(self, index: int, **changes: Any) -> None:
        self.publish(PartitionChangeRecord(partition_id=index, topic_id=topic_id(TOPIC), **changes))

    def _register(self, broker_id: int) -> None:
        self._epochs[broker_id] += 1
        self.publish(RegisterBrokerRecord(broker_id=broker_id, broker_epoch=self._epochs[broker_id], fenced=True))

    def _fence(self, broker_id: int) -> None:
        self.publish(
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=self._epochs[broker_id], fenced=1)
        )
        for index in range(PARTITIONS):
            partition = self.partition(index)
            isr = [member for member in partition.isr if member != broker_id] or list(partition.isr)
            if partition.leader == broker_id:
                live = [member for member in isr if member != broker_id]
                self._change(index, leader=live[0] if live else NO_LEADER, isr=isr)
            elif len(isr) < len(partition.isr):
                self._change(index, isr=isr)

    def _unfence(self, broker_id: int) -> None:
        self.publish(
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=self._epochs[broker_id], fenced=-1)
        )
        if self.image.topics.by_id:
            for index in range(PARTITIONS):
                partition = self.partition(index)
                if partition.leader == NO_LEADER and broker_id in partition.isr:
                    self._change(index, leader=broker_id)

    # Faults

    def down(self) -> Machine | None:
        return next((machine for machine in self.machines.values() if machine.broker is None), None)

    def kill(self, broker_id: int, *, power: bool) -> None:
        """Ends a process, or a machine's power, unless that could lose what was committed."""
        machine = self.machines[broker_id]
        if self.down() is not None or any(len(self.partition(index).isr) < 3 for index in range(PARTITIONS)):
            return
        machine.broker = None
        machine.unseen = []
        if power:
            machine.disk.crash(self.random)
        self._fence(broker_id)

    def revive(self, broker_id: int) -> None:
        machine = self.machines[broker_id]
        if machine.broker is None:
            self._register(broker_id)
            machine.start()
            self._unfence(broker_id)

    def elect(self, index: int) -> None:
        """Another of the ISR leads."""
        partition = self.partition(index)
        if partition.leader != NO_LEADER:
            self._change(index, leader=self.random.choice(partition.isr))

    # Clients

    def produce(self, broker_id: int, index: int) -> None:
        broker = self.machines[broker_id].broker
        if broker is None:
            return
        count = self.random.randint(1, 3)
        values = [f"{self._produced + number}".encode() for number in range(count)]
        self._produced += count
        records = write_batch([(number, EPOCH_MS, None, value, ()) for number, value in enumerate(values)])

        def done(results: Any) -> None:
            [result] = results
            assert isinstance(result, AppendResult)
            if result.error_code == 0:
                for number, value in enumerate(values):
                    self._remember(self.acknowledged, (index, result.base_offset + number), value)

        broker.replicas.append([AppendEntry(TOPIC, index, records)], acks=-1, timeout_ms=1500, done=done)

    def consume(self, broker_id: int, index: int) -> None:
        broker = self.machines[broker_id].broker
        partition = None if broker is None else broker.replicas.get(TOPIC, index)
        if broker is None or partition is None or not partition.is_leader:
            return
        now = self.partition(index)
        if (broker_id, partition.leader_epoch) == (now.leader, now.leader_epoch):
            assert partition.log.log_start_offset >= self.deleted[index], f"deleted records of {index} are back"
        start = self.random.randint(0, partition.high_watermark)
        for result in broker.fetch(want(TOPIC, index, start)):
            assert isinstance(result, FetchResult)
            if result.records is not None:
                for offset, _, _, value, _ in read_tuples(result.records.read()):
                    if offset < result.high_watermark:
                        self._remember(self.consumed, (index, offset), value or b"")

    def delete(self, broker_id: int, index: int) -> None:
        """Some of the beginning."""
        broker = self.machines[broker_id].broker
        partition = None if broker is None else broker.replicas.get(TOPIC, index)
        if broker is None or partition is None or not partition.is_leader:
            return

        def done(results: Any) -> None:
            [result] = results
            if result.error_code == 0:
                self.deleted[index] = max(self.deleted[index], result.low_watermark)

        offset = self.random.randint(partition.log.log_start_offset, partition.high_watermark)
        broker.replicas.delete_records([DeleteRecordsEntry(TOPIC, index, offset)], timeout_ms=1500, done=done)

    def _remember(self, memory: dict[tuple[int, int], bytes], place: tuple[int, int], value: bytes) -> None:
        for known in (self.acknowledged, self.consumed):
            assert known.get(place, value) == value, f"{place} was {known[place]!r} and is now {value!r}"
        memory[place] = value
