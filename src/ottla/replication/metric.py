"""Replication's metrics, under Kafka's names. Values are computed when they are read."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ottla.base.metric import MetricKind, MetricRegistry
from ottla.replication.partition.partition import Partition

if TYPE_CHECKING:
    from ottla.replication.replica_manager import ReplicaManager

_MANAGER = "kafka_server_replicamanager"
_LOG = "kafka_log_log"


def register_metrics(registry: MetricRegistry, replicas: "ReplicaManager") -> None:
    """Shows what the manager and its partitions are like."""
    table, isr = replicas.table, replicas.isr

    def count(accept: Callable[[Partition], bool]) -> Callable[[], int]:
        return lambda: sum(map(accept, table.all()))

    for name, doc, read in (
        ("partitioncount", "Partitions on this broker.", lambda: len(table.online) + len(table.offline)),
        ("offlinereplicacount", "Replicas whose log directory failed.", lambda: len(table.offline)),
        ("leadercount", "Partitions that this broker leads.", count(lambda partition: partition.is_leader)),
        ("underreplicatedpartitions", "Led partitions with replicas out of sync.", count(_is_under_replicated)),
        ("underminisrpartitioncount", "Led partitions with too few in sync to be written.", count(_is_under_min_isr)),
        ("atminisrpartitioncount", "Led partitions that can afford to lose no replica.", count(_is_at_min_isr)),
        ("produceridcount", "Producers that partitions remember.", lambda: _producers(replicas)),
    ):
        registry.gauge(f"{_MANAGER}_{name}", doc, read)
    for name, doc, read in (
        ("isrexpands_total", "Followers that came into sync.", lambda: isr.expansions),
        ("isrshrinks_total", "Times that followers fell out of sync.", lambda: isr.shrinks),
        ("failedisrupdates_total", "ISR changes that the controller did not make.", lambda: isr.failures),
    ):
        registry.collector(f"{_MANAGER}_{name}", doc, _single(read), MetricKind.COUNTER)
    for kind, purgatory in (
        ("Produce", replicas.waiting.produces),
        ("Fetch", replicas.waiting.fetches),
        ("DeleteRecords", replicas.waiting.deletions),
    ):
        registry.gauge(
            "kafka_server_delayedoperationpurgatory_purgatorysize",
            "Requests that wait.",
            purgatory.__len__,
            delayedOperation=kind,
        )
    _register_logs(registry, replicas)


def _register_logs(registry: MetricRegistry, replicas: "ReplicaManager") -> None:
    for name, doc, read in (
        ("size", "Bytes of a partition's segments.", lambda partition: partition.log.size_bytes),
        ("logendoffset", "The offset that the next record gets.", lambda partition: partition.log.log_end_offset),
        ("logstartoffset", "The first offset.", lambda partition: partition.log.log_start_offset),
    ):
        registry.collector(f"{_LOG}_{name}", doc, _by_partition(replicas, read))


def _by_partition(
    replicas: "ReplicaManager", read: Callable[[Partition], int]
) -> Callable[[], Iterator[tuple[Mapping[str, str], int]]]:
    def collect() -> Iterator[tuple[Mapping[str, str], int]]:
        for partition in replicas.partitions():
            yield {"topic": partition.topic, "partition": str(partition.index)}, read(partition)

    return collect


def _single(read: Callable[[], int]) -> Callable[[], list[tuple[Mapping[str, str], int]]]:
    return lambda: [({}, read())]


def _is_under_replicated(partition: Partition) -> bool:
    return partition.leadership is not None and partition.leadership.is_under_replicated


def _is_under_min_isr(partition: Partition) -> bool:
    leadership = partition.leadership
    return leadership is not None and leadership.is_under_min_isr(partition.log.config.min_insync_replicas)


def _is_at_min_isr(partition: Partition) -> bool:
    leadership = partition.leadership
    if leadership is None:
        return False
    return len(leadership.isr.members) == leadership.effective_min_isr(partition.log.config.min_insync_replicas)


def _producers(replicas: "ReplicaManager") -> int:
    return sum(len(partition.log.producers.entries) for partition in replicas.partitions())
