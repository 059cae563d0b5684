"""Several nodes: brokers apart from controllers, controllers that succeed each other, nodes that come and go."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ottla.broker import node_quorum
from ottla.broker.config import ServerConfig
from ottla.broker.node import Node
from ottla.metadata.store.format import QuorumKind, Standalone
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest
from ottla.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.raft.endpoint import Address, Endpoints
from tests.integration.node.nodes import (
    CLUSTER_ID,
    CONTROLLER,
    PLAINTEXT,
    ask,
    format_for,
    free_ports,
    properties,
    running,
    until,
)


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last controllers of a cluster wait in vain for a successor: need not be long here."""
    monkeypatch.setattr(node_quorum, "RAFT_SHUTDOWN_TIMEOUT_MS", 200)


METADATA = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData(partition_index=0)])


class Cluster:
    """Nodes of one cluster, each with a directory and a controller port of its own."""

    def __init__(self, directory: Path, roles: dict[int, str]) -> None:
        ports = dict(zip(roles, free_ports(len(roles)), strict=True))
        voters = ",".join(
            f"{node_id}@127.0.0.1:{ports[node_id]}" for node_id in roles if "controller" in roles[node_id]
        )
        self.configs: dict[int, ServerConfig] = {}
        for node_id, role in roles.items():
            listeners = [f"{CONTROLLER}://127.0.0.1:{ports[node_id]}"] if "controller" in role else []
            listeners += [f"{PLAINTEXT}://127.0.0.1:0"] if "broker" in role else []
            given = properties(
                directory / str(node_id),
                node_id=node_id,
                roles=role,
                listeners=",".join(listeners),
                controller_quorum_voters=voters,
                broker_heartbeat_interval_ms="200",
                broker_session_timeout_ms="2000",
            )
            self.configs[node_id] = ServerConfig(given)
            format_for(self.configs[node_id])
        self.nodes: dict[int, Node] = {}

    async def __aenter__(self) -> "Cluster":
        await asyncio.gather(*(self.start(node_id) for node_id in self.configs))
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.gather(*(node.stop() for node in self.nodes.values()))

    async def start(self, node_id: int) -> Node:
        node = Node(self.configs[node_id])
        async with asyncio.timeout(30):
            await node.start()
        self.nodes[node_id] = node
        return node

    async def stop(self, node_id: int) -> None:
        await self.nodes.pop(node_id).stop()

    def address(self, node_id: int, listener: str = PLAINTEXT) -> tuple[str, int]:
        return self.nodes[node_id].listener_address(listener)


async def create(address: tuple[str, int], name: str, *, partitions: int = 3, replicas: int = 1) -> int:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
    answer = await ask(address, CreateTopicsRequest(topics=[topic], timeout_ms=20_000))
    code: int = answer.topics[0].error_code
    return code


async def described(address: tuple[str, int], name: str) -> Any:
    """A topic as a broker tells clients of it."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    return (await ask(address, request)).topics[0]


async def quorum(address: tuple[str, int]) -> Any:
    """The quorum as its leader describes it, whoever is asked."""
    answer = await ask(address, DescribeQuorumRequest(topics=[METADATA]))
    return answer.topics[0].partitions[0]


def test_a_broker_forwards_to_the_controller_on_another_node(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Cluster(tmp_path, {1: "controller", 2: "broker"}) as cluster:
            assert await create(cluster.address(2), "orders") == 0
            assert await create(cluster.address(2), "orders") == 36
            await until_led(cluster, 2, "orders", {2})
            assert (await quorum(cluster.address(2))).leader_id == 1
            observers = (await quorum(cluster.address(2))).observers
            assert [observer.replica_id for observer in observers] == [2]

    asyncio.run(scenario())


async def until_led(cluster: Cluster, node_id: int, name: str, leaders: set[int]) -> None:
    async with asyncio.timeout(30):
        while True:
            topic = await described(cluster.address(node_id), name)
            found = {partition.leader_id for partition in topic.partitions}
            if not topic.error_code and found and found <= leaders:
                return
            await asyncio.sleep(0.05)


def test_three_nodes_elect_register_replicate_and_survive_a_stop(tmp_path: Path) -> None:
    roles = dict.fromkeys((1, 2, 3), "broker,controller")

    async def scenario() -> None:
        async with Cluster(tmp_path, roles) as cluster:
            assert await create(cluster.address(1), "orders", replicas=3) == 0
            await until_led(cluster, 2, "orders", {1, 2, 3})
            leader = (await quorum(cluster.address(3))).leader_id
            await cluster.stop(leader)
            [first, second] = cluster.nodes
            # What the controller that went had led is led by the others, and they decide.
            await until_led(cluster, first, "orders", {first, second})
            assert await create(cluster.address(second), "more") == 0
            assert (await quorum(cluster.address(first))).leader_id in (first, second)
            await cluster.start(leader)
            assert await create(cluster.address(leader), "most", replicas=3) == 0
            await until_led(cluster, leader, "most", {1, 2, 3})

    asyncio.run(scenario())


def test_clients_of_controllers_are_told_of_controllers(tmp_path: Path) -> None:
    roles = {1: "controller", 2: "controller", 3: "controller"}

    async def scenario() -> None:
        async with Cluster(tmp_path, roles) as cluster:
            async with asyncio.timeout(30):
                while True:
                    answer = await ask(cluster.address(2, CONTROLLER), DescribeClusterRequest(endpoint_type=2))
                    if answer.controller_id > 0 and len(answer.brokers) == 3:
                        break
                    await asyncio.sleep(0.05)
            assert answer.cluster_id == CLUSTER_ID
            found = {(node.broker_id, node.port) for node in answer.brokers}
            assert found == {(node_id, cluster.address(node_id, CONTROLLER)[1]) for node_id in roles}
            wrong = await ask(cluster.address(2, CONTROLLER), DescribeClusterRequest(endpoint_type=1))
            assert wrong.error_code == 114

    asyncio.run(scenario())


def test_a_controller_joins_a_dynamic_quorum(tmp_path: Path) -> None:
    ports = free_ports(2)
    servers = f"127.0.0.1:{ports[0]}"

    def config(node_id: int) -> ServerConfig:
        given = properties(
            tmp_path / str(node_id),
            node_id=node_id,
            roles="controller",
            listeners=f"{CONTROLLER}://127.0.0.1:{ports[node_id - 1]}",
            controller_quorum_bootstrap_servers=servers,
        )
        del given["controller.quorum.voters"]
        return ServerConfig(given)

    first, second = config(1), config(2)
    format_for(first, Standalone(Endpoints({CONTROLLER: Address("127.0.0.1", ports[0])})))
    format_for(second, QuorumKind.JOINING)

    async def scenario() -> None:
        async with running(first) as one, running(second) as two:
            address = one.listener_address(CONTROLLER)
            directory = two._storage.store.properties.directory_id  # type: ignore[union-attr]
            await until(lambda: not two._quorum.member.metadata.image.is_empty)  # type: ignore[union-attr]
            request = AddRaftVoterRequest(
                cluster_id=CLUSTER_ID,
                timeout_ms=10_000,
                voter_id=2,
                voter_directory_id=directory,
                listeners=[Listener(name=CONTROLLER, host="127.0.0.1", port=ports[1])],
            )
            async with asyncio.timeout(30):
                while (answer := await ask(address, request)).error_code:
                    # It has to be caught up first.
                    assert answer.error_code == 7
                    await asyncio.sleep(0.05)
            described = await quorum(address)
            assert sorted(voter.replica_id for voter in described.current_voters) == [1, 2]

    asyncio.run(scenario())
