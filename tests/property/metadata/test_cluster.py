"""Random lives of a cluster: whatever brokers and operators do, partitions stay sane and images stay equal."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.metadata.batch import CommittedBatch
from ottla.metadata.controller.topic.topic_index import TopicIndex
from ottla.metadata.image.difference import difference
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.image.snapshot import load_snapshot, snapshot_records
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import ApiError
from ottla.protocol.messages import assign_replicas_to_dirs as settling
from ottla.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.protocol.messages.create_topics import CreateTopicsRequest
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from tests.unit.metadata.cluster import Cluster, directory_of, topic_of, uuid_of

BROKERS = st.integers(1, 5)
TOPICS = st.sampled_from(["a", "b", "c.d", "c_d"])
PARTITIONS = st.integers(0, 2)
REPLICAS = st.none() | st.lists(BROKERS, min_size=1, max_size=3, unique=True)
VERSIONS = st.sampled_from([MetadataVersion(level) for level in (7, 12, 17, 23, 30)])


class ClusterMachine(RuleBasedStateMachine):
    """Brokers join, crash, stop and return; topics come, grow, move and go."""

    @initialize(version=VERSIONS, elr=st.booleans(), seed=st.integers(0, 1_000))
    def begin(self, version: MetadataVersion, elr: bool, seed: int) -> None:
        self.cluster = Cluster(version, elr=elr, seed=seed, metadata_max_idle_interval_ms=0)
        self.cluster.start(1, 2, 3)
        self.incarnations = 0
        self.seen: dict[tuple[bytes, int], PartitionRegistration] = {}

    def attempt(self, request: Any) -> Any:
        """Whole requests may be refused; that is none of these properties' business."""
        try:
            return self.cluster.ask(request)
        except ApiError:
            return None

    def is_registered(self, broker: int) -> bool:
        return broker in self.cluster.image.cluster.brokers

    @rule(broker=BROKERS, clean=st.booleans(), directories=st.integers(1, 2))
    def broker_restarts(self, broker: int, clean: bool, directories: int) -> None:
        known = self.cluster.image.cluster.brokers.get(broker)
        self.incarnations += 1
        self.cluster.pass_time(10_000)
        self.cluster.register(
            broker,
            incarnation_id=uuid_of(50_000 + self.incarnations),
            previous_broker_epoch=known.epoch if known is not None and clean else -1,
            rack=str(broker % 2),
            log_dirs=[directory_of(broker, number) for number in range(directories)],
        )

    @rule(broker=BROKERS, want_fence=st.booleans(), want_shut_down=st.booleans())
    def broker_is_heard(self, broker: int, want_fence: bool, want_shut_down: bool) -> None:
        if self.is_registered(broker):
            self.cluster.heartbeat(broker, want_fence=want_fence, want_shut_down=want_shut_down)

    @rule(broker=BROKERS, number=st.integers(0, 1), want_fence=st.booleans())
    def directory_is_lost(self, broker: int, number: int, want_fence: bool) -> None:
        if self.is_registered(broker):
            lost = [directory_of(broker, number)]
            self.cluster.heartbeat(broker, want_fence=want_fence, offline_log_dirs=lost)

    @rule(broker=BROKERS, numbers=st.lists(st.integers(0, 1), min_size=1, max_size=2), name=TOPICS, index=PARTITIONS)
    def replica_settles(self, broker: int, numbers: list[int], name: str, index: int) -> None:
        topic = self.cluster.image.topics.topic(name)
        if topic is None or not self.is_registered(broker):
            return
        place = settling.RequestTopicData(
            topic_id=topic.id, partitions=[settling.RequestPartitionData(partition_index=index)]
        )
        directories = [
            settling.RequestDirectoryData(id=directory_of(broker, number), topics=[place]) for number in numbers
        ]
        epoch = self.cluster.image.cluster.brokers[broker].epoch
        self.attempt(
            settling.AssignReplicasToDirsRequest(broker_id=broker, broker_epoch=epoch, directories=directories)
        )

    @rule(broker=BROKERS)
    def broker_is_unregistered(self, broker: int) -> None:
        self.attempt(UnregisterBrokerRequest(broker_id=broker))

    @rule()
    def time_passes(self) -> None:
        self.cluster.pass_time(10_000)

    @rule(name=TOPICS, partitions=st.integers(1, 3), factor=st.integers(1, 3), minimum=st.integers(1, 3))
    def topic_is_created(self, name: str, partitions: int, factor: int, minimum: int) -> None:
        configs = {"min.insync.replicas": str(minimum), "unclean.leader.election.enable": str(minimum == 3).lower()}
        topic = topic_of(name, (), configs, num_partitions=partitions, replication_factor=factor)
        self.attempt(CreateTopicsRequest(topics=[topic]))

    @rule(name=TOPICS, count=st.integers(1, 3))
    def topic_grows(self, name: str, count: int) -> None:
        topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
        self.attempt(CreatePartitionsRequest(timeout_ms=1_000, topics=[topic]))

    @rule(name=TOPICS)
    def topic_is_deleted(self, name: str) -> None:
        self.attempt(DeleteTopicsRequest(timeout_ms=1_000, topic_names=[name]))

    @rule(name=TOPICS, minimum=st.integers(1, 3))
    def minimum_changes(self, name: str, minimum: int) -> None:
        config = AlterableConfig(name="min.insync.replicas", value=str(minimum))
        resource = AlterConfigsResource(resource_type=2, resource_name=name, configs=[config])
        self.attempt(IncrementalAlterConfigsRequest(resources=[resource]))

    @rule(moves=st.lists(st.tuples(TOPICS, PARTITIONS, REPLICAS), min_size=1, max_size=3))
    def partitions_are_reassigned(self, moves: list[tuple[str, int, list[int] | None]]) -> None:
        topics = [
            ReassignableTopic(name=name, partitions=[ReassignablePartition(partition_index=index, replicas=replicas)])
            for name, index, replicas in moves
        ]
        self.attempt(AlterPartitionReassignmentsRequest(topics=topics))

    @rule(name=TOPICS, index=PARTITIONS, data=st.data())
    def leader_proposes_an_isr(self, name: str, index: int, data: st.DataObject) -> None:
        topic = self.cluster.image.topics.topic(name)
        if topic is None or index >= len(topic.partitions) or topic.partitions[index].leader == NO_LEADER:
            return
        partition = topic.partitions[index]
        others = [replica for replica in partition.replicas if replica != partition.leader]
        members = st.lists(st.sampled_from(others), unique=True) if others else st.just([])
        proposals = data.draw(st.lists(members, min_size=1, max_size=2))
        self.cluster.alter_isrs(name, [(index, [partition.leader, *proposal]) for proposal in proposals])

    @rule(name=TOPICS, indexes=st.lists(PARTITIONS, min_size=1, max_size=3), kind=st.integers(0, 1))
    def leaders_are_elected(self, name: str, indexes: list[int], kind: int) -> None:
        wanted = TopicPartitions(topic=name, partitions=indexes)
        self.attempt(ElectLeadersRequest(election_type=kind, topic_partitions=[wanted]))

    @rule()
    def leaders_are_balanced(self) -> None:
        self.attempt(ElectLeadersRequest(election_type=0, topic_partitions=None))

    @precondition(lambda self: hasattr(self, "cluster"))
    @rule()
    def controller_fails_over(self) -> None:
        self.cluster.controller.renounce()
        self.cluster.controller.claim(2, self.cluster.loader.image, self.cluster.now_ms)
        self.cluster.commit()

    @invariant()
    def partitions_are_sane(self) -> None:
        if not hasattr(self, "cluster"):
            return
        for topic in self.cluster.image.topics.by_id.values():
            for index, partition in enumerate(topic.partitions):
                self.check(partition)
                before = self.seen.get((topic.id, index))
                if before is not None:
                    self.check_epochs(before, partition)
                self.seen[topic.id, index] = partition

    def check(self, partition: PartitionRegistration) -> None:
        replicas = set(partition.replicas)
        assert len(replicas) == len(partition.replicas) == len(partition.directories) > 0
        assert set(partition.isr) <= replicas
        assert set(partition.elr) <= replicas
        assert not set(partition.elr) & set(partition.isr)
        assert set(partition.adding_replicas) <= replicas
        assert set(partition.removing_replicas) <= replicas
        assert not set(partition.adding_replicas) & set(partition.removing_replicas)
        if partition.leader != NO_LEADER:
            assert partition.leader in partition.isr
            assert self.cluster.image.cluster.is_active(partition.leader)
            directory = partition.directory(partition.leader)
            assert directory is not None
            assert self.cluster.image.cluster.brokers[partition.leader].has_online_directory(directory)
        if self.cluster.image.features.elr_enabled:
            assert all(self.cluster.image.cluster.is_active(member) for member in partition.isr)
            assert partition.leader == NO_LEADER or not partition.last_known_elr
        else:
            assert partition.isr, "without eligible leaders the last in-sync replica stays"
            assert not partition.elr

    @staticmethod
    def check_epochs(before: PartitionRegistration, after: PartitionRegistration) -> None:
        assert after.partition_epoch >= before.partition_epoch
        assert (after == before) == (after.partition_epoch == before.partition_epoch)
        assert after.leader_epoch >= before.leader_epoch
        if after.leader != before.leader:
            assert after.leader_epoch > before.leader_epoch

    @invariant()
    def index_follows_the_image(self) -> None:
        if hasattr(self, "cluster"):
            context = self.cluster.context()
            assert vars(context.index) == vars(TopicIndex(context.image.topics))

    @invariant()
    def images_are_equal(self) -> None:
        if hasattr(self, "cluster"):
            assert without_provenance(self.cluster.loader.image) == without_provenance(self.cluster.image)

    def teardown(self) -> None:
        if not hasattr(self, "cluster"):
            return
        image = self.cluster.loader.image
        records = [record for record, _ in snapshot_records(image)]
        assert load_snapshot(records, image.provenance) == image
        assert difference(EMPTY_IMAGE, image).apply(image.provenance) == image
        one_by_one, at_once = MetadataLoader(), MetadataLoader()
        at_once.load(self.cluster.quorum.batches)
        for batch in self.cluster.quorum.batches:
            for place, record in enumerate(batch.records):
                offset = batch.base_offset + place
                one_by_one.load([CommittedBatch(offset, offset, batch.epoch, 0, [record])])
        assert one_by_one.image == at_once.image == image


def without_provenance(image: MetadataImage) -> list[object]:
    return [getattr(image, name) for name in MetadataImage.__slots__ if name != "provenance"]


TestCluster = ClusterMachine.TestCase
TestCluster.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
