"""Faults on demand, as clients see them."""

import socket

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.testing import EmbeddedBroker
from tests.clients.patience import until
from tests.integration.testing.traffic import PATIENCE_S, producer, read, write

BOTH = pytest.mark.parametrize("process", [False, True], ids=["thread", "process"])


@BOTH
def test_an_error_for_the_next_requests(process: bool) -> None:
    """A producer that is told twice that it asked the wrong broker tries a third time"""
    with EmbeddedBroker(process=process) as broker:
        broker.create_topic("orders")
        fault = broker.faults.error(ApiKey.PRODUCE, ErrorCode.NOT_LEADER_OR_FOLLOWER, count=2)
        assert write(producer(broker), "orders", b"one") == [0]
        assert fault.hits == 2
        assert read(broker, "orders") == [b"one"]


def test_an_error_reaches_the_user() -> None:
    with EmbeddedBroker() as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        broker.faults.error("CreateTopics", "POLICY_VIOLATION")
        with pytest.raises(KafkaException) as refused:
            admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(PATIENCE_S)
        assert refused.value.args[0].code() == KafkaError.POLICY_VIOLATION
        admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(PATIENCE_S)


def test_faults_for_fetches_are_got_over() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        write(producer(broker), "orders", b"one", b"two")
        faults = [
            broker.faults.error("Fetch", "NOT_LEADER_OR_FOLLOWER"),
            broker.faults.disconnect("Fetch"),
            broker.faults.lose_answer("Fetch"),
            broker.faults.delay("Fetch", seconds=0.01),
        ]
        assert read(broker, "orders") == [b"one", b"two"]
        assert [fault.hits for fault in faults] == [1, 1, 1, 1]


def test_a_request_that_is_dropped_is_never_answered() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        client = producer(broker, socket_timeout_ms=1000, message_timeout_ms=60_000)
        fault = broker.faults.drop("Produce")
        assert write(client, "orders", b"one") == [0]
        assert fault.hits == 1
        assert read(broker, "orders") == [b"one"]


@BOTH
def test_a_delay_ends_with_the_broker_s_time(process: bool) -> None:
    with EmbeddedBroker(process=process) as broker:
        broker.create_topic("orders")
        fault = broker.faults.delay("Produce", seconds=20)
        client = producer(broker)
        client.produce("orders", b"one", partition=0)
        client.poll(0)
        until(1, lambda: fault.hits)
        assert read(broker, "orders") == []
        broker.clock.advance(seconds=20)
        assert client.flush(PATIENCE_S) == 0
        assert read(broker, "orders") == [b"one"]


def test_a_lost_answer_is_not_a_second_record() -> None:
    """An idempotent producer sends what was written already, and the broker sees that"""
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        fault = broker.faults.lose_answer("Produce", count=2)
        assert write(producer(broker, enable_idempotence=True), "orders", b"one") == [0]
        assert fault.hits == 2
        assert read(broker, "orders") == [b"one"]


def test_a_lost_answer_is_a_second_record_for_others() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        broker.faults.lose_answer("Produce")
        assert write(producer(broker), "orders", b"one") == [1]
        assert read(broker, "orders") == [b"one", b"one"]


def test_faults_for_one_client_alone() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        fault = broker.faults.error("Produce", "MESSAGE_TOO_LARGE", count=None, client_id="victim")
        assert write(producer(broker, client_id="other"), "orders", b"one") == [0]
        errors: list[KafkaError] = []
        victim = producer(broker, client_id="victim")
        victim.produce("orders", b"two", on_delivery=lambda error, _message: errors.append(error))
        assert victim.flush(PATIENCE_S) == 0
        assert [error.code() for error in errors] == [KafkaError.MSG_SIZE_TOO_LARGE]
        assert fault.hits == 1
        broker.faults.clear()
        assert write(victim, "orders", b"two") == [1]


def test_a_restart_clears_faults() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        broker.faults.drop("Produce", count=None)
        broker.restart()
        assert write(producer(broker), "orders", b"one") == [0]


def test_bytes_that_are_no_request_are_the_broker_s_to_refuse() -> None:
    with EmbeddedBroker() as broker:
        broker.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", count=None)
        host, port = broker.bootstrap_servers.split(":")
        for frame in (b"\0\0", b"\0\0\0\x09\0\0\0\0\xff\xff" + b"\xff" * 20):
            with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
                connection.sendall(len(frame).to_bytes(4, "big") + frame)
                assert connection.recv(1) == b""


def test_what_cannot_be_asked_for() -> None:
    with EmbeddedBroker() as broker:
        with pytest.raises(ValueError, match="Prodoce"):
            broker.faults.drop("Prodoce")
        with pytest.raises(ValueError, match="NOT_LEADER"):
            broker.faults.error("Produce", "NOT_LEADER")
        with pytest.raises(ValueError, match="0 requests"):
            broker.faults.drop("Produce", count=0)
