"""Broker: a whole server under outside load, beside Apache Kafka 4.3.1 on the same machine in the same run

Each server runs alone, with the same settings and the same load, Kafka's JVM warmed up first. The loads are raw sockets
driven by C (`load/`), librdkafka through confluent-kafka, and many partitions. CPU is the broker's alone. Ratios below
1 are better for what is not a rate. The ceiling is the same load on a program that only answers.
"""

import time
from collections.abc import Iterator

from tests.bench import broker_ceiling, broker_librdkafka, broker_partition, broker_raw
from tests.bench.broker_contender import contender, resident_bytes, start_seconds
from tests.bench.measure import Figure
from tests.clients.server import APACHE, OTTLA
from tests.kafka.peer import require_kafka

_SETTLING_SECONDS = 2.0
# A JVM that has not compiled its hot paths yet is half as fast, and no fair peer.
_WARM_UP_SECONDS_MIN = 8.0
_PARTITIONS = 5_000
# What is printed: a name of the measured figures, what stands in the table, its unit, what it is counted over, target.
_LINES = (
    ("start, s", "start to the first answer", "s", "", "≤ 0.5 s"),
    ("idle, RSS B", "memory, idle", "B", "", "≤ 80 MB"),
    ("raw produce, B/s", "raw produce, 1 MB requests of 100 B records", "B", "/s", "≥ 4×"),
    ("raw produce, CPU s/GB", "  CPU for a GB", "s", "", "≤ 0.25×"),
    ("raw fetch, B/s", "raw fetch of the same", "B", "/s", "≥ 1.5×"),
    ("raw fetch, CPU s/GB", "  CPU for a GB", "s", "", "≤ 0.8×"),
    ("requests 1 × 1, 1/s", "single-record requests, 1 connection", "request", "/s", ""),
    ("requests 10 × 1, 1/s", "  10 connections", "request", "/s", ""),
    ("requests 50 × 1, 1/s", "  50 connections", "request", "/s", "≥ 2×"),
    ("requests 50 × 1, CPU µs", "  CPU of one, 50 connections", "µs", "", ""),
    ("requests 10 × 5, 1/s", "  10 connections × 5 in flight", "request", "/s", ""),
    ("synchronous p50, µs", "synchronous produce, p50", "µs", "", "≤ 0.9×"),
    ("synchronous p99, µs", "  p99", "µs", "", "≤ 0.7×"),
    ("produce to fetch p50, µs", "produce → long-polling fetch, p50", "µs", "", "≤ 0.8×"),
    ("produce to fetch p99, µs", "  p99", "µs", "", "≤ 0.6×"),
    ("librdkafka produce, 1/s", "librdkafka produce, 100 B", "record", "/s", ""),
    ("librdkafka produce, CPU s/GB", "  CPU for a GB", "s", "", ""),
    ("librdkafka consume, 1/s", "librdkafka consume, 100 B", "record", "/s", ""),
    ("librdkafka consume, CPU s/GB", "  CPU for a GB", "s", "", ""),
    ("loaded, RSS B", "memory after the load", "B", "", "≤ 200 MB"),
    ("create, s", "many partitions: create", "s", "", "≤ 1×"),
    ("create, CPU s", "  CPU", "s", "", "≤ 1×"),
    ("partitions, RSS B", "  memory", "B", "", ""),
    ("idle, CPU %", "  idle CPU", "%", "", "≤ 1×"),
    ("stop, s", "  clean stop", "s", "", ""),
    ("restart, s", "  restart", "s", "", "≤ 1×"),
    ("restart, CPU s", "  CPU", "s", "", "≤ 1×"),
)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Everything, first of Apache Kafka, then of ours."""
    require_kafka()
    peer = measure(APACHE, seconds=seconds)
    ours = measure(OTTLA, seconds=seconds)
    ceiling = broker_ceiling.measure(seconds=min(1.0, seconds))
    for name, title, unit, per, target in _LINES:
        peers = {"Kafka": peer[name]} | ({"ceiling": ceiling[name]} if name in ceiling else {})
        yield Figure(title, unit, ours[name], peers, target, per)


def measure(kind: str, *, seconds: float) -> dict[str, float]:
    """All figures of one server by their names."""
    scale = min(1.0, seconds)
    with contender(kind) as server:
        found = {"start, s": start_seconds(server)}
        time.sleep(_SETTLING_SECONDS)
        found["idle, RSS B"] = float(resident_bytes(server))
        warm_up_seconds = max(_WARM_UP_SECONDS_MIN, 24 * scale)
        found |= broker_raw.measure(server, seconds=3 * scale, warm_up_seconds=warm_up_seconds)
        found |= broker_librdkafka.measure(server, records=int(3_000_000 * scale))
        found["loaded, RSS B"] = float(resident_bytes(server))
    with contender(kind) as server:
        server.start()
        found |= broker_partition.measure(server, partitions=int(_PARTITIONS * scale), idle_seconds=10 * scale)
    return found
