"""A broker with real logs and real replication, but without sockets and without a loop that runs by itself.

Requests go in as bytes and answers come out of bytes, so that a test sees what a client would see.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from ottla.base.ids import Uuid
from ottla.base.metric import MetricRegistry
from ottla.base.metric_text import render
from ottla.broker.batch_check import BatchChecks
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.coordinator_host.coordinator_peer import BrokerPeers
from ottla.broker.coordinator_host.coordinator_setup import CoordinatorContext, Coordinators
from ottla.broker.coordinator_host.producer_id_source import ProducerIdSource
from ottla.broker.node.topic_metric import TopicMetrics
from ottla.broker.quota.client_quota import ClientQuotas, QuotaWindows
from ottla.broker.request.api_table import BROKER_SERVED
from ottla.broker.request.api_versions_answer import ApiVersionsAnswer
from ottla.broker.request.fetch_session import FetchSessionCache
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.request.pipeline import Pipeline
from ottla.metadata.directory_id import UNASSIGNED
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage, Provenance
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsResponse
from ottla.protocol.metadata_log.broker import BrokerEndpoint, RegisterBrokerRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.topic import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.replica_manager_options import ReplicaManagerOptions
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from tests.unit.broker.hand_loop import HandLoop, HandWorker
from tests.unit.broker.recorder import RecordedConnection, RecordedExchange, frame_of

NOW_MS = 1_800_000_000_000
R = TypeVar("R", bound=Response)


class Outside:
    """What a broker tells others: kept, and answered by nobody."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def alter(self, *proposal: object) -> None:
        self.told.append(proposal)

    def assign(self, *assignment: object) -> None:
        self.told.append(assignment)

    def failed(self, *failure: object) -> None:
        self.told.append(failure)

    def all_failed(self) -> None:
        self.told.append(("all failed",))


class IdController:
    """A controller that gives producer ids, and nothing else."""

    def __init__(self) -> None:
        self.refuses_with: ApiError | None = None
        self._next = 0

    def send(self, request: Request, done: Callable[[Response | ApiError], None], *, timeout_ms: int) -> None:
        if self.refuses_with is not None:
            done(self.refuses_with)
            return
        self._next += 1000
        done(AllocateProducerIdsResponse(producer_id_start=self._next - 1000, producer_id_len=1000))


class DataBroker:
    """Broker 1; others are registered but not there."""

    def __init__(self, directory: Path, *, brokers: int = 1, now_ms: int = NOW_MS, **settings: str) -> None:
        self.loop = HandLoop(now_ms)
        self.outside = Outside()
        self.image: MetadataImage = EMPTY_IMAGE
        self.controller = IdController()
        self.metrics = MetricRegistry()
        config = _config(directory, settings)
        self.logs = LogManager(
            LogManagerOptions(
                directories=(str(directory),),
                disk=LocalDisk(),
                clock=self.loop,
                default_config=config.default_log_config,
            )
        )
        self.logs.load()
        self.replicas = ReplicaManager(
            ReplicaManagerOptions(
                node_id=1,
                logs=self.logs,
                clock=self.loop,
                loop=self.loop,
                alter_partition=self.outside,
                directory_events=self.outside,
                endpoint_of=_nobody,
                make_worker=HandWorker,
            )
        )
        self.metadata = MetadataCache(1)
        topic_metrics = TopicMetrics(self.metrics)
        self.parts: Any = SimpleNamespace(
            node_id=1,
            cluster_id="QUFBQUFBQUFBQUFBQUFBQQ",
            config=config,
            dynamic=SimpleNamespace(current=config),
            clock=self.loop,
            replicas=self.replicas,
            checks=BatchChecks(self.logs, self.loop, Mailbox(self.loop), threads=1),
            logs=self.logs,
            metadata=self.metadata,
            producer_ids=ProducerIdSource(self.controller, 1, lambda: 5),  # type: ignore[arg-type]
            topic_metrics=topic_metrics,
            api_versions=ApiVersionsAnswer(BROKER_SERVED),
            fetch_sessions=FetchSessionCache(100, self.loop, self.metrics),
            kraft_version=lambda: 1,
        )
        self.coordinators = self.parts.coordinators = self._make_coordinators(config)
        quotas = ClientQuotas(QuotaWindows(), self.loop, self.metrics)
        self._listeners = (self.metadata, quotas, self.replicas, topic_metrics, self.coordinators.leadership)
        self.pipeline = Pipeline(self.parts, BROKER_SERVED, self.metrics, self.loop.time)
        self.pipeline.follow_quotas(quotas)
        self.apply(FeatureLevelRecord(name="metadata.version", feature_level=30))
        self.apply(*(_registration(broker) for broker in range(1, brokers + 1)))

    def _make_coordinators(self, config: ServerConfig) -> Coordinators:
        """Rounds end when the loop runs; other brokers are not there."""
        return Coordinators(
            CoordinatorContext(
                config=config,
                loop=self.loop,
                clock=self.loop,
                day_clock=self.loop,
                at_round_end=self.loop.call_soon,
                read_in_thread=lambda read, done: self.loop.call_soon(lambda: done(read())),
                replicas=self.replicas,
                metadata=self.metadata,
                producer_ids=self.parts.producer_ids,
                peers=BrokerPeers(self.loop, lambda broker: None, _nobody),
                is_metadata_complete=lambda: True,
                metrics=self.metrics,
            )
        )

    def close(self) -> None:
        """Leaves the directory in order."""
        self.logs.shutdown()

    def apply(self, *records: MetadataRecord) -> None:
        """The metadata log goes on."""
        provenance = Provenance(self.image.provenance.offset + len(records), 1, NOW_MS)
        self.image, delta = apply_records(self.image, records, provenance)
        for listener in self._listeners:
            listener.metadata_changed(delta, self.image)
        self.loop.run()

    def create(self, topic: str, partitions: int = 1, *, leader: int = 1, replicas: int = 1, **configs: object) -> Uuid:
        """A topic, with settings of its own; its id."""
        topic_id = Uuid(topic.encode().ljust(16, b"-")[:16])
        self.logs.update_topic_config(topic, {name.replace("_", "."): value for name, value in configs.items()})
        nodes = [leader, *(node for node in range(1, replicas + 1) if node != leader)][: max(replicas, 1)]
        made = [
            PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=nodes,
                isr=nodes,
                leader=leader,
                leader_epoch=0,
                partition_epoch=0,
                directories=[UNASSIGNED] * len(nodes),
            )
            for index in range(partitions)
        ]
        self.apply(TopicRecord(name=topic, topic_id=topic_id), *made)
        return topic_id

    def move(self, topic_id: Uuid, leader: int, index: int = 0) -> None:
        """Another broker leads the partition from now on."""
        self.apply(PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=leader))

    def delete(self, topic_id: Uuid) -> None:
        """The topic goes."""
        self.apply(RemoveTopicRecord(topic_id=topic_id))

    def send(
        self,
        request: Request,
        version: int,
        client_id: str = "probe",
        connection: RecordedConnection | None = None,
    ) -> RecordedExchange:
        """Has a request handled, over a connection of its own if none is given; its answer may be late."""
        exchange = RecordedExchange(connection)
        buffer = frame_of(request, version, client_id)
        with memoryview(buffer) as view:
            self.pipeline.received(view, exchange)  # type: ignore[arg-type]
        # Fails if anybody holds on to the frame, which belongs to the next request now.
        buffer.clear()
        return exchange

    def ask(self, request: Request, version: int, kind: type[R], client_id: str = "probe") -> R:
        """The answer to a request, which has to be at hand, or after what the loop has to do at once."""
        exchange = self.send(request, version, client_id)
        if exchange.frame is None:
            self.loop.run()
        response = exchange.response(request.api, version)
        assert isinstance(response, kind)
        return response

    def scrape(self) -> str:
        """The metrics."""
        return render(self.metrics)


def _config(directory: Path, settings: dict[str, str]) -> ServerConfig:
    return ServerConfig(
        {
            "process.roles": "broker",
            "node.id": "1",
            "listeners": "PLAINTEXT://127.0.0.1:9092",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": "127.0.0.1:9999",
            "log.dirs": str(directory),
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )


def _registration(broker: int) -> RegisterBrokerRecord:
    endpoint = BrokerEndpoint(name="PLAINTEXT", host=f"host-{broker}", port=9000 + broker)
    return RegisterBrokerRecord(
        broker_id=broker, broker_epoch=broker, end_points=[endpoint], rack=f"rack-{broker}", fenced=False
    )


def _nobody(*_: object) -> Any:
    return SimpleNamespace(fetch=lambda *_, **__: None, list_offset=lambda *_, **__: None, close=lambda: None)
