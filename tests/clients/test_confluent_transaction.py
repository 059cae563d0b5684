"""confluent-kafka (librdkafka) with transactions: all or nothing, fencing, offsets, and what outlives a kill."""

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.clients.client import confluent
from tests.clients.record import Record
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client(confluent.NAME)


@pytest.fixture
def quick(lone_server: Callable[..., Server]) -> Server:
    """A server where a group's first generation begins without delay."""
    return lone_server(group_initial_rebalance_delay_ms="0", transaction_state_log_num_partitions="5")


def transactional(server: Server, transactional_id: str, **settings: object) -> Producer:
    """A producer that may begin a transaction."""
    client = confluent.producer(server.bootstrap, transactional_id=transactional_id, linger_ms=0, **settings)
    client.init_transactions(30)
    return client


def write(client: Producer, topic: str, *values: bytes, partition: int = 0) -> None:
    """Writes and waits until everything is acknowledged."""
    for value in values:
        client.produce(topic, value, partition=partition)
    assert client.flush(30) == 0


def values(server: Server, topic: str, count: int, partition: int = 0) -> list[bytes]:
    """What a read_committed consumer sees: `count` records, and the end of the partition right behind them."""
    client = confluent.consumer(server.bootstrap, isolation_level="read_committed", enable_partition_eof=True)
    client.assign([TopicPartition(topic, partition, 0)])
    found: list[bytes] = []
    deadline = time.monotonic() + 30
    while True:
        message = client.poll(1)
        if message is None:
            assert time.monotonic() < deadline, found
        elif message.error() is None:
            found.append(message.value())
        elif len(found) >= count:
            # A marker may still be on its way when the end is first reached.
            client.close()
            return found


def test_all_or_nothing(quick: Server, topic: str) -> None:
    """committed records are read, aborted ones are not, in every partition"""
    create(quick, topic, 2)
    client = transactional(quick, "writer")
    for number in range(6):
        client.begin_transaction()
        write(client, topic, b"a%d" % number)
        write(client, topic, b"b%d" % number, partition=1)
        client.commit_transaction(30) if number % 2 else client.abort_transaction(30)
    assert values(quick, topic, 3) == [b"a1", b"a3", b"a5"]
    assert values(quick, topic, 3, partition=1) == [b"b1", b"b3", b"b5"]


def test_an_open_transaction_holds_readers_back(quick: Server, topic: str) -> None:
    """read_committed stops before an open transaction, also for others' records behind it"""
    create(quick, topic)
    first, second = transactional(quick, "first"), transactional(quick, "second")
    first.begin_transaction()
    write(first, topic, b"open")
    second.begin_transaction()
    write(second, topic, b"behind")
    second.commit_transaction(30)
    assert values(quick, topic, 0) == []
    first.commit_transaction(30)
    assert values(quick, topic, 2) == [b"open", b"behind"]


def test_fencing(quick: Server, topic: str) -> None:
    """a second producer with the same id aborts the first one's transaction and fences it"""
    create(quick, topic)
    old = transactional(quick, "same")
    old.begin_transaction()
    write(old, topic, b"lost")
    new = transactional(quick, "same")
    new.begin_transaction()
    write(new, topic, b"kept")
    with pytest.raises(KafkaException) as caught:
        old.commit_transaction(30)
    assert caught.value.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED)
    new.commit_transaction(30)
    assert values(quick, topic, 1) == [b"kept"]


def test_consume_transform_produce(quick: Server, topic: str) -> None:
    """offsets are committed with the records that were made of them, or not at all"""
    source = f"{topic}-source"
    create(quick, source)
    create(quick, topic)
    confluent.write(quick.bootstrap, source, [Record(None, b"%d" % number, (), 1) for number in range(20)])
    reader = confluent.consumer(quick.bootstrap, group_id="etl", isolation_level="read_committed")
    reader.subscribe([source])
    client = transactional(quick, "etl")
    _transform(reader, client, topic, 10)
    client.commit_transaction(30)
    _transform(reader, client, topic, 10)
    client.abort_transaction(30)
    assert reader.committed([TopicPartition(source, 0)], timeout=30)[0].offset == 10
    reader.close()
    assert values(quick, topic, 10) == [b"%d!" % number for number in range(10)]


def _transform(reader: Consumer, client: Producer, topic: str, count: int) -> None:
    client.begin_transaction()
    for _ in range(count):
        message = None
        while message is None:
            message = reader.poll(30)
        assert message.error() is None
        client.produce(topic, message.value() + b"!", partition=0)
    client.send_offsets_to_transaction(reader.position(reader.assignment()), reader.consumer_group_metadata(), 30)


def test_time_out(quick: Server, topic: str) -> None:
    """a transaction that nobody ends is aborted when its time is up"""
    create(quick, topic)
    idle = transactional(quick, "idle", transaction_timeout_ms=1_000, message_timeout_ms=1_000)
    idle.begin_transaction()
    write(idle, topic, b"forgotten")
    other = transactional(quick, "other")
    other.begin_transaction()
    write(other, topic, b"behind")
    other.commit_transaction(30)
    assert values(quick, topic, 1) == [b"behind"]


def test_killed_server(quick: Server, topic: str) -> None:
    """kill -9 of the server within transactions: each is there whole, or not at all, and producers go on"""
    create(quick, topic, 2)
    client = transactional(
        quick, "survivor", socket_timeout_ms=5_000, message_timeout_ms=50_000, transaction_timeout_ms=60_000
    )
    committed: list[bytes] = []
    for number in range(6):
        client.begin_transaction()
        client.produce(topic, b"%d" % number, partition=0)
        client.produce(topic, b"%d" % number, partition=1)
        if number % 2:
            client.flush(30)
            quick.kill()
            quick.start()
        try:
            client.commit_transaction(60)
            committed.append(b"%d" % number)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            client.abort_transaction(60)
    assert len(committed) >= 3
    assert values(quick, topic, len(committed)) == values(quick, topic, len(committed), partition=1) == committed


def test_admin(quick: Server, topic: str) -> None:
    """list_offsets knows the end of what is committed"""
    create(quick, topic)
    client = transactional(quick, "known")
    client.begin_transaction()
    write(client, topic, b"1", b"2")
    reader = confluent.consumer(quick.bootstrap, isolation_level="read_committed")
    assert reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=30) == (0, 0)
    client.commit_transaction(30)
    assert values(quick, topic, 2) == [b"1", b"2"]
    assert reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=30) == (0, 3)
    reader.close()
    assert "__transaction_state" in AdminClient({"bootstrap.servers": quick.bootstrap}).list_topics(timeout=30).topics
