"""confluent-kafka (librdkafka) with `group.protocol=consumer` (KIP-848): the brokers assign partitions."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, ConsumerGroupType, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.clients.client import confluent
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.test_confluent_group import committed, fill, settle, take
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client(confluent.NAME)


@pytest.fixture
def quick(lone_server: Callable[..., Server]) -> Server:
    """A server with short intervals, so that groups settle soon."""
    return lone_server(
        group_initial_rebalance_delay_ms="0",
        group_consumer_heartbeat_interval_ms="500",
        group_consumer_min_heartbeat_interval_ms="500",
        group_consumer_session_timeout_ms="6000",
        group_consumer_min_session_timeout_ms="6000",
        group_consumer_assignment_interval_ms="0",
    )


def member(server: Server, group: str, *topics: str, **settings: object) -> Consumer:
    """A consumer that joins a group."""
    client = confluent.consumer(server.bootstrap, group_id=group, group_protocol="consumer", **settings)
    client.subscribe(list(topics))
    return client


def test_goes_on_where_the_last_one_stopped(quick: Server, topic: str) -> None:
    """a member commits and leaves; the next one goes on from there, also after kill -9 of the server"""
    fill(quick, topic)
    first = member(quick, "readers", topic)
    assert take(first, 60) == list(range(60))
    first.commit(offsets=[TopicPartition(topic, 0, 60)], asynchronous=False)
    first.close()
    quick.kill()
    quick.start()
    assert committed(quick, "readers", topic) == 60
    second = member(quick, "readers", topic)
    assert take(second, 40) == list(range(60, 100))
    second.close()


@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_members_share_a_topic(quick: Server, topic: str, assignor: str) -> None:
    """two members share four partitions; when one leaves the other has them all"""
    create(quick, topic, 4)
    one = member(quick, "sharers", topic, group_remote_assignor=assignor)
    settle([4], one)
    two = member(quick, "sharers", topic, group_remote_assignor=assignor)
    settle([2, 2], one, two)
    mine, yours = ({found.partition for found in client.assignment()} for client in (one, two))
    assert mine | yours == {0, 1, 2, 3}
    two.close()
    settle([4], one)
    one.close()


def test_killed_member(quick: Server, topic: str) -> None:
    """a member that is killed loses its partitions when its session is over"""
    fill(quick, topic)
    arguments = (quick.bootstrap, "mortals", topic, "group_protocol=consumer")
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
    assert take(heir, 99 - first) == list(range(first + 1, 100))
    heir.close()


def test_members_go_on_after_a_kill(quick: Server, topic: str) -> None:
    """after kill -9 of the server members keep their partitions and get new records"""
    create(quick, topic, 2)
    settings = {"socket_timeout_ms": 3_000}
    one, two = member(quick, "stayers", topic, **settings), member(quick, "stayers", topic, **settings)
    settle([1, 1], one, two)
    before = [client.assignment() for client in (one, two)]
    quick.kill()
    quick.start()
    confluent.write(quick.bootstrap, topic, [Record(None, b"after", (), 1)])
    reader = one if before[0][0].partition == 0 else two
    assert take(reader, 1) == [0]
    assert [client.assignment() for client in (one, two)] == before
    one.close()
    two.close()


def test_subscription_by_pattern(quick: Server, topic: str) -> None:
    """a pattern is matched by the broker, also against topics that come later"""
    create(quick, f"{topic}-a")
    client = member(quick, "patterns", f"^{topic}-[ab]$")
    settle([1], client)
    create(quick, f"{topic}-c")
    create(quick, f"{topic}-b", 2)
    settle([3], client)
    client.close()


def test_admin(quick: Server, topic: str) -> None:
    """the group is listed and described with its kind"""
    create(quick, topic, 2)
    client = member(quick, "shown", topic)
    settle([2], client)
    admin = AdminClient({"bootstrap.servers": quick.bootstrap})
    described = admin.describe_consumer_groups(["shown"])["shown"].result(30)
    assert (described.type, described.state) == (ConsumerGroupType.CONSUMER, ConsumerGroupState.STABLE)
    assert [len(found.assignment.topic_partitions) for found in described.members] == [2]
    client.close()
    until(ConsumerGroupState.EMPTY, lambda: admin.describe_consumer_groups(["shown"])["shown"].result(30).state)
    admin.delete_consumer_groups(["shown"])["shown"].result(30)


def test_upgrade_and_downgrade(quick: Server, topic: str) -> None:
    """classic and consumer members share a group, and its offsets, on the way from one to the other and back"""
    create(quick, topic, 4)
    settings = {"heartbeat_interval_ms": 500, "partition_assignment_strategy": "range"}
    classic = confluent.consumer(quick.bootstrap, group_id="moving", **settings)
    classic.subscribe([topic])
    settle([4], classic)
    modern = member(quick, "moving", topic)
    settle([2, 2], classic, modern)
    classic.close()
    settle([4], modern)
    back = confluent.consumer(quick.bootstrap, group_id="moving", **settings)
    back.subscribe([topic])
    settle([2, 2], back, modern)
    modern.close()
    settle([4], back)
    back.close()
