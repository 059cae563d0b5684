"""Consumers that share topics: subscriptions, listeners, commits, both group protocols, on a real server."""

import itertools
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer

from ottla.client.consumer.consumer import Consumer
from ottla.client.consumer.fetch.record import Record
from ottla.client.consumer.fetch.records import Records
from ottla.client.consumer.interceptor import ConsumerInterceptor
from ottla.client.consumer.membership import ListenerError
from ottla.client.consumer.rebalance_listener import RebalanceListener
from ottla.client.consumer.subscription_pattern import SubscriptionPattern
from ottla.client.errors import CommitFailedError, InvalidStateError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.testing import EmbeddedBroker
from tests.clients.server import kinds, start_server
from tests.clients.topic import create
from tests.integration.client.test_group_membership import QUICK_GROUPS
from tests.kafka.server import Server

PROTOCOLS = ("classic", "consumer")
PATIENCE_S = 30.0
_numbers = itertools.count(1)


@pytest.fixture(scope="module", params=kinds())
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(request.param, tmp_path_factory.mktemp(request.param), **QUICK_GROUPS)
    yield started
    started.stop()


@pytest.fixture
def topic(server: Server) -> str:
    """Two partitions with 10 records each."""
    name = f"shared-{next(_numbers)}"
    create(server, name, 2)
    fill(server, name, 10)
    return name


@pytest.fixture
def member(server: Server, topic: str) -> Iterator[Callable[..., Consumer]]:
    """Makes members of one group; closes them."""
    made: list[Consumer] = []

    def make(protocol: str = "classic", **settings: object) -> Consumer:
        chosen = {"bootstrap_servers": server.bootstrap, "group_id": f"group-of-{topic}", "group_protocol": protocol}
        timing: dict[str, object] = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 200}
        made.append(
            Consumer(
                **{**chosen, **(timing if protocol == "classic" else {}), "auto_offset_reset": "earliest", **settings}
            )
        )
        return made[-1]

    yield make
    for consumer in made:
        consumer.close()


def fill(server: Server, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": server.bootstrap})
    for number in range(2 * count):
        producer.produce(topic, b"%d" % number, partition=number % 2)
    assert producer.flush(PATIENCE_S) == 0


def read(consumer: Consumer, count: int) -> list[Record]:
    found: list[Record] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        found += consumer.poll(0.2)
    return found


def poll_until(wanted: Callable[[], bool], *consumers: Consumer) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not wanted():
        assert time.monotonic() < deadline, [consumer.assignment() for consumer in consumers]
        for consumer in consumers:
            consumer.poll(0.1)


class Diary(RebalanceListener):
    """Notes what it hears, and in which thread."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []
        self.threads: set[str] = set()

    def on_partitions_assigned(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        self._note("assigned", partitions)

    def on_partitions_revoked(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        self._note("revoked", partitions)

    def _note(self, event: str, partitions: Collection[TopicPartition]) -> None:
        self.threads.add(threading.current_thread().name)
        if partitions:
            self.entries.append((event, len(partitions)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_share_and_take_over(member: Callable[..., Consumer], topic: str, protocol: str) -> None:
    first, second, diary = member(protocol), member(protocol), Diary()
    first.subscribe([topic], listener=diary)
    assert len(read(first, 20)) == 20
    assert diary.entries == [("assigned", 2)]
    second.subscribe([topic])
    poll_until(lambda: len(first.assignment()) == len(second.assignment()) == 1, first, second)
    assert first.assignment() | second.assignment() == {TopicPartition(topic, 0), TopicPartition(topic, 1)}
    second.close()
    poll_until(lambda: len(first.assignment()) == 2, first)
    first.unsubscribe()
    assert diary.entries[-1] == ("revoked", 2)
    assert first.assignment() == frozenset()
    assert diary.threads == {threading.current_thread().name}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_comes_next_starts_where_the_last_one_ended(
    server: Server, member: Callable[..., Consumer], topic: str, protocol: str
) -> None:
    """Positions are committed at close, once they were polled past."""
    first = member(protocol)
    first.subscribe([topic])
    assert len(read(first, 20)) == 20
    first.close()
    fill(server, topic, 1)
    second = member(protocol)
    second.subscribe([topic])
    assert sorted(record.offset for record in read(second, 2)) == [10, 10]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_commits(member: Callable[..., Consumer], topic: str, protocol: str) -> None:
    consumer = member(protocol, enable_auto_commit=False)
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    consumer.subscribe([topic])
    read(consumer, 20)
    assert consumer.committed([zero, one]) == {zero: None, one: None}
    consumer.commit({zero: OffsetAndMetadata(3, "three")})
    assert consumer.committed([zero, one]) == {zero: OffsetAndMetadata(3, "three"), one: None}
    consumer.commit()
    assert consumer.committed([zero, one]) == {zero: OffsetAndMetadata(10, "", 0), one: OffsetAndMetadata(10, "", 0)}
    heard: list[tuple[int, object, str]] = []

    def note(offsets: Mapping[TopicPartition, OffsetAndMetadata], error: object) -> None:
        heard.append((offsets[zero].offset, error, threading.current_thread().name))

    for offset in range(1, 6):
        consumer.commit_async({zero: OffsetAndMetadata(offset)}, note)
    consumer.commit({one: 7})
    here = threading.current_thread().name
    assert heard == [(offset, None, here) for offset in range(1, 6)]
    assert consumer.committed([zero, one]) == {zero: OffsetAndMetadata(5), one: OffsetAndMetadata(7)}


def test_auto_commit_goes_on_while_polling(member: Callable[..., Consumer], topic: str) -> None:
    consumer = member(auto_commit_interval_ms=100)
    partition = TopicPartition(topic, 0)
    consumer.subscribe([topic])
    read(consumer, 20)

    def committed() -> bool:
        found = consumer.committed([partition])[partition]
        return found is not None and found.offset == 10

    poll_until(committed, consumer)


def test_a_listener_may_use_the_consumer(member: Callable[..., Consumer], topic: str) -> None:
    consumer = member(enable_auto_commit=False)
    committed: dict[TopicPartition, int] = {}

    def start_late(inner: Consumer, partitions: Collection[TopicPartition]) -> None:
        for partition in partitions:
            inner.seek(partition, 8)

    def commit(inner: Consumer, partitions: Collection[TopicPartition]) -> None:
        inner.commit()
        committed.update({partition: inner.position(partition) for partition in partitions})

    consumer.subscribe([topic], on_assigned=start_late, on_revoked=commit)
    assert sorted(record.offset for record in read(consumer, 4)) == [8, 8, 9, 9]
    consumer.unsubscribe()
    assert sorted(committed.values()) == [10, 10]


def test_what_a_listener_raises_comes_out_of_poll(member: Callable[..., Consumer], topic: str) -> None:
    consumer = member()

    def fail(inner: Consumer, partitions: Collection[TopicPartition]) -> None:
        raise KeyError("mine")

    consumer.subscribe([topic], on_assigned=fail)
    with pytest.raises(ListenerError, match="mine") as raised:
        read(consumer, 20)
    assert isinstance(raised.value.__cause__, KeyError)
    assert len(read(consumer, 20)) == 20


def test_a_pattern_finds_topics_that_come_later(server: Server, member: Callable[..., Consumer], topic: str) -> None:
    consumer = member(metadata_max_age_ms=300)
    consumer.subscribe(pattern=re.compile(f"{topic}.*"))
    assert len(read(consumer, 20)) == 20
    assert consumer.subscription() == {topic}
    create(server, f"{topic}-more", 1)
    poll_until(lambda: len(consumer.assignment()) == 3, consumer)
    assert consumer.subscription() == {topic, f"{topic}-more"}


def test_a_pattern_that_the_broker_matches(member: Callable[..., Consumer], topic: str) -> None:
    consumer = member("consumer")
    consumer.subscribe(pattern=SubscriptionPattern(f"{topic}"))
    assert len(read(consumer, 20)) == 20


def test_subscriptions_exclude_each_other(member: Callable[..., Consumer], topic: str) -> None:
    consumer = member()
    consumer.subscribe([topic])
    with pytest.raises(InvalidStateError, match=r"unsubscribe\(\) first"):
        consumer.assign([TopicPartition(topic, 0)])
    consumer.unsubscribe()
    consumer.assign([TopicPartition(topic, 0)])
    assert len(read(consumer, 10)) == 10


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_that_stopped_polling_is_out_and_comes_back(
    member: Callable[..., Consumer], topic: str, protocol: str
) -> None:
    stuck = member(protocol, max_poll_interval_ms=1000, enable_auto_commit=False)
    other = member(protocol)
    stuck.subscribe([topic])
    assert len(read(stuck, 20)) == 20
    other.subscribe([topic])
    poll_until(lambda: len(other.assignment()) == 2, other)
    with pytest.raises(CommitFailedError, match=r"max\.poll\.interval\.ms"):
        stuck.commit()
    poll_until(lambda: len(stuck.assignment()) == len(other.assignment()) == 1, stuck, other)


def test_heartbeats_go_on_without_polls(member: Callable[..., Consumer], topic: str) -> None:
    """Longer without a poll than the session lasts, yet still a member."""
    consumer = member(session_timeout_ms=1000)
    consumer.subscribe([topic])
    read(consumer, 20)
    generation = consumer.group_metadata().generation_id
    time.sleep(2.5)
    consumer.commit()
    assert consumer.group_metadata().generation_id == generation


def test_interceptors_see_records_and_commits(member: Callable[..., Consumer], topic: str) -> None:
    class Watcher(ConsumerInterceptor):
        def __init__(self) -> None:
            self.commits: list[Mapping[TopicPartition, OffsetAndMetadata]] = []
            self.is_closed = False

        def on_consume(self, records: Records) -> Records:
            return Records(record for record in records if record.partition == 0)

        def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
            self.commits.append(offsets)

        def close(self) -> None:
            self.is_closed = True

    watcher = Watcher()
    consumer = member(enable_auto_commit=False, interceptor_classes=[watcher])
    consumer.subscribe([topic])
    assert {record.partition for record in read(consumer, 10)} == {0}
    consumer.commit()
    assert len(watcher.commits) == 1
    consumer.close()
    assert watcher.is_closed


def test_commits_from_outside_of_the_group(member: Callable[..., Consumer], topic: str) -> None:
    consumer, partition = member(), TopicPartition(topic, 0)
    consumer.assign([partition])
    assert len(read(consumer, 10)) == 10
    consumer.close()
    again = member()
    again.assign([partition])
    assert again.position(partition) == 10


def test_closing_leaves_the_group_whatever_a_listener_raises(member: Callable[..., Consumer], topic: str) -> None:
    first, second = member(), member()

    def fail(inner: Consumer, partitions: Collection[TopicPartition]) -> None:
        raise KeyError("mine")

    first.subscribe([topic], on_revoked=fail)
    assert len(read(first, 20)) == 20
    with pytest.raises(ListenerError, match="mine"):
        first.close()
    second.subscribe([topic])
    poll_until(lambda: len(second.assignment()) == 2, second)


def test_subscribing_again(member: Callable[..., Consumer], topic: str) -> None:
    consumer = member()
    consumer.subscribe([topic])
    assert len(read(consumer, 20)) == 20
    consumer.unsubscribe()
    consumer.subscribe([topic])
    poll_until(lambda: len(consumer.assignment()) == 2, consumer)
    consumer.seek_to_beginning()
    assert len(read(consumer, 20)) == 20
    for wrong in ("orders", []):
        with pytest.raises(InvalidStateError, match="list of topics"):
            consumer.subscribe(wrong)
    with pytest.raises(TypeError, match="named by a str, not by NoneType"):
        consumer.subscribe([topic, None])  # type: ignore[list-item]
    assert consumer.subscription() == {topic}
    with pytest.raises(InvalidStateError, match=r"group\.protocol=consumer"):
        consumer.subscribe(pattern=SubscriptionPattern("a"))


@pytest.mark.parametrize("code", ["STALE_MEMBER_EPOCH", "FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"])
def test_a_group_that_went_on_meanwhile_is_no_trouble_of_the_users(
    ottla_broker: EmbeddedBroker, topic: str, code: str
) -> None:
    """Where it goes on is asked again, as the member that it is now."""
    ottla_broker.create_topic(topic)
    producer = Producer({"bootstrap.servers": ottla_broker.bootstrap_servers, "log_level": 0})
    for number in range(3):
        producer.produce(topic, b"%d" % number, partition=0)
    assert producer.flush(60) == 0
    refused = ottla_broker.faults.error("OffsetFetch", code, count=2, client_id=topic)
    settings = {"group.protocol": "consumer", "auto.offset.reset": "earliest", "client.id": topic, "group.id": topic}
    with Consumer(settings, bootstrap_servers=ottla_broker.bootstrap_servers) as consumer:
        consumer.subscribe([topic])
        found: list[bytes | None] = []
        deadline = time.monotonic() + 60
        while len(found) < 3:
            assert time.monotonic() < deadline
            found += [record.value for record in consumer.poll(1)]
    assert found == [b"0", b"1", b"2"]
    assert refused.hits == 2
