"""Metrics of a node's quorum, controller and broker lifecycle, under Kafka's names. Read at scrape time."""

from collections.abc import Callable

from ottla.base.metric import MetricRegistry
from ottla.broker.node.lifecycle import LifecycleState
from ottla.broker.quorum.metadata_publisher import MetadataPublisher
from ottla.broker.quorum.quorum_member import QuorumMember
from ottla.metadata.image.metadata_image import MetadataImage

_NOBODY = -1


def register_quorum_metrics(metrics: MetricRegistry, member: QuorumMember) -> None:
    """Registers the metrics of this replica in the quorum and of its image."""
    core, metadata = member.core, member.metadata
    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "kafka_server_raft_metrics_current_epoch": ("The quorum's epoch.", lambda: core.leader.epoch),
        "kafka_server_raft_metrics_current_leader": (
            "The quorum's leader, -1 if it is not known.",
            lambda: _NOBODY if core.leader.leader_id is None else core.leader.leader_id,
        ),
        "kafka_server_raft_metrics_high_watermark": (
            "How far the metadata log is committed, -1 if that is not known.",
            lambda: _NOBODY if core.high_watermark is None else core.high_watermark,
        ),
        "kafka_server_raft_metrics_log_end_offset": (
            "Where the metadata log ends here.",
            lambda: member.store.log.end_offset,
        ),
        "kafka_server_raft_metrics_number_of_voters": ("How many vote.", lambda: len(core.voters)),
        "kafka_server_broker_metadata_metrics_last_applied_record_offset": (
            "The last record of the metadata that this node acts on.",
            lambda: metadata.image.provenance.offset,
        ),
        "kafka_server_broker_metadata_metrics_last_applied_record_timestamp": (
            "When that record was written, in milliseconds since 1970.",
            lambda: metadata.image.provenance.timestamp_ms,
        ),
        "kafka_server_broker_metadata_metrics_metadata_apply_error_count": (
            "Changes of the metadata that a part of this node failed to take in; its log has the tracebacks.",
            lambda: metadata.apply_errors.value,
        ),
        "kafka_server_broker_metadata_metrics_metadata_load_error_count": (
            "Metadata records that could not be taken in; the node ends with the first.",
            lambda: metadata.load_errors.value,
        ),
    }
    for name, (doc, function) in gauges.items():
        metrics.gauge(name, doc, function)


def register_controller_metrics(
    metrics: MetricRegistry, is_active: Callable[[], bool], metadata: MetadataPublisher
) -> None:
    """A controller's metrics of the cluster."""

    def image() -> MetadataImage:
        return metadata.image

    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "metadataerrorcount": (
            "What went wrong here with the metadata: records that could not be taken in, and parts that failed to.",
            lambda: metadata.apply_errors.value + metadata.load_errors.value,
        ),
        "activecontrollercount": ("1 on the controller that decides.", lambda: int(is_active())),
        "activebrokercount": ("Brokers that are not fenced.", lambda: _brokers(image(), fenced=False)),
        "fencedbrokercount": ("Brokers that are fenced.", lambda: _brokers(image(), fenced=True)),
        "globaltopiccount": ("Topics in the cluster.", lambda: len(image().topics.by_id)),
        "globalpartitioncount": (
            "Partitions in the cluster.",
            lambda: sum(len(topic.partitions) for topic in image().topics.by_id.values()),
        ),
    }
    for name, (doc, function) in gauges.items():
        metrics.gauge(f"kafka_controller_kafkacontroller_{name}", doc, function)


def register_broker_metrics(metrics: MetricRegistry, state: Callable[[], LifecycleState]) -> None:
    """Registers the metrics of the broker's life."""
    doc = "0 not running, 1 starting, 2 recovering, 3 running, 6 about to shut down, 7 shutting down."
    metrics.gauge("kafka_server_kafkaserver_brokerstate", doc, lambda: state().value)


def _brokers(image: MetadataImage, *, fenced: bool) -> int:
    return sum(broker.fenced is fenced for broker in image.cluster.brokers.values())
