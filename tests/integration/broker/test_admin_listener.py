"""Clients are told addresses that they can reach, whichever way they came."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.clients.server import OttlaServer
from tests.kafka.port import free_port
from tests.kafka.server import Server
from tests.kafka.wire import Wire

CLUSTER_ID = "QUFBQUFBQUFBQUFBQUFBQQ"


class TwoListeners(OttlaServer):
    """A node with a listener for those inside and one for those outside."""

    def __init__(self, directory: Path) -> None:
        self.outside_port = free_port()
        super().__init__(directory)

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        controller = f"CONTROLLER://127.0.0.1:{self.controller_port}"
        protocols = ",".join(f"{name}:PLAINTEXT" for name in ("INSIDE", "OUTSIDE", "CONTROLLER"))
        return {
            **super()._properties(settings),
            "listeners": f"INSIDE://127.0.0.1:{self.port},OUTSIDE://127.0.0.1:{self.outside_port},{controller}",
            "advertised.listeners": f"INSIDE://127.0.0.1:{self.port},OUTSIDE://kafka.example:19092,{controller}",
            "listener.security.protocol.map": protocols,
            "inter.broker.listener.name": "INSIDE",
        }


class FollowingNode(OttlaServer):
    """A node that listens everywhere and advertises what it is called."""

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        properties = super()._properties(settings)
        del properties["advertised.listeners"]
        return {
            **properties,
            "listeners": f"PLAINTEXT://0.0.0.0:{self.port},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners.follow.dialled": "true",
        }


def started(server: Server) -> Iterator[Server]:
    server.format(CLUSTER_ID)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Server]:
    yield from started(TwoListeners(tmp_path))


@pytest.fixture
def following(tmp_path: Path) -> Iterator[Server]:
    yield from started(FollowingNode(tmp_path))


def brokers(address: tuple[str, int]) -> list[tuple[str, int]]:
    """What Metadata says, which DescribeCluster must say too; twice, for the second answer is a prepared one."""
    with Wire(address) as wire:
        answers = [wire.ask(MetadataRequest(topics=None), 12) for _ in range(2)]
        described = wire.ask(DescribeClusterRequest(), 1)
    assert isinstance(described, DescribeClusterResponse)
    found = [(broker.host, broker.port) for broker in described.brokers]
    for answer in answers:
        assert isinstance(answer, MetadataResponse)
        assert [(broker.host, broker.port) for broker in answer.brokers] == found
        assert all(partition.leader_id == 1 for topic in answer.topics for partition in topic.partitions)
    return found


def test_every_listener_tells_its_own_address(two: TwoListeners) -> None:
    with Wire(two.address) as wire:
        topics = [CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
        wire.ask(CreateTopicsRequest(topics=topics), 7)
    assert brokers(two.address) == [("127.0.0.1", two.port)]
    assert brokers(("127.0.0.1", two.outside_port)) == [("kafka.example", 19092)]


def test_the_address_follows_the_one_that_was_dialled(following: Server) -> None:
    for host in ("127.0.0.1", "127.0.0.2", "127.9.9.9"):
        with socket.create_connection((host, following.port), timeout=5):
            pass
        assert brokers((host, following.port)) == [(host, following.port)]
