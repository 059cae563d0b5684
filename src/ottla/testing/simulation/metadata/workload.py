"""Operators and brokers at work: topics come, grow and go, configs change, replicas move, ISRs shrink and grow.

Requests go through a broker, as in Kafka; one that dies takes what its client would have heard with it.
"""

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any, Final

from ottla.base.ids import Uuid
from ottla.metadata.image.config import ResourceType
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.definition import Request
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.testing.simulation.metadata.broker import BrokerPart, broker_part
from ottla.testing.simulation.metadata.history import MetadataHistory
from ottla.testing.simulation.metadata.part import metadata_part
from ottla.testing.simulation.metadata.setting_workload import SettingWorkload
from ottla.testing.simulation.raft.quorum_cluster import QuorumCluster
from ottla.testing.simulation.raft.raft_part import RaftPart

_NAMES: Final = tuple(f"topic-{number}" for number in range(8))
_PARTITIONS_MAX: Final = 5
_TIMEOUT_MS: Final = 1500
_BUSY_MS: Final = (50, 3000)
_SET, _DELETE = 0, 1
_CONFIGS: Final = (
    ("min.insync.replicas", "2"),
    ("min.insync.replicas", "1"),
    ("unclean.leader.election.enable", "true"),
    ("retention.ms", "1000"),
    ("retention.ms", None),
)


class MetadataWorkload:
    """Picks a broker and something to ask, every now and then."""

    def __init__(self, cluster: QuorumCluster, history: MetadataHistory) -> None:
        self._cluster = cluster
        self._history = history
        self._random = cluster.random
        self._is_running = False
        self._actions: Mapping[Callable[[BrokerPart, MetadataImage], None], int] = {
            self._create: 16,
            self._delete: 4,
            self._grow: 6,
            self._configure: 8,
            self._reassign: 12,
            self._elect: 4,
            self._alter_isr: 40,
            self._allocate_producer_ids: 4,
            self._shut_down: 1,
            self._unregister: 1,
            self._fail_directory: 2,
            self._move_replica: 3,
            self._keep_controller_busy: 1,
            **SettingWorkload(history, cluster.random).actions,
        }
        """What there is to do, and how often it is chosen."""
        self._choices = list(self._actions)
        self._weights = list(accumulate(self._actions.values()))

    def start(self) -> None:
        """Begins to ask."""
        self._is_running = True
        self._plan()

    def stop(self) -> None:
        """Asks nothing more."""
        self._is_running = False

    def append(self, raft: RaftPart) -> None:
        """Does nothing: an idle controller writes by itself."""

    def _plan(self) -> None:
        interval_ms = self._cluster.scenario.append_interval_ms
        self._cluster.queue.after(self._random.randint(1, 2 * interval_ms), self._tick)

    def _tick(self) -> None:
        if not self._is_running:
            return
        brokers = [part for node in self._cluster.running_nodes() if (part := broker_part(node)) is not None]
        if brokers:
            broker = self._random.choice(brokers)
            action = self._random.choices(self._choices, cum_weights=self._weights)[0]
            broker.node.act(lambda: action(broker, broker.metadata.loader.image))
        self._plan()

    def _any_topic(self, image: MetadataImage) -> TopicImage | None:
        names = sorted(image.topics.ids)
        return image.topics.topic(self._random.choice(names)) if names else None

    def _create(self, broker: BrokerPart, image: MetadataImage) -> None:
        configs = [CreatableTopicConfig(name=name, value=value) for name, value in _CONFIGS if value]
        active = sum(registered.is_active for registered in image.cluster.brokers.values())
        topic = CreatableTopic(
            name=self._random.choice(_NAMES),
            num_partitions=self._random.randint(1, 3),
            replication_factor=self._random.randint(1, min(3, active + 1)),
            configs=self._random.sample(configs, self._random.randint(0, 1)),
        )

        def heard(error: int, response: Any) -> None:
            for result in () if error else response.topics:
                if not result.error_code:
                    self._history.answered_created[Uuid(result.topic_id)] = result.name

        broker.metadata.client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS), heard)

    def _delete(self, broker: BrokerPart, image: MetadataImage) -> None:
        topic = self._any_topic(image)
        if topic is None:
            return
        topic_id = topic.id

        def heard(error: int, response: Any) -> None:
            if not error and not response.responses[0].error_code:
                self._history.answered_deleted.add(topic_id)

        state = DeleteTopicState(topic_id=topic_id)
        broker.metadata.client.ask(DeleteTopicsRequest(topics=[state], timeout_ms=_TIMEOUT_MS), heard)

    def _grow(self, broker: BrokerPart, image: MetadataImage) -> None:
        topic = self._any_topic(image)
        if topic is not None and len(topic.partitions) < _PARTITIONS_MAX:
            wanted = CreatePartitionsTopic(name=topic.name, count=len(topic.partitions) + 1, assignments=None)
            self._ask(broker, CreatePartitionsRequest(topics=[wanted], timeout_ms=_TIMEOUT_MS))

    def _configure(self, broker: BrokerPart, image: MetadataImage) -> None:
        topic = self._any_topic(image)
        if topic is None:
            return
        name, value = self._random.choice(_CONFIGS)
        operation = _DELETE if value is None else _SET
        config = AlterableConfig(name=name, config_operation=operation, value=value)
        resource = AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=topic.name, configs=[config])
        self._ask(broker, IncrementalAlterConfigsRequest(resources=[resource]))

    def _reassign(self, broker: BrokerPart, image: MetadataImage) -> None:
        """Moves a partition, or stops a move."""
        topic, brokers = self._any_topic(image), sorted(image.cluster.brokers)
        if topic is None or not brokers:
            return
        index = self._random.randrange(len(topic.partitions))
        count = self._random.randint(1, min(3, len(brokers)))
        cancels = topic.partitions[index].is_reassigning and self._random.randrange(2)
        replicas = None if cancels else self._random.sample(brokers, count)
        partition = ReassignablePartition(partition_index=index, replicas=replicas)
        wanted = ReassignableTopic(name=topic.name, partitions=[partition])
        self._ask(broker, AlterPartitionReassignmentsRequest(topics=[wanted], timeout_ms=_TIMEOUT_MS))

    def _elect(self, broker: BrokerPart, image: MetadataImage) -> None:
        election_type = self._random.randrange(2)
        request = ElectLeadersRequest(election_type=election_type, topic_partitions=None, timeout_ms=_TIMEOUT_MS)
        self._ask(broker, request)

    def _alter_isr(self, broker: BrokerPart, image: MetadataImage) -> None:
        broker.alter_isr()

    def _allocate_producer_ids(self, broker: BrokerPart, image: MetadataImage) -> None:
        if broker.epoch is None:
            return

        def heard(error: int, response: Any) -> None:
            if not error:
                block = (response.producer_id_start, response.producer_id_len)
                self._history.producer_id_blocks.append(block)

        request = AllocateProducerIdsRequest(broker_id=broker.node.id, broker_epoch=broker.epoch)
        broker.metadata.client.ask(request, heard)

    def _shut_down(self, broker: BrokerPart, image: MetadataImage) -> None:
        broker.node.note("broker asked to stop")
        broker.wants_shut_down = True

    def _unregister(self, broker: BrokerPart, image: MetadataImage) -> None:
        """An operator takes a broker for dead, rightly or not."""
        self._ask(broker, UnregisterBrokerRequest(broker_id=self._random.choice(sorted(image.cluster.brokers) or [0])))

    def _fail_directory(self, broker: BrokerPart, image: MetadataImage) -> None:
        broker.fail_directory()

    def _move_replica(self, broker: BrokerPart, image: MetadataImage) -> None:
        broker.directories.move(self._random)

    def _keep_controller_busy(self, broker: BrokerPart, image: MetadataImage) -> None:
        """Something takes the controller longer than brokers may be silent."""
        parts = [metadata_part(node) for node in self._cluster.running_nodes()]
        for part in parts:
            if part is not None and part.controller is not None and part.controller.is_active:
                part.be_busy(self._random.randint(*_BUSY_MS))

    def _ask(self, broker: BrokerPart, request: Request) -> None:
        broker.metadata.client.ask(request, _ignore)


def _ignore(error: int, response: Any) -> None:
    """Drops an answer: a refused request is not repeated."""
