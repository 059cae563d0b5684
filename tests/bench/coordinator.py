"""Coordinators: commits, groups, transactions, beside Apache Kafka 4.3.1 on the same machine in the same run

Commits come from raw sockets, 50 groups with one in flight each. A group settles when all members agree on one
generation. Transactions are librdkafka's. Ratios below 1 are better for what is not a rate.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from statistics import median

from confluent_kafka import Producer

from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from tests.bench import coordinator_offset
from tests.bench.broker_contender import SETTINGS, contender
from tests.bench.broker_frame import make_target
from tests.bench.coordinator_member import ClassicMember, ConsumerMember, settle_seconds
from tests.bench.measure import Figure
from tests.clients.server import APACHE, OTTLA
from tests.kafka.peer import require_kafka
from tests.kafka.server import Server
from tests.kafka.wire import Wire

_SETTINGS = {
    **SETTINGS,
    "offsets_topic_num_partitions": "50",
    "group_initial_rebalance_delay_ms": "0",
    "group_max_size": "200",
}
_MEMBERS, _PARTITIONS = 100, 1_000
_SETTLE_WARM_UPS, _SETTLE_ROUNDS = 6, 11
_RECORDS_OF_TRANSACTION = 100
_LINES = (
    ("commits, 1/s", "offset commits, 50 groups", "commit", "/s", "≥ 1.5×"),
    ("commits, CPU µs", "  CPU of one", "µs", "", ""),
    ("classic, s", "100 members on 1,000 partitions settle", "s", "", "≤ 1×"),
    ("consumer, s", "  the same, KIP-848", "s", "", "≤ 1×"),
    ("transactions, 1/s", "transactions of 100 records, librdkafka", "txn", "/s", "≥ 1.5×"),
    ("idle groups, B", "memory of an idle group", "B", "", "≤ 5,000"),
    ("idle groups, CPU %", "CPU of 10,000 idle groups", "%", "", ""),
    ("loading, 1/s", "loading of offsets", "record", "/s", "≥ 100 k"),
)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Everything, first of Apache Kafka, then of ours."""
    require_kafka()
    peer = measure(APACHE, seconds=seconds)
    ours = measure(OTTLA, seconds=seconds)
    for name, title, unit, per, target in _LINES:
        yield Figure(title, unit, ours[name], {"Kafka": peer[name]}, target, per)


def measure(kind: str, *, seconds: float) -> dict[str, float]:
    """All figures of one server by their names."""
    scale = min(1.0, seconds)
    with contender(kind, _SETTINGS) as server:
        server.start()
        topic = make_target(server, "committed").name
        found = coordinator_offset.commits(server, topic, seconds=4 * scale, warm_up_seconds=max(6.0, 16 * scale))
        found |= _groups(server, int(_MEMBERS * scale), int(_PARTITIONS * scale))
        found["transactions, 1/s"] = _transactions(server, topic, seconds=5 * scale)
        found |= coordinator_offset.idle(server, topic, groups=int(10_000 * scale), seconds=5 * scale)
    # On its own: what was committed above, millions by now, would be loaded at the same time and not counted.
    with contender(kind, _SETTINGS) as server:
        server.start()
        many = _make_topic(server, "many", _PARTITIONS)
        found |= coordinator_offset.loading(server, many.name, partitions=_PARTITIONS, rounds=int(1_000 * scale))
    return found


def _groups(server: Server, members: int, partitions: int) -> dict[str, float]:
    topic = _make_topic(server, "settled", partitions)
    found = {}
    for name, kind in (("classic", ClassicMember), ("consumer", ConsumerMember)):
        rounds = []
        for attempt in range(_SETTLE_WARM_UPS + _SETTLE_ROUNDS):
            group = f"{name}-{attempt}"
            make = partial(_member, kind, group, topic, partitions)
            rounds.append(settle_seconds(server.port, make, members))
        # A member that comes late costs the others a pause, and one whose connection is refused a second.
        found[f"{name}, s"] = median(rounds[_SETTLE_WARM_UPS:])
    return found


def _member(
    kind: type[ClassicMember] | type[ConsumerMember], group: str, topic: CreatableTopic, partitions: int, number: int
) -> ClassicMember | ConsumerMember:
    return kind(group, topic.name, topic.topic_id, partitions)  # type: ignore[attr-defined]


def _make_topic(server: Server, name: str, partitions: int) -> CreatableTopic:
    with Wire(server.address) as wire:
        wanted = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
        created = wire.ask(CreateTopicsRequest(topics=[wanted], timeout_ms=60_000), 7)
        assert isinstance(created, CreateTopicsResponse)
        return created.topics[0]  # type: ignore[return-value]


def _transactions(server: Server, topic: str, *, seconds: float) -> float:
    command = [sys.executable, "-m", "tests.bench.coordinator", server.bootstrap, topic, str(seconds)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _run_transactions(bootstrap: str, topic: str, seconds: float) -> float:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "bench", "linger.ms": 0})
    producer.init_transactions(30)
    done, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < 2 * seconds:
        producer.begin_transaction()
        for _ in range(_RECORDS_OF_TRANSACTION):
            producer.produce(topic, bytes(100))
        producer.commit_transaction(30)
        # The first half warms up.
        done += elapsed > seconds
    return done / (time.perf_counter() - start - seconds)


if __name__ == "__main__":
    print(_run_transactions(sys.argv[1], sys.argv[2], float(sys.argv[3])))
