"""Replicas move between the log directories of a broker while it serves."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from tests.clients.server import OttlaServer
from tests.kafka.wire import Wire

CLUSTER_ID = "QUFBQUFBQUFBQUFBQUFBQQ"
PATIENCE_SECONDS = 20


@pytest.fixture
def directories(tmp_path: Path) -> list[str]:
    return [str(tmp_path / name) for name in ("one", "two")]


@pytest.fixture
def wire(tmp_path: Path, directories: list[str]) -> Iterator[Wire]:
    server = OttlaServer(tmp_path / "node", log_dirs=",".join(directories))
    server.format(CLUSTER_ID)
    server.start()
    with Wire(server.address) as made:
        yield made
    server.stop()


def places(wire: Wire) -> dict[tuple[str, int, bool], str]:
    """Where each replica is, and each copy that is being made."""
    answer = wire.ask(DescribeLogDirsRequest(topics=None), 4)
    assert isinstance(answer, DescribeLogDirsResponse)
    assert all(found.error_code == 0 and found.total_bytes >= found.usable_bytes > 0 for found in answer.results)
    return {
        (topic.name, partition.partition_index, partition.is_future_key): found.log_dir
        for found in answer.results
        for topic in found.topics
        for partition in topic.partitions
    }


def move(wire: Wire, path: str, *partitions: int) -> None:
    """Begins moves; a replica that is just being created is not there to be moved yet."""
    topics = [AlterReplicaLogDirTopic(name="t", partitions=list(partitions))]
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=topics)])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = wire.ask(request, 2)
        assert isinstance(answer, AlterReplicaLogDirsResponse)
        codes = {partition.error_code for topic in answer.results for partition in topic.partitions}
        if codes == {ErrorCode.NONE}:
            return
        assert codes <= {ErrorCode.NONE, ErrorCode.REPLICA_NOT_AVAILABLE}, answer
        assert time.monotonic() < deadline, answer
        time.sleep(0.02)


def wait_for(wire: Wire, wanted: dict[tuple[str, int, bool], str]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := places(wire)) != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def test_replicas_move(wire: Wire, directories: list[str]) -> None:
    topics = [CreatableTopic(name="t", num_partitions=4, replication_factor=1)]
    wire.ask(CreateTopicsRequest(topics=topics), 7)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(before := places(wire)) < 4:
        assert time.monotonic() < deadline, before
        time.sleep(0.02)
    assert set(before.values()) == set(directories), "new replicas are spread"
    move(wire, directories[0], 0, 1, 2, 3)
    wait_for(wire, {("t", index, False): directories[0] for index in range(4)})
    move(wire, directories[1], 2)
    wait_for(wire, {("t", index, False): directories[int(index == 2)] for index in range(4)})
