"""A disk that does not answer keeps waiting those who need it, and nobody else."""

import threading
from pathlib import Path

import pytest

from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition
from tests.clients.server import CLUSTER_ID, OttlaServer
from tests.harness.sleeping_disk import SleepingDisk

RECORDS = 200
TURNS = 50


class ServerOnSleepingDisk(OttlaServer):
    """A node whose data lies on a disk that can be put to sleep."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.disk = SleepingDisk(self.log_directory, directory)

    def _serve_command(self) -> list[str]:
        variables = [f"{name}={value}" for name, value in self.disk.environment.items()]
        return ["env", *variables, *super()._serve_command()]


@pytest.fixture
def server(tmp_path: Path) -> ServerOnSleepingDisk:
    return ServerOnSleepingDisk(tmp_path)


def fill(server: ServerOnSleepingDisk) -> None:
    """A topic of many segments, and one for those who are not interested in it."""
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.create_topics([NewTopic("old", 1, 1, configs={"segment.bytes": "1048576"}), NewTopic("other", 1, 1)])
    with Producer({"bootstrap.servers": server.bootstrap}) as producer:
        for number in range(RECORDS):
            producer.send("old", b"%d " % number + bytes(50_000)).result(60)


def read_old(server: ServerOnSleepingDisk, found: list[int], begun: threading.Event) -> None:
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition("old", 0)])
        begun.set()
        for record in consumer:
            assert record.value is not None
            found.append(int(record.value.split(b" ")[0]))
            if len(found) == RECORDS:
                return


def ask_for_a_time(server: ServerOnSleepingDisk, found: list[int | None]) -> None:
    partition = TopicPartition("old", 0)
    with Consumer(bootstrap_servers=server.bootstrap) as consumer:
        answer = consumer.offsets_for_times({partition: 0}, 120)[partition]
        found.append(None if answer is None else answer.offset)


def take_turns(server: ServerOnSleepingDisk) -> None:
    """Each record is read back before the next is written."""
    with (
        Producer({"bootstrap.servers": server.bootstrap}) as producer,
        Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest") as consumer,
    ):
        consumer.assign([TopicPartition("other", 0)])
        records = iter(consumer)
        for number in range(TURNS):
            producer.send("other", b"%d" % number).result(60)
            assert next(records).value == b"%d" % number


def test_a_reader_of_old_records_keeps_nobody_waiting(server: ServerOnSleepingDisk) -> None:
    server.format(CLUSTER_ID)
    server.start()
    try:
        fill(server)
        server.stop()
        server.start()
        found: list[int] = []
        begun = threading.Event()
        reader = threading.Thread(target=read_old, args=(server, found, begun))
        answers: list[int | None] = []
        asker = threading.Thread(target=ask_for_a_time, args=(server, answers))
        with server.disk.reads_hang():
            reader.start()
            asker.start()
            begun.wait(60)
            take_turns(server)
            assert (found, answers) == ([], []), "the disk sleeps"
        reader.join(120)
        asker.join(120)
        assert (found, answers) == (list(range(RECORDS)), [0])
    finally:
        server.kill()
