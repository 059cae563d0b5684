"""Several nodes: brokers apart from controllers, controllers that succeed each other, nodes that come and go."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node import node_quorum
from ottla.broker.node.node import Node
from ottla.metadata.store.format import QuorumKind, Standalone
from ottla.protocol.errors import NetworkError
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest
from ottla.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.raft.endpoint import Address, Endpoints
from ottla.replication.request.replica_selector import RACK_AWARE
from tests.integration.node.nodes import (
    CLUSTER_ID,
    CONTROLLER,
    PATIENCE_S,
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


BATCH = bytes(write_batch([(0, 1_700_000_000_000, None, b"v", ())], BatchOptions()))
METADATA = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData(partition_index=0)])


class Cluster:
    """Nodes of one cluster, each with a directory and a controller port of its own."""

    def __init__(self, directory: Path, roles: dict[int, str], **settings: str) -> None:
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
                broker_rack=f"rack-{node_id}",
                **settings,
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


def test_a_consumer_reads_from_the_replica_in_its_rack(tmp_path: Path) -> None:
    roles = {1: "broker,controller", 2: "broker"}

    async def scenario() -> None:
        async with Cluster(tmp_path, roles, replica_selector_class=RACK_AWARE) as cluster:
            placed = CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])
            topic = CreatableTopic(name="orders", num_partitions=-1, replication_factor=-1, assignments=[placed])
            await until_asked(cluster, 1, CreateTopicsRequest(topics=[topic], timeout_ms=20_000))
            await until_led(cluster, 1, "orders", {1})
            assert await produced(cluster, 1) == 0
            assert (await fetched(cluster, 1, "rack-1")).preferred_read_replica == -1
            async with asyncio.timeout(30):
                while (told := await fetched(cluster, 1, "rack-2")).preferred_read_replica != 2:
                    await asyncio.sleep(0.05)
                assert not told.records
                # The follower learns how far everybody is with its next fetch.
                while not (near := await fetched(cluster, 2, "rack-2")).records:
                    await asyncio.sleep(0.05)
            assert [record[3] for record in read_tuples(bytes(near.records))] == [b"v"]

    asyncio.run(scenario())


async def until_asked(cluster: Cluster, node_id: int, request: CreateTopicsRequest) -> None:
    """Both brokers have to be registered before replicas can be placed on them."""
    async with asyncio.timeout(30):
        while (await ask(cluster.address(node_id), request)).topics[0].error_code:
            await asyncio.sleep(0.05)


async def fetched(cluster: Cluster, node_id: int, rack: str) -> Any:
    """What a consumer in a rack gets of the first partition."""
    wanted = [FetchTopic(topic="orders", partitions=[FetchPartition(partition_max_bytes=1 << 20)])]
    request = FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, topics=wanted, rack_id=rack)
    answer = await ask(cluster.address(node_id), request, version=12)
    return answer.responses[0].partitions[0]


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


def test_a_controller_that_waits_for_its_quorum_knows_of_no_other(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, dict.fromkeys((1, 2, 3), "controller"))

    async def scenario() -> None:
        [listener] = cluster.configs[1].controller_listeners
        node = Node(cluster.configs[1])
        starting = asyncio.create_task(node.start())
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    answer = await ask((listener.host, listener.port), DescribeClusterRequest(endpoint_type=2))
                    break
                except NetworkError:
                    await asyncio.sleep(0.02)
        assert (answer.error_code, answer.controller_id, answer.brokers) == (0, -1, [])
        starting.cancel()
        await node.stop()

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


async def until_in_sync(address: tuple[str, int], name: str, isr: set[int], *, offline: set[int]) -> Any:
    """Waits until of a topic's only partition these replicas are in sync, and those offline; the partition."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            [partition] = (await described(address, name)).partitions
            if (set(partition.isr_nodes), set(partition.offline_replicas)) == (isr, offline):
                return partition
            await asyncio.sleep(0.05)


async def create_on(cluster: Cluster, *brokers: int) -> None:
    """A topic of one partition with a record, all replicas of which are in sync; the first leads."""
    placed = CreatableReplicaAssignment(partition_index=0, broker_ids=list(brokers))
    topic = CreatableTopic(name="orders", num_partitions=-1, replication_factor=-1, assignments=[placed])
    await until_asked(cluster, brokers[0], CreateTopicsRequest(topics=[topic], timeout_ms=20_000))
    await until_in_sync(cluster.address(brokers[0]), "orders", set(brokers), offline=set())
    await until_led(cluster, brokers[0], "orders", {brokers[0]})
    assert await produced(cluster, brokers[0]) == 0


async def produced(cluster: Cluster, node_id: int) -> int:
    """What a broker says to a record that all replicas in sync are to have."""
    data = TopicProduceData(name="orders", partition_data=[PartitionProduceData(index=0, records=BATCH)])
    request = ProduceRequest(acks=-1, timeout_ms=20_000, topic_data=[data])
    answer = await ask(cluster.address(node_id), request, version=12)
    code: int = answer.responses[0].partition_responses[0].error_code
    return code


def damage(directory: Path) -> None:
    """A replica loses what it had confirmed: no start may take the log for a shorter one."""
    with (directory / "orders-0" / f"{0:020d}.log").open("wb"):
        pass


async def damage_the_last_leader(cluster: Cluster, directory: Path) -> None:
    """All brokers stop, the third as the last; it leads when they are back, and cannot open its log."""
    await create_on(cluster, 3, 2, 1)
    for node_id in (1, 2, 3):
        await cluster.stop(node_id)
    damage(directory / "3")
    for node_id in (3, 1, 2):
        await cluster.start(node_id)


FOUR_NODES = {9: "controller", 1: "broker", 2: "broker", 3: "broker"}


def test_the_cluster_knows_of_a_replica_whose_log_is_damaged(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Cluster(tmp_path, FOUR_NODES) as cluster:
            await create_on(cluster, 3, 2, 1)
            await cluster.stop(3)
            damage(tmp_path / "3")
            await cluster.start(3)
            partition = await until_in_sync(cluster.address(3), "orders", {1, 2}, offline={3})
            assert partition.leader_id in (1, 2)

    asyncio.run(scenario())


def test_a_leader_whose_log_is_damaged_hands_over_to_a_replica_that_has_everything(tmp_path: Path) -> None:
    """Nothing was acknowledged without the second last, as `min.insync.replicas` is 2."""

    async def scenario() -> None:
        async with Cluster(tmp_path, FOUR_NODES, min_insync_replicas="2") as cluster:
            await damage_the_last_leader(cluster, tmp_path)
            partition = await until_in_sync(cluster.address(3), "orders", {1, 2}, offline={3})
            assert partition.leader_id == 2
            assert (await fetched(cluster, 2, "rack-2")).high_watermark == 1
            assert await produced(cluster, 2) == 0

    asyncio.run(scenario())


def test_a_damaged_leader_without_a_replica_in_sync_is_replaced_when_an_operator_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Cluster(tmp_path, FOUR_NODES, min_insync_replicas="1") as cluster:
            await damage_the_last_leader(cluster, tmp_path)
            partition = await until_in_sync(cluster.address(3), "orders", set(), offline={3})
            assert partition.leader_id == -1
            election = TopicPartitions(topic="orders", partitions=[0])
            request = ElectLeadersRequest(election_type=1, topic_partitions=[election], timeout_ms=20_000)
            answer = await ask(cluster.address(1), request)
            assert answer.replica_election_results[0].partition_result[0].error_code == 0
            partition = await until_in_sync(cluster.address(3), "orders", {1, 2}, offline={3})
            assert partition.leader_id in (1, 2)

    asyncio.run(scenario())
