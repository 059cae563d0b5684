"""Time that a test puts forward: whatever waits for it happens at once."""

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from ottla.testing import EmbeddedBroker
from tests.clients.patience import until
from tests.integration.testing.traffic import PATIENCE_S, producer, read, write

_NOT_YET = (KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE)
BOTH = pytest.mark.parametrize("process", [False, True], ids=["thread", "process"])


@BOTH
def test_a_transaction_that_takes_too_long_is_aborted(process: bool) -> None:
    with EmbeddedBroker(process=process) as broker:
        broker.create_topic("orders")
        client = producer(broker, transactional_id="t", transaction_timeout_ms=60_000)
        client.init_transactions(PATIENCE_S)
        client.begin_transaction()
        write(client, "orders", b"never")
        assert read(broker, "orders", isolation="read_committed") == []
        broker.clock.advance(minutes=2)
        # Its end is there for all to see, and what it wrote is not.
        until((0, 2), lambda: offsets(broker, "orders"))
        assert read(broker, "orders", isolation="read_committed") == []
        with pytest.raises(KafkaException):
            client.commit_transaction(PATIENCE_S)


def test_members_that_say_nothing_leave_their_group() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        # A heartbeat an hour is none: the member is as good as dead.
        settings = {"session.timeout.ms": 300_000, "heartbeat.interval.ms": 290_000, "group.id": "readers"}
        member = Consumer({"bootstrap.servers": broker.bootstrap_servers, **settings})
        member.subscribe(["orders"])
        until((ConsumerGroupState.STABLE, 1), lambda: polled(member) or group(admin))
        broker.clock.advance(minutes=4)
        assert group(admin) == (ConsumerGroupState.STABLE, 1)
        broker.clock.advance(minutes=2)
        assert group(admin) == (ConsumerGroupState.EMPTY, 0)
        member.close()


def test_records_grow_old() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", configs={"retention.ms": 3_600_000})
        client = producer(broker)
        write(client, "orders", b"one", b"two")
        broker.clock.advance(minutes=30)
        assert offsets(broker, "orders") == (0, 2)
        broker.clock.advance(hours=1)
        until((2, 2), lambda: offsets(broker, "orders"))
        assert write(client, "orders", b"three") == [2]


@BOTH
def test_a_long_time_is_survived_and_stays_passed(
    process: bool, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedBroker(process=process) as broker:
        broker.create_topic("orders")
        client = producer(broker)
        write(client, "orders", b"one")
        before_ms = broker.clock.now_ms()
        broker.clock.advance(days=3)
        broker.stop()
        broker.clock.advance(days=1)
        broker.restart()
        assert broker.clock.now_ms() >= before_ms + 4 * 86_400_000
        stamped = broker.create_topic("stamped", configs={"message.timestamp.type": "LogAppendTime"})
        stamps: list[int] = []
        client.produce(stamped, b"late", on_delivery=lambda _error, message: stamps.append(message.timestamp()[1]))
        client.flush(PATIENCE_S)
        assert stamps[0] >= before_ms + 4 * 86_400_000
        assert read(broker, "orders") == [b"one"]
    # The broker did not lose touch with its own controller.
    assert "heartbeat" not in capfd.readouterr().err + caplog.text


def test_time_does_not_go_back() -> None:
    with EmbeddedBroker() as broker, pytest.raises(ValueError, match="back"):
        broker.clock.advance(seconds=-1)


def offsets(broker: EmbeddedBroker, topic: str) -> tuple[int, int]:
    """First and next offset of partition 0."""
    client = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "looker"})
    try:
        return client.get_watermark_offsets(TopicPartition(topic, 0), timeout=PATIENCE_S)
    finally:
        client.close()


def group(admin: AdminClient) -> tuple[ConsumerGroupState, int] | None:
    """None while the coordinator is being found or loads: librdkafka's admin client does not ask again."""
    try:
        found = admin.describe_consumer_groups(["readers"])["readers"].result(PATIENCE_S)
    except KafkaException as error:
        if error.args[0].code() not in _NOT_YET:
            raise
        return None
    return found.state, len(found.members)


def polled(member: Consumer) -> None:
    member.poll(0.05)
