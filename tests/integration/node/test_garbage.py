"""What a node leaves to the garbage collector: nothing, as full collections are hours apart on a node that is in use.

The node counts in its own process (`ottla.cli.node.object_count`) how many objects the collector freed.
"""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from ottla.cli.node.object_count import VARIABLE
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.writer import write_batch
from tests.clients.topic import create_with
from tests.kafka.cluster import Cluster, Node
from tests.kafka.wire import Wire
from tests.soak.sample import GARBAGE, Sampler

_FETCH, _JOIN, _PRODUCE = 12, 3, 9
_POLLS = 1_000
_AT_ONCE = 20
_SETTINGS = {"group_initial_rebalance_delay_ms": "0", "group_min_session_timeout_ms": "100"}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    directory = tmp_path_factory.mktemp("garbage")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(VARIABLE, str(directory))
        cluster = Cluster(directory, 1, **_SETTINGS)
        try:
            cluster.start()
            [node] = cluster.nodes
            create_with(AdminClient({"bootstrap.servers": node.bootstrap}), NewTopic("idle", 2, 1))
            yield node
        finally:
            cluster.kill()


def _poll(max_wait_ms: int) -> FetchRequest:
    places = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1_000) for index in range(2)]
    topics = [FetchTopic(topic="idle", partitions=places)]
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, session_epoch=-1, topics=topics)


def _polls(node: Node) -> None:
    """Waits that run out."""
    wires = [Wire(node.address) for _ in range(_AT_ONCE)]
    for _ in range(_POLLS // _AT_ONCE):
        for wire in wires:
            wire.send(_poll(1), _FETCH)
        for wire in wires:
            wire.take(FetchRequest.api, _FETCH)
    for wire in wires:
        wire.socket.close()


def _abandoned_polls(node: Node) -> None:
    """The client has gone before its wait ran out, or with another poll behind it."""
    for number in range(_POLLS // 5):
        with Wire(node.address) as wire:
            for _ in range(1 + number % 2):
                wire.send(_poll(3_600_000), _FETCH)


def _half_requests(node: Node) -> None:
    for _ in range(100):
        with Wire(node.address) as wire:
            wire.socket.sendall(b"\x00\x00\x01\x00\x00\x01")


def _refused_requests(node: Node) -> None:
    """The node closes."""
    for frame in (
        b"\x00\x00\x00\x07garbage",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x0a\x00\x03\x00\x0c\x00\x00\x00\x01\x00",
    ):
        for _ in range(20):
            with Wire(node.address) as wire:
                wire.socket.sendall(frame)


def _abandoned_joins(node: Node) -> None:
    """Their groups wait for others; the members are given up."""
    protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
    for number in range(50):
        with Wire(node.address) as wire:
            join = JoinGroupRequest(
                group_id=f"joined-{number % 5}",
                session_timeout_ms=100,
                rebalance_timeout_ms=100,
                protocol_type="consumer",
                protocols=[protocol],
            )
            wire.ask(FindCoordinatorRequest(key=join.group_id), 2)
            wire.send(join, _JOIN)


def _produce_requests(node: Node) -> None:
    """For all replicas, some abandoned."""
    batch = bytes(write_batch([(0, 0, b"key", b"value", ())]))
    topics = [TopicProduceData(name="written", partition_data=[PartitionProduceData(index=0, records=batch)])]
    for number in range(100):
        with Wire(node.address) as wire:
            wire.send(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics), _PRODUCE)
            if number % 2:
                wire.take(ProduceRequest.api, _PRODUCE)


def _topics(node: Node) -> None:
    """Made, reconfigured, grown and deleted: each a change of the metadata."""
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    for number in range(5):
        name = f"passing-{number}"
        admin.create_topics([NewTopic(name, 2, 1)])[name].result()
        change = ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[change])
        admin.incremental_alter_configs([resource])[resource].result()
        admin.create_partitions([NewPartitions(name, 4)])[name].result()
        admin.delete_topics([name])[name].result()


def _groups(node: Node) -> None:
    """Of both protocols; they commit and leave."""
    for protocol in ("classic", "consumer"):
        settings = {"bootstrap.servers": node.bootstrap, "group.id": f"of-{protocol}", "group.protocol": protocol}
        client = Consumer(settings | {"auto.offset.reset": "earliest", "enable.auto.commit": False})
        client.subscribe(["written"])
        message = client.poll(30)
        assert message is not None
        assert message.error() is None
        client.commit(message, asynchronous=False)
        client.close()


def _transactions(node: Node) -> None:
    for number in range(3):
        client = Producer({"bootstrap.servers": node.bootstrap, "transactional.id": f"t-{number}"})
        client.init_transactions(30)
        for end in (client.commit_transaction, client.abort_transaction):
            client.begin_transaction()
            client.produce("written", b"value", partition=0)
            client.flush(30)
            end(30)


_WORKS: tuple[Callable[[Node], None], ...] = (
    _polls,
    _abandoned_polls,
    _half_requests,
    _refused_requests,
    _produce_requests,
    _abandoned_joins,
    _topics,
    _groups,
    _transactions,
)


def test_nothing_is_left_to_the_collector(node: Node) -> None:
    sampler = Sampler(node.directory.parent)
    create_with(AdminClient({"bootstrap.servers": node.bootstrap}), NewTopic("written", 1, 1))
    left: dict[str, int] = {}
    # The first time of anything may leave something: code is imported, plans are made.
    for _ in ("to warm up", "to count"):
        for work in _WORKS:
            work(node)
            # What was sent and closed before this has been seen then.
            with Wire(node.address) as wire:
                wire.ask(ApiVersionsRequest(), 0)
            left[work.__name__] = sampler.sample(node).process[GARBAGE]
    assert not {name: count for name, count in left.items() if count}
