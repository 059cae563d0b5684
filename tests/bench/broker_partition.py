"""A broker with many partitions: created, started on again, left alone."""

import time

from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.bench.broker_contender import cpu_seconds, resident_bytes, start_seconds
from tests.clients.patience import until
from tests.kafka.server import Server
from tests.kafka.wire import Wire

_PARTITIONS_OF_A_TOPIC = 500


def measure(server: Server, *, partitions: int, idle_seconds: float) -> dict[str, float]:
    """Seconds and CPU seconds of each step, on a server that runs."""
    topics = [f"many-{number}" for number in range(max(1, partitions // _PARTITIONS_OF_A_TOPIC))]
    size = min(partitions, _PARTITIONS_OF_A_TOPIC)
    start, cpu = time.perf_counter(), cpu_seconds(server.pid)
    for topic in topics:
        _create(server, topic, size)
        _wait_for_leaders(server, topic, size)
    figures = {"create, s": time.perf_counter() - start, "create, CPU s": cpu_seconds(server.pid) - cpu}
    figures["partitions, RSS B"] = float(resident_bytes(server))
    figures["idle, CPU %"] = _idle_percent(server, idle_seconds)
    start = time.perf_counter()
    server.stop()
    figures["stop, s"] = time.perf_counter() - start
    start = time.perf_counter()
    start_seconds(server)
    for topic in topics:
        _wait_for_leaders(server, topic, size)
    figures["restart, s"] = time.perf_counter() - start
    figures["restart, CPU s"] = cpu_seconds(server.pid)
    return figures


def _create(server: Server, topic: str, partitions: int) -> None:
    with Wire(server.address, timeout=120) as wire:
        wanted = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1)
        created = wire.ask(CreateTopicsRequest(topics=[wanted], timeout_ms=100_000), 7)
    assert isinstance(created, CreateTopicsResponse)
    assert created.topics[0].error_code == 0, created.topics[0]


def _wait_for_leaders(server: Server, topic: str, partitions: int) -> None:
    asked = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(partitions)]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=asked)])
    with Wire(server.address, timeout=120) as wire:

        def errors() -> set[int]:
            answer = wire.ask(request, 5)
            assert isinstance(answer, ListOffsetsResponse)
            return {partition.error_code for partition in answer.topics[0].partitions}

        until({0}, errors)


def _idle_percent(server: Server, seconds: float) -> float:
    """CPU of a server that nobody uses, once it has settled."""
    time.sleep(seconds / 2)
    before = cpu_seconds(server.pid)
    time.sleep(seconds)
    return 100 * (cpu_seconds(server.pid) - before) / seconds
