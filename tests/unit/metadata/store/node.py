"""A controller on a directory without network: the real quorum, controller and loader, effects carried out by hand."""

from collections.abc import Collection, Sequence
from random import Random
from typing import Any

from ottla.base.ids import Uuid
from ottla.metadata.batch import read_batches, record_values
from ottla.metadata.controller.context import Caller, ControllerPorts
from ottla.metadata.controller.controller import Controller
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.snapshot import snapshot_records
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.store.format import FormatOptions, Standalone, format_directories
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.metadata.store.metadata_store import MetadataStore
from ottla.protocol.definition import Request
from ottla.protocol.errors import NotControllerError, NotLeaderOrFollowerError
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.create_topics import CreateTopicsRequest
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.raft.config import QuorumConfig
from ottla.raft.context import RaftSetup
from ottla.raft.core import RaftCore
from ottla.raft.effect import ApplyCommitted, Effect, FlushLog, LeaderChanged, LoadSnapshot
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.event import CommitsApplied, Event, LogFlushed, TimeElapsed
from ottla.raft.identity import LocalReplica, OffsetAndEpoch, ReplicaKey
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.voter_set import NO_VOTERS, VoterSet
from ottla.storage.disk.port import Disk
from tests.unit.metadata.cluster import TopicSchema, registration, topic_of

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
NODE_ID = 1
LISTENER = "CONTROLLER"
ENDPOINTS = Endpoints({LISTENER: Address("127.0.0.1", 9093)})
START_MS = 1_790_000_000_000


class TestClock:
    """A clock that stands still unless it is moved."""

    __test__ = False

    def __init__(self, now_ms: int = START_MS) -> None:
        self.time_ms = now_ms

    def now_ms(self) -> int:
        return self.time_ms

    def monotonic_ms(self) -> int:
        return self.time_ms


def format_standalone(disk: Disk, directory: str, endpoints: Endpoints = ENDPOINTS, **changes: Any) -> Uuid:
    """Formats a directory for a quorum of one; the directory's id."""
    values: dict[str, Any] = {
        "cluster_id": CLUSTER_ID,
        "node_id": NODE_ID,
        "directories": [directory],
        "metadata_directory": directory,
        "controllers": Standalone(endpoints),
        **changes,
    }
    done = format_directories(disk, FormatOptions(**values), random_bytes=Random(7).randbytes, now_ms=START_MS)
    return done.directories[-1].directory_id


class NodeQuorum:
    """What the controller needs of the quorum."""

    def __init__(self, node: "Node") -> None:
        self._node = node

    def end_offset(self) -> int:
        return self._node.core.next_offset

    def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
        try:
            return self._node.core.append(epoch, record_values(records), self._node.clock.now_ms())
        except NotLeaderOrFollowerError as error:
            raise NotControllerError(str(error)) from error

    def leader_id(self) -> int | None:
        return self._node.core.leader.leader_id

    def voter_ids(self) -> Collection[int]:
        return self._node.core.voters.ids

    def kraft_version(self) -> int:
        return self._node.core.kraft_version

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> None:
        self._node.core.upgrade_kraft_version(epoch, level, self._node.clock.now_ms(), validate_only=validate_only)


class Node:
    """A started node; a sole voter leads when the constructor returns."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        config: MetadataLogConfig | None = None,
        static_voters: VoterSet = NO_VOTERS,
        endpoints: Endpoints = ENDPOINTS,
    ) -> None:
        self.clock = TestClock()
        self.store = MetadataStore.open(disk, directory, self.clock, config)
        properties = self.store.properties
        assert properties.cluster_id is not None
        assert properties.node_id is not None
        assert properties.directory_id is not None
        local = LocalReplica(ReplicaKey(properties.node_id, properties.directory_id), endpoints)
        setup = RaftSetup(
            properties.cluster_id, local, LISTENER, QuorumConfig(append_linger_ms=0), static_voters=static_voters
        )
        self.loader = MetadataLoader()
        self.core = RaftCore(setup, self.store.ports(Random(1)))
        settings = ControllerSettings(node_id=properties.node_id, cluster_id=properties.cluster_id)
        ports = ControllerPorts(TopicSchema(), Random(self.store.log.end_offset), NodeQuorum(self))
        self.controller = Controller(settings, ports, self.store.bootstrap)
        self._carry_out(self.core.start(self.clock.now_ms()))
        while not self.controller.is_active:
            # A candidate that crashed goes on as one until its time is up.
            self.clock.time_ms = self.core.deadline_ms
            self._handle(TimeElapsed())
        self.run()

    @property
    def image(self) -> MetadataImage:
        """What is committed."""
        return self.loader.image

    def run(self) -> None:
        """Lets the quorum do what is due now."""
        self.clock.time_ms += 1
        self._handle(TimeElapsed())

    def ask(self, request: Request) -> Any:
        """The controller's answer, which it gives once it is on the disk."""
        answer = self.controller.submit(request, self.clock.now_ms(), Caller(api_version=4))
        self.run()
        return answer.response

    def start_broker(self, broker_id: int, **changes: Any) -> None:
        """Registers a broker and unfences it."""
        epoch = self.ask(registration(broker_id, cluster_id=self.store.properties.cluster_id, **changes)).broker_epoch
        beat = BrokerHeartbeatRequest(broker_id=broker_id, broker_epoch=epoch, cordoned_log_dirs=[])
        beat.current_metadata_offset = self.core.next_offset - 1
        self.ask(beat)

    def create_topic(self, name: str, broker_id: int = NODE_ID, **configs: str) -> None:
        """Creates a topic of two partitions on a broker."""
        topic = topic_of(
            name, [[broker_id], [broker_id]], {key.replace("_", "."): text for key, text in configs.items()}
        )
        [result] = self.ask(CreateTopicsRequest(topics=[topic])).topics
        assert result.error_code == 0, result

    def take_snapshot(self) -> OffsetAndEpoch:
        """Writes a snapshot of what is committed."""
        image = self.image
        snapshot_id = OffsetAndEpoch(offset=image.provenance.offset + 1, epoch=image.provenance.epoch)
        writer = self.core.begin_snapshot(snapshot_id, image.provenance.timestamp_ms, self.clock.now_ms())
        assert writer is not None
        writer.append(record_values(list(snapshot_records(image))))
        self.core.store_snapshot(writer)
        return snapshot_id

    def topics(self) -> set[str]:
        """The names of the committed topics."""
        return {topic.name for topic in self.image.topics.by_id.values()}

    def _handle(self, event: Event) -> None:
        self._carry_out(self.core.handle(event, self.clock.now_ms()))

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case FlushLog():
                    self.store.log.flush()
                    self._handle(LogFlushed())
                case ApplyCommitted():
                    self.store.log.update_high_watermark(effect.last_offset + 1)
                    self.loader.load(read_batches(effect.batches))
                    self.controller.committed(effect.last_offset)
                    self._handle(CommitsApplied())
                case LoadSnapshot():
                    self.loader.load_snapshot(*self.store.snapshot(effect.snapshot_id))
                    self._handle(CommitsApplied())
                case LeaderChanged(leader) if leader == self.core.leader and isinstance(self.core.role, Leader):
                    in_transaction = self.loader.in_transaction
                    self.controller.claim(leader.epoch, self.image, self.clock.now_ms(), in_transaction=in_transaction)
                case LeaderChanged():
                    self.controller.renounce()
                case _:
                    raise AssertionError(f"a quorum of one has nobody to talk to: {effect}")
