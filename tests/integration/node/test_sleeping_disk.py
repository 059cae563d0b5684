"""A disk that does not answer keeps waiting those who need it, and nobody else."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from ottla.protocol.messages.metadata import MetadataRequest
from tests.clients.server import CLUSTER_ID, OttlaServer
from tests.harness.troubled_disk import TroubledDisk
from tests.integration.node.writing import Writer, until
from tests.kafka.port import free_port
from tests.kafka.server import Server
from tests.kafka.wire import Wire

RECORDS = 200
TURNS = 50


class ServerOnSleepingDisk(OttlaServer):
    """A node whose data lies on a disk that can be put to sleep."""

    def __init__(self, directory: Path, **settings: str) -> None:
        super().__init__(directory, **settings)
        self.disk = TroubledDisk(self.log_directory, directory)

    def _serve_command(self) -> list[str]:
        return self.disk.command([*super()._serve_command()])


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


# Writes

STALL_SECONDS = 12
"""Longer than the time after which a broker is fenced, and than the quorum's patience."""


def settings_of_two_disks(directory: Path) -> dict[str, str]:
    """The sleeping one, and one for the metadata and some of the data."""
    well = directory / "well"
    return {"log_dirs": f"{directory / 'logs'},{well}", "metadata_log_dir": str(well)}


@pytest.mark.parametrize("mode", ["auto", pytest.param("always", marks=pytest.mark.long)])
def test_a_disk_that_takes_no_writes_keeps_only_those_waiting_who_need_it(tmp_path: Path, mode: str) -> None:
    """With `auto` the disk is slow for a moment before it hangs; with `always` it hangs in the midst of everything."""
    server = ServerOnSleepingDisk(tmp_path, **settings_of_two_disks(tmp_path), log_append_thread=mode)
    server.format(CLUSTER_ID)
    server.start()
    try:
        with Admin(bootstrap_servers=server.bootstrap) as admin:
            admin.create_topics([NewTopic("both", 2, 1)])
        on_sleeping = 0 if (server.log_directory / "both-0").exists() else 1
        stuck = Writer(server.bootstrap, "both", on_sleeping)
        served = Writer(server.bootstrap, "both", 1 - on_sleeping)
        until(lambda: stuck.acknowledged > 5)
        if mode == "auto":
            with server.disk.writes_hang():
                time.sleep(2)
            until(lambda: any("the disk is slow" in line for line in server.lines()))
        with server.disk.writes_hang():
            time.sleep(0.5)
            before, stopped_at = served.acknowledged, stuck.acknowledged
            until(lambda: served.acknowledged >= before + 200)
            assert stuck.acknowledged == stopped_at
            until(lambda: stuck.sent == stopped_at + 1)
        for writer in (stuck, served):
            writer.stop()
            writer.check(server.bootstrap)
    finally:
        server.kill()


class Voter(ServerOnSleepingDisk):
    """One of three nodes that are controllers and brokers."""

    def __init__(self, directory: Path, node_id: int, ports: Sequence[int]) -> None:
        self._node_id, self._ports = node_id, ports
        # Many processes share few cores here: silence need not mean death, unless it lasts as long as the disk sleeps.
        patience = {"controller_quorum_fetch_timeout_ms": "8000", "controller_quorum_election_timeout_ms": "8000"}
        super().__init__(directory, **settings_of_two_disks(directory), **patience, log_append_thread="always")

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        self.controller_port = self._ports[self._node_id - 1]
        given = super()._properties(settings)
        del given["controller.quorum.bootstrap.servers"]
        voters = ",".join(f"{number}@127.0.0.1:{port}" for number, port in enumerate(self._ports, 1))
        return {**given, "node.id": str(self._node_id), "controller.quorum.voters": voters}

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        return [*super()._format_command(cluster_id)[:4], "-t", cluster_id, "-c", str(self.config)]


def quorum(server: Server) -> tuple[int, int]:
    """Who leads it, in which epoch."""
    data = RequestPartitionData(partition_index=0)
    topic = RequestTopicData(topic_name="__cluster_metadata", partitions=[data])
    with Wire(server.address, timeout=60) as wire:
        found = wire.ask(DescribeQuorumRequest(topics=[topic]), 0).topics[0].partitions[0]
        return found.leader_id, found.leader_epoch


@pytest.mark.long
def test_a_disk_that_takes_no_writes_costs_no_election_and_fences_nobody(tmp_path: Path) -> None:
    ports = [free_port() for _ in range(3)]
    nodes = {number: Voter(tmp_path / f"node-{number}", number, ports) for number in (1, 2, 3)}
    try:
        for node in nodes.values():
            node.format(CLUSTER_ID)
        starts = [threading.Thread(target=node.start) for node in nodes.values()]
        for start in starts:
            start.start()
        for start in starts:
            start.join(120)
        until(lambda: len(brokers_of(nodes[1])) == 3)
        leader_id, epoch = quorum(nodes[1])
        with Admin(bootstrap_servers=nodes[1].bootstrap) as admin:
            admin.create_topics([NewTopic("orders", 6, 3)])
        writers = [Writer(nodes[1].bootstrap, "orders", index, acks="1") for index in range(6)]
        until(lambda: all(writer.acknowledged > 5 for writer in writers))
        with nodes[leader_id].disk.writes_hang():
            begun = time.monotonic()
            while time.monotonic() - begun < STALL_SECONDS:
                assert brokers_of(nodes[leader_id]) == {1, 2, 3}, "it answers, and nobody is fenced"
                assert quorum(nodes[leader_id]) == (leader_id, epoch)
                time.sleep(0.2)
            assert len([writer for writer in writers if writer.sent > writer.acknowledged]) >= 2
        for writer in writers:
            writer.stop()
            writer.check(nodes[1].bootstrap)
        assert quorum(nodes[1]) == (leader_id, epoch)
    finally:
        for node in nodes.values():
            node.kill()


def brokers_of(server: Server) -> set[int]:
    """The brokers that are alive, as one of them knows."""
    with Wire(server.address, timeout=60) as wire:
        return {broker.node_id for broker in wire.ask(MetadataRequest(topics=[]), 9).brokers}
