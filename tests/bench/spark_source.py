"""Spark, a topic of 10 M records of 100 bytes: read, drained and copied, ours beside Spark's own Kafka connector

Two drivers with two cores each take turns at the same topic of two partitions on the same broker.
"""

from collections.abc import Iterator

import pyarrow as pa

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.arrow.batches import encode
from tests.bench.broker_contender import contender
from tests.bench.measure import Figure
from tests.bench.spark_driver import OURS, Driver, drivers
from tests.clients.server import OTTLA
from tests.kafka.server import Server
from tests.kafka.wire import Wire

_TOPIC, _COPY = "bench", "copy"
_PARTITIONS = 2
_BATCH_RECORDS = 8_000
_PRODUCE_VERSION = 11
_KINDS = (
    ("batch read, added up", "batch", "≥ 2×"),
    ("stream drained", "stream", "≥ 1.5×"),
    ("copy topic → topic", "copy", "≥ 2.5×"),
)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Rows per second, the best of some rounds in turn."""
    yield from measured(*((1_000_000, 3) if seconds < 1 else (10_000_000, 4)))


def measured(rows: int, rounds: int) -> Iterator[Figure]:
    """The same for a topic of so many rows: by the clock, and by the CPU of Spark with its Python processes."""
    with contender(OTTLA) as server:
        server.start()
        _fill(server, rows)
        with drivers(server) as contenders, Admin(bootstrap_servers=server.bootstrap) as admin:
            for name, query, target in _KINDS:
                best = dict.fromkeys(contenders, 0.0)
                frugal = dict.fromkeys(contenders, 0.0)
                for _ in range(rounds):
                    for who, driver in contenders.items():
                        cpu_seconds = driver.cpu_seconds()
                        took = _copy(driver, admin, rows) if query == "copy" else _read(driver, query, rows)
                        best[who] = max(best[who], rows / took)
                        frugal[who] = max(frugal[who], rows / (driver.cpu_seconds() - cpu_seconds))
                yield Figure(name, "rows", best.pop(OURS), best, target)
                yield Figure(f"{name}, by CPU", "rows", frugal.pop(OURS), frugal, per="/CPU s")


def _read(driver: Driver, query: str, rows: int) -> float:
    seconds, found = driver.ask(query, _TOPIC)
    assert found == rows, f"{found} of {rows} rows"
    return seconds


def _copy(driver: Driver, admin: Admin, rows: int) -> float:
    """The target is new every time, and gone afterwards: the disk has room for one."""
    admin.create_topics([NewTopic(_COPY, partitions=_PARTITIONS, replication_factor=1)])
    seconds, _ = driver.ask("copy", _TOPIC, _COPY)
    ends = admin.list_offsets({TopicPartition(_COPY, number): OffsetSpec.LATEST for number in range(_PARTITIONS)})
    found = sum(end.offset for end in ends.values())
    assert found == rows, f"{found} of {rows} rows"
    admin.delete_topics([_COPY])
    return seconds


def _fill(server: Server, rows: int) -> None:
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.create_topics([NewTopic(_TOPIC, partitions=_PARTITIONS, replication_factor=1)])
    values = pa.array([b"%0100d" % number for number in range(_BATCH_RECORDS)], pa.binary())
    records = bytes(encode(pa.record_batch({"value": values}), default_timestamp=1_794_800_000_000))
    with Wire(server.address) as wire:
        for number in range(rows // _BATCH_RECORDS):
            data = PartitionProduceData(index=number % _PARTITIONS, records=records)
            topic = TopicProduceData(name=_TOPIC, partition_data=[data])
            answer = wire.ask(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic]), _PRODUCE_VERSION)
            code = answer.responses[0].partition_responses[0].error_code  # type: ignore[attr-defined]
            assert code == 0, code
