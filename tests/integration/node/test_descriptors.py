"""A node with more partitions than it may have files open serves them all, and none of its disks is lost."""

import json
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition
from tests.clients.server import CLUSTER_ID, OttlaServer

ANSWER_SECONDS = 1_800


class ServerOfFewFiles(OttlaServer):
    """A node that the system allows few open files."""

    start_seconds = 1_800

    def __init__(self, directory: Path, files_max: int, **settings: str) -> None:
        super().__init__(directory, **settings)
        self._files_max = files_max

    def _serve_command(self) -> Sequence[str]:
        return ["sh", "-c", f'ulimit -n {self._files_max} && exec "$@"', "sh", *super()._serve_command()]


def make_topics(server: ServerOfFewFiles, partitions: int, per_topic: int) -> list[TopicPartition]:
    # Every batch gets an index entry, so that each partition wants its maps, too.
    topics = [
        NewTopic(f"many-{number}", per_topic, 1, configs={"index.interval.bytes": "0"})
        for number in range(partitions // per_topic)
    ]
    with Admin(bootstrap_servers=server.bootstrap, request_timeout_ms=ANSWER_SECONDS * 1000) as admin:
        for topic in topics:
            admin.create_topics([topic])
    return [TopicPartition(topic.name, index) for topic in topics for index in range(per_topic)]


def write(server: ServerOfFewFiles, partitions: Sequence[TopicPartition], text: str) -> None:
    settings = {
        "bootstrap.servers": server.bootstrap,
        "delivery.timeout.ms": ANSWER_SECONDS * 1000,
        "request.timeout.ms": 60_000,
        "max.block.ms": ANSWER_SECONDS * 1000,
    }
    with Producer(settings, linger_ms=20) as producer:
        sent = [
            producer.send(name.topic, f"{text} {json.dumps(name)}".encode(), partition=name.partition)
            for name in partitions
        ]
        for one in sent:
            one.result(ANSWER_SECONDS)


def read(server: ServerOfFewFiles, partitions: Sequence[TopicPartition], count: int) -> set[str]:
    found: set[str] = set()
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign(list(partitions))
        for record in consumer:
            assert record.value is not None
            found.add(record.value.decode())
            if len(found) == count:
                return found
    return found


def serve_all(server: ServerOfFewFiles, count: int, per_topic: int) -> list[TopicPartition]:
    """Every partition is written to, twice, and read; and all is there after a crash."""
    partitions = make_topics(server, count, per_topic)
    write(server, partitions, "first")
    write(server, partitions, "second")
    for start in range(0, count, per_topic):
        some = partitions[start : start + per_topic]
        assert read(server, some, 2 * per_topic) == expected(some)
    server.kill()
    server.start()
    assert read(server, some, 2 * per_topic) == expected(some)
    assert not complaints(server)
    return partitions


def expected(partitions: Sequence[TopicPartition]) -> set[str]:
    return {f"{text} {json.dumps(name)}" for text in ("first", "second") for name in partitions}


def complaints(server: ServerOfFewFiles) -> list[str]:
    return [line for line in server.lines() if "offline" in line or "FATAL" in line or "Traceback" in line]


def test_more_partitions_than_files_and_a_crowd_of_clients(tmp_path: Path) -> None:
    server = ServerOfFewFiles(tmp_path, 200)
    server.format(CLUSTER_ID)
    server.start()
    crowd: list[socket.socket] = []
    try:
        partitions = serve_all(server, 300, 100)
        assert sum("files of segments are in use" in line for line in server.lines()) == 2, "once for each start"
        with Producer({"bootstrap.servers": server.bootstrap}) as producer:
            producer.send(partitions[0].topic, b"connected", partition=0).result(ANSWER_SECONDS)
            crowd = [socket.create_connection(server.address) for _ in range(300)]
            sent = [producer.send(name.topic, b"in a crowd", partition=name.partition) for name in partitions]
            assert all(one.result(ANSWER_SECONDS) for one in sent)
        assert not complaints(server)
        assert [line for line in server.lines() if "can accept no clients for now" in line]
    finally:
        for one in crowd:
            one.close()
        server.kill()


@pytest.mark.long
def test_fifty_thousand_partitions_with_twenty_thousand_files(tmp_path: Path) -> None:
    server = ServerOfFewFiles(tmp_path, 20_000)
    server.format(CLUSTER_ID)
    server.start()
    try:
        serve_all(server, 50_000, 1_000)
        assert server.stop() == 0
    finally:
        server.kill()
