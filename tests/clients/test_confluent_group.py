"""confluent-kafka (librdkafka) in classic groups: sharing, taking over, committing, and what outlives a kill."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from tests.clients.client import confluent
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client(confluent.NAME)
PATIENCE_SECONDS = 30.0
NOT_YET = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
)


@pytest.fixture
def quick(lone_server: Callable[..., Server]) -> Server:
    """A server where a group's first generation begins without delay."""
    return lone_server(group_initial_rebalance_delay_ms="0", offsets_topic_num_partitions="5")


def fill(server: Server, topic: str, partitions: int = 1, count: int = 100) -> None:
    """A topic with `count` records in partition 0."""
    create(server, topic, partitions)
    # Not of long ago: retention would take them.
    now_ms = int(time.time() * 1000)
    confluent.write(server.bootstrap, topic, [Record(None, b"%d" % number, (), now_ms) for number in range(count)])


def member(server: Server, group: str, topic: str, **settings: object) -> Consumer:
    """A consumer that joins a group."""
    client = confluent.consumer(server.bootstrap, group_id=group, **settings)
    client.subscribe([topic])
    return client


def take(client: Consumer, count: int) -> list[int]:
    """The offsets of the next records."""
    offsets: list[int] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(offsets) < count:
        assert time.monotonic() < deadline, f"{len(offsets)} records of {count}"
        message = client.poll(0.5)
        if message is not None:
            assert message.error() is None, message.error()
            offsets.append(message.offset())
    return offsets


def settle(wanted: list[int], *clients: Consumer) -> None:
    """Polls until the clients have as many partitions as wanted, each its number."""

    def counts() -> list[int]:
        for client in clients:
            client.poll(0.1)
        return [len(client.assignment()) for client in clients]

    until(wanted, counts)


def committed(server: Server, group: str, topic: str, partition: int = 0) -> int:
    """The offset that a group has committed; a server that was just started is asked until it has loaded the group."""
    client = confluent.consumer(server.bootstrap, group_id=group)
    asked = [TopicPartition(topic, partition)]
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            found = client.committed(asked, timeout=30)[0]
            break
        except KafkaException as error:
            if error.args[0].code() not in NOT_YET or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    client.close()
    assert found.error is None, found.error
    return int(found.offset)


def test_goes_on_where_the_last_one_stopped(quick: Server, topic: str) -> None:
    """a member commits and leaves; the next one goes on from there, also after a restart"""
    fill(quick, topic)
    first = member(quick, "readers", topic)
    assert take(first, 60) == list(range(60))
    first.commit(offsets=[TopicPartition(topic, 0, 60)], asynchronous=False)
    first.close()
    quick.stop()
    quick.start()
    second = member(quick, "readers", topic)
    assert take(second, 40) == list(range(60, 100))
    second.close()


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def test_members_share_a_topic(quick: Server, topic: str, strategy: str) -> None:
    """two members share four partitions; when one leaves the other has them all"""
    create(quick, topic, 4)
    settings = {"partition_assignment_strategy": strategy, "heartbeat_interval_ms": 500}
    one, two = member(quick, "sharers", topic, **settings), member(quick, "sharers", topic, **settings)
    settle([2, 2], one, two)
    mine, yours = ({found.partition for found in client.assignment()} for client in (one, two))
    assert mine | yours == {0, 1, 2, 3}
    two.close()
    settle([4], one)
    one.close()


def test_killed_member(quick: Server, topic: str) -> None:
    """a member that is killed loses its partitions when its session is over, and its records go to another"""
    fill(quick, topic)
    arguments = (quick.bootstrap, "mortals", topic)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.clients.group_member", *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "0 0\n"
        process.kill()
        process.wait()
    heir = member(quick, "mortals", topic)
    first = take(heir, 1)[0]
    assert first >= committed(quick, "mortals", topic) - 1
    assert take(heir, 99 - first) == list(range(first + 1, 100))
    heir.close()


def test_static_member(quick: Server, topic: str) -> None:
    """a static member that comes back has its partitions without a rebalance"""
    create(quick, topic, 2)
    settings = {"session_timeout_ms": 30_000, "heartbeat_interval_ms": 500}
    one = member(quick, "statics", topic, group_instance_id="one", **settings)
    two = member(quick, "statics", topic, group_instance_id="two", **settings)
    settle([1, 1], one, two)
    before = {found.partition for found in two.assignment()}
    described = describe(quick, "statics")
    two.close()
    again = member(quick, "statics", topic, group_instance_id="two", **settings)
    settle([1, 1], one, again)
    assert {found.partition for found in again.assignment()} == before
    assert describe(quick, "statics") == described
    one.close()
    again.close()


def describe(server: Server, group: str) -> list[tuple[str, int]]:
    """A group's static members, each with how many partitions it has."""
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    found = admin.describe_consumer_groups([group])[group].result(30)
    assert found.state is ConsumerGroupState.STABLE, found.state
    return sorted((one.group_instance_id, len(one.assignment.topic_partitions)) for one in found.members)


def test_killed_server_keeps_what_was_committed(quick: Server, topic: str) -> None:
    """commits that were acknowledged outlive kill -9 in the middle of others"""
    create(quick, topic)
    acknowledged = 0
    stop = threading.Event()

    def commit() -> None:
        nonlocal acknowledged
        client = confluent.consumer(quick.bootstrap, group_id="survivors", socket_timeout_ms=3_000)
        while not stop.is_set():
            try:
                client.commit(offsets=[TopicPartition(topic, 0, acknowledged + 1)], asynchronous=False)
            except KafkaException:
                # While the server is down; whether that commit counts is not known.
                continue
            acknowledged += 1
        client.close()

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        for _ in range(3):
            wanted = acknowledged + 20
            until(True, lambda wanted=wanted: acknowledged >= wanted)
            quick.kill()
            promised = acknowledged
            quick.start()
            assert committed(quick, "survivors", topic) >= promised
    finally:
        stop.set()
        thread.join()


def test_members_go_on_after_a_kill(quick: Server, topic: str) -> None:
    """after kill -9 of the server members go on in the same generation, with the same partitions"""
    create(quick, topic, 2)
    settings = {"session_timeout_ms": 30_000, "heartbeat_interval_ms": 500, "socket_timeout_ms": 3_000}
    one, two = member(quick, "stayers", topic, **settings), member(quick, "stayers", topic, **settings)
    settle([1, 1], one, two)
    before = [client.assignment() for client in (one, two)]
    quick.kill()
    quick.start()
    confluent.write(quick.bootstrap, topic, [Record(None, b"after", (), int(time.time() * 1000))])
    reader = one if before[0][0].partition == 0 else two
    assert take(reader, 1) == [0]
    settle([1, 1], one, two)
    assert [client.assignment() for client in (one, two)] == before
    reader.commit(asynchronous=False)
    assert committed(quick, "stayers", topic) == 1
    one.close()
    two.close()


def test_admin(quick: Server, topic: str) -> None:
    """groups are listed, described, their offsets altered and deleted, and they themselves deleted"""
    fill(quick, topic, 2)
    client = member(quick, "managed", topic)
    take(client, 100)
    client.commit(asynchronous=False)
    admin = AdminClient({"bootstrap.servers": quick.bootstrap})
    listed = admin.list_consumer_groups().result()
    assert [(found.group_id, found.state) for found in listed.valid] == [("managed", ConsumerGroupState.STABLE)]
    described = admin.describe_consumer_groups(["managed"])["managed"].result(30)
    assert [len(found.assignment.topic_partitions) for found in described.members] == [2]
    with pytest.raises(KafkaException, match="NON_EMPTY_GROUP"):
        admin.delete_consumer_groups(["managed"])["managed"].result(30)
    client.close()
    until(ConsumerGroupState.EMPTY, lambda: admin.describe_consumer_groups(["managed"])["managed"].result(30).state)
    wanted = ConsumerGroupTopicPartitions("managed", [TopicPartition(topic, 0, 7), TopicPartition(topic, 1, 9)])
    admin.alter_consumer_group_offsets([wanted])["managed"].result(30)
    asked = ConsumerGroupTopicPartitions("managed")
    stored = admin.list_consumer_group_offsets([asked])["managed"].result(30)
    assert sorted((found.partition, found.offset) for found in stored.topic_partitions) == [(0, 7), (1, 9)]
    admin.delete_consumer_groups(["managed"])["managed"].result(30)
    assert admin.list_consumer_groups().result().valid == []


def test_deleted_topics_are_forgotten(quick: Server, topic: str) -> None:
    """the offsets of a topic go with it"""
    fill(quick, topic)
    client = confluent.consumer(quick.bootstrap, group_id="mourners")
    client.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
    assert committed(quick, "mourners", topic) == 5
    admin = AdminClient({"bootstrap.servers": quick.bootstrap})
    admin.delete_topics([topic])[topic].result(30)
    until(-1001, lambda: committed(quick, "mourners", topic))
    client.close()
