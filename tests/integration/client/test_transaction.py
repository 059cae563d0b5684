"""Transactions against a real broker: confluent-kafka reads what was committed, and nothing else."""

import asyncio
import os
import signal
from typing import Any

import pytest

from ottla.client.consumer.consumer import Consumer
from ottla.client.errors import CommitFailedError, KafkaTimeoutError
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.producer.producer import Producer
from ottla.client.producer.transaction.offset import GroupIdentity
from ottla.client.producer.transaction_error import (
    TransactionAbortedError,
    TransactionFailedError,
    TransactionStateError,
)
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.errors import (
    ApiError,
    GroupAuthorizationFailedError,
    InvalidProducerEpochError,
    MessageTooLargeError,
    NetworkError,
    ProducerFencedError,
)
from ottla.testing import EmbeddedBroker
from tests.clients.client import confluent
from tests.clients.feature import set_transaction_version
from tests.clients.patience import until
from tests.clients.topic import create
from tests.kafka.server import Server


def committed(server: Server, topic: str, count: int, partition: int = 0) -> list[bytes]:
    """The first `count` values that a reader of committed records sees."""
    client = confluent.consumer(server.bootstrap, isolation_level="read_committed", enable_partition_eof=True)
    client.assign([confluent.TopicPartition(topic, partition, 0)])
    found: list[bytes] = []
    try:
        while len(found) < count:
            for message in client.consume(count - len(found), timeout=30):
                if message.error() is None:
                    found.append(message.value())
        # And nothing behind them.
        found += [message.value() for message in client.consume(10, timeout=0.3) if message.error() is None]
    finally:
        client.close()
    return found


def transactional(server: Server, name: str, **settings: Any) -> Producer:
    producer = Producer(bootstrap_servers=server.bootstrap, transactional_id=name, **settings)
    producer.init_transactions()
    return producer


def test_committed_is_seen_and_aborted_is_not(server: Server, topic: str) -> None:
    create(server, topic, partitions=2)
    with transactional(server, topic) as producer:
        with producer.transaction():
            for number in range(10):
                producer.send(topic, b"a%d" % number, partition=number % 2)
        with pytest.raises(ZeroDivisionError), producer.transaction():
            producer.send(topic, b"never", partition=0).result(1 / 0)
        with producer.transaction():
            producer.send(topic, b"last", partition=0)
        with producer.transaction():
            pass
    assert committed(server, topic, 6) == [b"a0", b"a2", b"a4", b"a6", b"a8", b"last"]
    assert committed(server, topic, 5, partition=1) == [b"a1", b"a3", b"a5", b"a7", b"a9"]


def test_abort_drops_what_was_not_sent(server: Server, topic: str) -> None:
    create(server, topic)
    with transactional(server, topic, linger_ms=60_000, delivery_timeout_ms=200_000) as producer:
        producer.begin_transaction()
        future = producer.send(topic, b"waiting", partition=0)
        producer.abort_transaction()
        with pytest.raises(TransactionAbortedError):
            future.result(0)
        with producer.transaction():
            producer.send(topic, b"sent", partition=0)
    assert committed(server, topic, 1) == [b"sent"]


def test_calls_at_the_wrong_time(server: Server, topic: str) -> None:
    create(server, topic)
    with Producer(bootstrap_servers=server.bootstrap, transactional_id=topic) as producer:
        with pytest.raises(TransactionStateError, match="init_transactions"):
            producer.begin_transaction()
        producer.init_transactions()
        with pytest.raises(TransactionStateError, match="begin one"):
            producer.send(topic, b"v", partition=0)
        with pytest.raises(TransactionStateError):
            producer.commit_transaction()
        producer.begin_transaction()
        with pytest.raises(TransactionStateError):
            producer.begin_transaction()
        producer.send(topic, b"v", partition=0)
        producer.commit_transaction()
    assert committed(server, topic, 1) == [b"v"]


def test_newer_producer_fences_the_older(server: Server, topic: str) -> None:
    create(server, topic)
    with transactional(server, topic) as older:
        older.begin_transaction()
        older.send(topic, b"older", partition=0).result(10)
        with transactional(server, topic) as newer:
            with newer.transaction():
                newer.send(topic, b"newer", partition=0)
            late = older.send(topic, b"late", partition=0)
            assert isinstance(late.exception(10), InvalidProducerEpochError)
            with pytest.raises(TransactionFailedError, match="another producer"):
                older.commit_transaction()
            with pytest.raises(ProducerFencedError, match="another producer"):
                older.abort_transaction()
            with pytest.raises(ProducerFencedError):
                older.begin_transaction()
            with pytest.raises(ProducerFencedError):
                older.send(topic, b"later", partition=0)
    assert committed(server, topic, 1) == [b"newer"]


def test_newer_producer_fences_the_older_in_a_block(server: Server, topic: str) -> None:
    create(server, topic)
    with transactional(server, topic) as older, transactional(server, topic) as newer:
        with pytest.raises(ProducerFencedError), older.transaction():
            older.send(topic, b"late", partition=0)
        with newer.transaction():
            newer.send(topic, b"newer", partition=0)
    assert committed(server, topic, 1) == [b"newer"]


def test_transaction_that_takes_too_long_can_be_aborted(topic: str) -> None:
    """With transactions v2 the coordinator has aborted it, and the producer goes on."""
    with EmbeddedBroker() as broker:
        broker.create_topic(topic)
        servers = broker.bootstrap_servers
        with Producer(bootstrap_servers=servers, transactional_id=topic, transaction_timeout_ms=60_000) as producer:
            producer.init_transactions()
            producer.begin_transaction()
            producer.send(topic, b"slow", partition=0).result(30)
            broker.clock.advance(minutes=2)
            until(True, lambda: ends(servers, topic, "read_committed") == ends(servers, topic, "read_uncommitted"))
            with pytest.raises(ApiError, match=r"transaction\.timeout\.ms"):
                producer.send(topic, b"late", partition=0).result(30)
            with pytest.raises(TransactionFailedError):
                producer.commit_transaction()
            producer.abort_transaction()
            with producer.transaction():
                producer.send(topic, b"next", partition=0)
        assert values(servers, topic) == [b"next"]


def ends(servers: str, topic: str, isolation: str) -> int:
    """Behind the last record that such a reader may see."""
    with Consumer(bootstrap_servers=servers, isolation_level=isolation) as consumer:
        [end] = consumer.end_offsets([TopicPartition(topic, 0)]).values()
    return end


def values(servers: str, topic: str) -> list[bytes | None]:
    """All that is committed."""
    settings = {"isolation.level": "read_committed", "auto.offset.reset": "earliest"}
    with Consumer(settings, bootstrap_servers=servers) as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        end = consumer.end_offsets([partition])[partition]
        found = []
        while consumer.position(partition) < end:
            found += [record.value for record in consumer.poll(1)]
    return found


@pytest.mark.parametrize("level", ["1", "2"])
def test_after_a_record_that_was_given_up_the_next_transaction_succeeds(topic: str, level: str) -> None:
    """Nobody knows whether the broker has it: its sequence number may be missing."""
    with EmbeddedBroker() as broker:
        host, _, port = broker.bootstrap_servers.partition(":")
        set_transaction_version((host, int(port)), int(level))
        broker.create_topic(topic)
        settings = {"transactional.id": topic, "client.id": topic, "retries": 1}
        with Producer(settings, bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.init_transactions()
            with producer.transaction():
                producer.send(topic, b"first", partition=0)
            broker.faults.disconnect("Produce", count=2, client_id=topic)
            producer.begin_transaction()
            lost = producer.send(topic, b"lost", partition=0)
            with pytest.raises(TransactionFailedError):
                producer.commit_transaction()
            assert isinstance(lost.exception(0), NetworkError)
            producer.abort_transaction()
            with producer.transaction():
                producer.send(topic, b"next", partition=0)
        assert values(broker.bootstrap_servers, topic) == [b"first", b"next"]


@pytest.mark.parametrize(("level", "asked"), [(1, "AddOffsetsToTxn"), (2, "TxnOffsetCommit")])
def test_refused_offsets_leave_nothing_to_end(topic: str, level: int, asked: str) -> None:
    """With transactions v1 the coordinator knows of no transaction, and refuses to end one."""
    with EmbeddedBroker() as broker:
        host, _, port = broker.bootstrap_servers.partition(":")
        set_transaction_version((host, int(port)), level)
        broker.create_topic(topic)
        with Producer(bootstrap_servers=broker.bootstrap_servers, transactional_id=topic, client_id=topic) as producer:
            producer.init_transactions()
            broker.faults.error(asked, "GROUP_AUTHORIZATION_FAILED", client_id=topic)
            producer.begin_transaction()
            with pytest.raises(GroupAuthorizationFailedError):
                producer.send_offsets_to_transaction({TopicPartition(topic, 0): 3}, "g")
            producer.abort_transaction()
            with producer.transaction():
                producer.send(topic, b"next", partition=0)
        assert values(broker.bootstrap_servers, topic) == [b"next"]


def test_init_waits_for_the_coordinator_as_long_as_it_may(ottla_broker: EmbeddedBroker, topic: str) -> None:
    """For max.block.ms, not for one request."""
    settings = {"transactional.id": topic, "client.id": topic, "request.timeout.ms": 300, "retry.backoff.max.ms": 100}
    with Producer(
        settings, bootstrap_servers=ottla_broker.bootstrap_servers, delivery_timeout_ms=60_000, max_block_ms=60_000
    ) as producer:
        away = ottla_broker.faults.error("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", count=10, client_id=topic)
        producer.init_transactions()
    assert away.hits == 10


def test_failed_record_allows_abort_only(server: Server, topic: str) -> None:
    create(server, topic, max_message_bytes="2000")
    with transactional(server, topic) as producer:
        producer.begin_transaction()
        producer.send(topic, b"fine", partition=0).result(10)
        with pytest.raises(MessageTooLargeError):
            producer.send(topic, bytes(5_000), partition=0).result(10)
        with pytest.raises(TransactionFailedError):
            producer.send(topic, b"refused", partition=0)
        with pytest.raises(TransactionFailedError, match="abort"):
            producer.commit_transaction()
        producer.abort_transaction()
        with producer.transaction():
            producer.send(topic, b"next", partition=0)
    assert committed(server, topic, 1) == [b"next"]


def test_offsets_count_if_the_transaction_does(server: Server, topic: str) -> None:
    create(server, topic)
    group, place = f"{topic}-group", TopicPartition(topic, 0)

    def position() -> int:
        client = confluent.consumer(server.bootstrap, group_id=group)
        try:
            [found] = client.committed([confluent.TopicPartition(topic, 0)], timeout=30)
            return int(found.offset)
        finally:
            client.close()

    with transactional(server, topic) as producer:
        with producer.transaction():
            producer.send(topic, b"v", partition=0)
            producer.send_offsets_to_transaction({place: OffsetAndMetadata(7, "note")}, group)
        assert position() == 7
        producer.begin_transaction()
        producer.send_offsets_to_transaction({place: OffsetAndMetadata(9)}, group)
        producer.abort_transaction()
        assert position() == 7


def test_successor_aborts_what_was_left_open(server: Server, topic: str) -> None:
    create(server, topic)
    older = transactional(server, topic)
    older.begin_transaction()
    older.send(topic, b"left", partition=0).result(10)
    with transactional(server, topic) as newer, newer.transaction():
        newer.send(topic, b"taken over", partition=0)
    older.close(timeout=0.5)
    assert committed(server, topic, 1) == [b"taken over"]


def test_close_aborts_an_open_transaction(server: Server, topic: str) -> None:
    create(server, topic)
    producer = transactional(server, topic)
    producer.begin_transaction()
    producer.send(topic, b"open", partition=0).result(10)
    producer.close()
    with transactional(server, f"{topic}-2") as other, other.transaction():
        other.send(topic, b"after", partition=0)
    assert committed(server, topic, 1) == [b"after"]


@pytest.mark.parametrize("level", ["1", "2"])
def test_both_versions_of_transactions(lone_server: Any, topic: str, level: str) -> None:
    """KIP-890: before the cluster has switched to transactions v2, partitions and groups are added one by one."""
    server = lone_server()
    set_transaction_version(server.address, int(level))
    create(server, topic, partitions=3)
    with transactional(server, topic) as producer:
        for turn in range(5):
            with producer.transaction():
                for partition in range(3):
                    producer.send(topic, b"%d" % turn, partition=partition)
                producer.send_offsets_to_transaction({TopicPartition(topic, 0): OffsetAndMetadata(turn)}, "g")
        producer.begin_transaction()
        producer.send(topic, b"never", partition=1).result(10)
        producer.abort_transaction()
        with producer.transaction():
            producer.send(topic, b"last", partition=1)
    assert committed(server, topic, 6, partition=1) == [b"0", b"1", b"2", b"3", b"4", b"last"]


async def _run_async(bootstrap: str, topic: str) -> None:
    async with AsyncProducer(bootstrap_servers=bootstrap, transactional_id=topic) as producer:
        await producer.init_transactions()
        async with producer.transaction():
            await producer.send(topic, b"async", partition=0)
        producer.begin_transaction()
        await producer.send(topic, b"never", partition=0)
        await producer.abort_transaction()


def test_asyncio(server: Server, topic: str) -> None:

    create(server, topic)
    asyncio.run(_run_async(server.bootstrap, topic))
    assert committed(server, topic, 1) == [b"async"]


def test_init_times_out(lone_server: Any, topic: str) -> None:

    server = lone_server()
    with Producer(bootstrap_servers=server.bootstrap, transactional_id=topic, max_block_ms=500) as producer:
        os.kill(server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(KafkaTimeoutError):
                producer.init_transactions()
        finally:
            os.kill(server.pid, signal.SIGCONT)
        producer.init_transactions(timeout=60)


def test_member_that_lost_its_partitions_can_not_commit(server: Server, topic: str) -> None:
    create(server, topic)
    stale = GroupIdentity(f"{topic}-group", generation_id=7, member_id="gone")
    with transactional(server, topic) as producer:
        producer.begin_transaction()
        with pytest.raises(CommitFailedError, match="abort"):
            producer.send_offsets_to_transaction({TopicPartition(topic, 0): OffsetAndMetadata(7)}, stale)
        with pytest.raises(TransactionFailedError):
            producer.commit_transaction()
        producer.abort_transaction()
