"""A cluster without processes: a real controller over a log in memory, and brokers that say what they are told."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from ottla.base.ids import Uuid
from ottla.metadata.batch import CommittedBatch
from ottla.metadata.controller.bootstrap import bootstrap_records
from ottla.metadata.controller.context import Caller, ControllerContext, ControllerPorts
from ottla.metadata.controller.controller import Controller
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.errors import MetadataError
from ottla.metadata.feature import default_features, supported_features
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.metadata_version import LATEST, MetadataVersion
from ottla.metadata.topic_name import check_topic_name
from ottla.protocol.definition import Request
from ottla.protocol.errors import InvalidConfigError, NotControllerError
from ottla.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
)
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from ottla.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicConfigs,
    CreateTopicsRequest,
)
from ottla.protocol.metadata_log.log import VersionedRecord, decode_record, encode_record
from ottla.protocol.metadata_log.record import MetadataRecord

CLUSTER_ID = "ottla-test-cluster-idA"
CONTROLLER_ID = 3000


def uuid_of(number: int) -> Uuid:
    """An id that is easy to tell from others, and not reserved."""
    return Uuid((number + 1_000).to_bytes(16, "big"))


def directory_of(broker_id: int, number: int = 0) -> Uuid:
    return uuid_of(broker_id * 100 + number)


class MemoryQuorum:
    """The log of a quorum of one, in memory. Every record goes through its bytes."""

    def __init__(self) -> None:
        self.batches: list[CommittedBatch] = []
        self.leads = True
        self._batches_left: int | None = None
        self.level = 1
        self.voters = [CONTROLLER_ID]

    def end_offset(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else 0

    def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
        if not self.leads:
            raise NotControllerError
        if self._batches_left is not None:
            self._batches_left -= 1
            if self._batches_left < 0:
                raise MetadataError("no more batches fit")
        stored = [decode_record(encode_record(record, version)).record for record, version in records]
        assert stored == [record for record, _ in records], "a record lost something in its version"
        base = self.end_offset()
        self.batches.append(CommittedBatch(base, base + len(stored) - 1, epoch, 0, stored))
        return base + len(stored) - 1

    def broken_after(self, batches: int | None) -> None:
        """From now on that many batches can be appended, then none; None for as many as one likes."""
        self._batches_left = batches

    def leader_id(self) -> int | None:
        return CONTROLLER_ID if self.leads else None

    def voter_ids(self) -> list[int]:
        return self.voters

    def kraft_version(self) -> int:
        return self.level

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> None:
        if not validate_only:
            self.level = level

    def records(self, from_offset: int = 0) -> list[MetadataRecord]:
        return [record for batch in self.batches if batch.base_offset >= from_offset for record in batch.records]


class TopicSchema:
    """Two topic keys and a list, which is all that the controller's own rules need."""

    defaults: Mapping[str, str] = {
        "min.insync.replicas": "1",
        "unclean.leader.election.enable": "false",
        "cleanup.policy": "delete",
    }

    def validate(self, resource: ConfigResource, configs: Mapping[str, str], existing: Mapping[str, str]) -> None:
        if resource.type == ResourceType.TOPIC:
            check_topic_name(resource.name)
            for name in configs:
                if name not in self.defaults:
                    raise InvalidConfigError(f"Unknown topic config name: {name}")

    def supports(self, resource_type: int, name: str) -> bool:
        return name in self.defaults

    def is_list(self, resource: ConfigResource, name: str) -> bool:
        return name == "cleanup.policy"

    def default(self, resource: ConfigResource, name: str) -> str | None:
        return self.defaults.get(name)

    def topic_configs(
        self, topic: Mapping[str, str], node: Mapping[str, str], cluster: Mapping[str, str]
    ) -> list[CreatableTopicConfigs]:
        effective = {**self.defaults, **cluster, **node, **topic}
        return [CreatableTopicConfigs(name=name, value=effective[name]) for name in sorted(self.defaults)]


class Cluster:
    """An active controller, committed to at once unless `auto_commit` is off, and the brokers that registered."""

    def __init__(
        self,
        version: MetadataVersion = LATEST,
        *,
        elr: bool = True,
        seed: int = 0,
        users: Sequence[VersionedRecord] = (),
        **settings: Any,
    ) -> None:
        self.quorum = MemoryQuorum()
        self.now_ms = 0
        self.auto_commit = True
        self.loader = MetadataLoader()
        self._loaded = 0
        levels = default_features(version)
        if not elr:
            levels.pop("eligible.leader.replicas.version", None)
        self.settings = ControllerSettings(node_id=CONTROLLER_ID, cluster_id=CLUSTER_ID, **settings)
        self.ports = ControllerPorts(TopicSchema(), Random(seed), self.quorum)
        self.controller = Controller(self.settings, self.ports, [*bootstrap_records(levels), *users])
        self.controller.claim(1, self.loader.image, self.now_ms)
        self.commit()

    @property
    def image(self) -> MetadataImage:
        return self.controller.image

    def context(self) -> ControllerContext:
        """What an operation would see now."""
        term = self.controller._active()
        return self.controller._context(term, self.now_ms)

    def commit(self) -> None:
        """Commits everything that was written; the loader follows."""
        self.loader.load(self.quorum.batches[self._loaded :])
        self._loaded = len(self.quorum.batches)
        self.controller.committed(self.quorum.end_offset() - 1)

    def pass_time(self, ms: int) -> None:
        """Lets that much time pass, with every tick when it is due."""
        end_ms = self.now_ms + ms
        while (due_ms := self.controller.next_tick_ms) is not None and due_ms <= end_ms:
            self.now_ms = max(self.now_ms, due_ms)
            self.controller.tick(self.now_ms)
            if self.auto_commit:
                self.commit()
        self.now_ms = end_ms

    def write(self, record: MetadataRecord, version: int = 0) -> None:
        """Writes a record that no request would make the controller write."""
        self.controller._write([VersionedRecord(record, version)], self.now_ms)
        self.commit()

    def ask(self, request: Request, caller: Caller | None = None) -> Any:
        """Submits a request, commits and returns the response, or raises the refusal."""
        answer = self.controller.submit(request, self.now_ms, caller or Caller(api_version=4))
        if self.auto_commit:
            self.commit()
        return answer.response if self.auto_commit else answer

    def written_by(self, request: Request, caller: Caller | None = None) -> list[MetadataRecord]:
        """The records that a request makes the controller write."""
        start = self.quorum.end_offset()
        self.ask(request, caller)
        return self.quorum.records(start)

    def register(self, broker_id: int, **changes: Any) -> int:
        """Registers a broker and returns its epoch."""
        request = registration(broker_id, **changes)
        return int(self.ask(request).broker_epoch)

    def heartbeat(self, broker_id: int, **changes: Any) -> Any:
        broker = self.image.cluster.brokers[broker_id]
        values = {"current_metadata_offset": self.quorum.end_offset() - 1, **changes}
        return self.ask(BrokerHeartbeatRequest(broker_id=broker_id, broker_epoch=broker.epoch, **values))

    def start(self, *broker_ids: int, **changes: Any) -> None:
        """Registers and unfences brokers."""
        for broker_id in broker_ids:
            self.register(broker_id, **changes)
            self.heartbeat(broker_id, cordoned_log_dirs=[])

    def fence(self, *broker_ids: int) -> None:
        for broker_id in broker_ids:
            self.heartbeat(broker_id, want_fence=True)

    def create(self, name: str, *assignments: Sequence[int], **configs: str) -> None:
        """Creates a topic with those replicas; configs are written with underscores."""
        topic = topic_of(name, assignments, {key.replace("_", "."): value for key, value in configs.items()})
        result = self.ask(CreateTopicsRequest(topics=[topic])).topics[0]
        assert result.error_code == 0, result

    def partition(self, name: str, index: int = 0) -> PartitionRegistration:
        topic = self.image.topics.topic(name)
        assert topic is not None
        return topic.partitions[index]

    def alter_isr(self, name: str, index: int, isr: Sequence[int], **changes: Any) -> Any:
        """AlterPartition as the partition's leader would send it; `changes` replace single fields."""
        return self.alter_isrs(name, [(index, isr)], **changes)[0]

    def alter_isrs(self, name: str, isrs: Sequence[tuple[int, Sequence[int]]], **changes: Any) -> list[Any]:
        """AlterPartition for several partitions that one broker leads, by their indexes."""
        topic = self.image.topics.topic(name)
        assert topic is not None
        brokers = self.image.cluster.brokers
        leader = changes.pop("broker_id", topic.partitions[isrs[0][0]].leader)
        epoch = changes.pop("broker_epoch", brokers[leader].epoch if leader in brokers else 0)
        data = []
        for index, isr in isrs:
            partition = topic.partitions[index]
            states = [
                BrokerState(broker_id=member, broker_epoch=brokers[member].epoch if member in brokers else 0)
                for member in isr
            ]
            values = {
                "leader_epoch": partition.leader_epoch,
                "new_isr_with_epochs": changes.get("states", states),
                "partition_epoch": partition.partition_epoch,
                **{name: value for name, value in changes.items() if name != "states"},
            }
            data.append(RequestPartitionData(partition_index=index, **values))
        topics = [RequestTopicData(topic_id=topic.id, partitions=data)]
        answer = self.ask(AlterPartitionRequest(broker_id=leader, broker_epoch=epoch, topics=topics))
        return answer.topics[0].partitions


def registration(broker_id: int, **changes: Any) -> BrokerRegistrationRequest:
    """What a broker with one log directory and all features sends."""
    values: dict[str, Any] = {
        "broker_id": broker_id,
        "cluster_id": CLUSTER_ID,
        "incarnation_id": uuid_of(broker_id + 10_000),
        "listeners": [Listener(name="PLAINTEXT", host="127.0.0.1", port=9092 + broker_id)],
        "features": [
            Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
            for name, levels in supported_features().items()
        ],
        "rack": None,
        "log_dirs": [directory_of(broker_id)],
        **changes,
    }
    return BrokerRegistrationRequest(**values)


def topic_of(
    name: str, assignments: Sequence[Sequence[int]] = (), configs: Mapping[str, str] | None = None, **counts: int
) -> CreatableTopic:
    """A topic to create, by assignments or (`num_partitions`, `replication_factor`) by counts."""
    return CreatableTopic(
        name=name,
        num_partitions=counts.get("num_partitions", -1),
        replication_factor=counts.get("replication_factor", -1),
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in enumerate(assignments)
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
    )
