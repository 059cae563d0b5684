"""Micro-batches as Spark's engine asks for them, without the engine: where they begin and end, and what they hold."""

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import confluent_kafka
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError
from ottla.protocol.errors import TopicAlreadyExistsError
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.streaming.datasource import ReadAllAvailable

from ottla.pipelines.source.data_loss import DataLossError
from ottla.pipelines.source.data_source import OttlaDataSource
from ottla.pipelines.source.stream_reader import OttlaStreamReader

Write = Callable[..., None]


class Engine:
    """What Spark does with a stream reader: one batch at a time, offsets written down as JSON between them."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self.offset: Any = None
        self.restart()

    def restart(self, **options: object) -> None:
        """Ends the query and starts it again from what was written down."""
        self._options.update({name: str(value) for name, value in options.items()})
        source = OttlaDataSource(CaseInsensitiveDict(self._options))
        self.reader: OttlaStreamReader = source.streamReader(source.schema())

    def plan(self) -> Any:
        """Where the next batch ends."""
        if self.offset is None:
            assert self.reader.initialOffset() == self.reader.initialOffset()
            self.offset = self.reader.initialOffset()
        return json.loads(json.dumps(self.reader.latestOffset(self.offset, self.reader.getDefaultReadLimit())))

    def run(self, end: Any) -> list[bytes]:
        """The values of a batch that was planned, in the order of partitions."""
        tasks = self.reader.partitions(self.offset, end)
        rows = [row["value"] for task in tasks for batch in self.reader.read(task) for row in batch.to_pylist()]
        self.offset = end
        return rows

    def batch(self) -> list[bytes]:
        """Plans and runs the next batch."""
        return self.run(self.plan())


@pytest.fixture
def engine(broker: Server) -> Callable[..., Engine]:
    """A stream with some options."""

    def start(**options: object) -> Engine:
        texts = {name: str(value) for name, value in options.items()}
        return Engine({"kafka.bootstrap.servers": broker.bootstrap, "startingOffsets": "earliest", **texts})

    return start


@pytest.fixture
def write(broker: Server) -> Write:
    """Writes values to one partition."""
    # One request at a time: a topic that has just been made anew may refuse one, and what is sent again comes later.
    settings = {"bootstrap.servers": broker.bootstrap, "linger.ms": 0, "max.in.flight.requests.per.connection": 1}
    producer = confluent_kafka.Producer(settings)

    def send(topic: str, values: Iterable[bytes], partition: int = 0) -> None:
        for value in values:
            producer.produce(topic, value, partition=partition)
        assert not producer.flush(120)

    return send


def numbers(*span: int) -> list[bytes]:
    return [b"%d" % number for number in range(*span)]


def test_a_stream_goes_on_where_it_stopped(topic: CreateTopic, engine: Callable[..., Engine], write: Write) -> None:
    name = topic(partitions=2)
    stream = engine(subscribe=name)
    assert stream.batch() == []
    write(name, numbers(3))
    write(name, numbers(10, 12), 1)
    assert stream.batch() == [*numbers(3), *numbers(10, 12)]
    assert stream.offset == {name: {"0": 3, "1": 2}}
    assert stream.batch() == []
    write(name, numbers(3, 5))
    stream.restart(startingOffsets="latest")
    assert stream.batch() == numbers(3, 5)
    assert stream.reader.reportLatestOffset() == {name: {"0": 5, "1": 2}}


def test_a_batch_that_is_run_again_is_the_same(topic: CreateTopic, engine: Callable[..., Engine], write: Write) -> None:
    name = topic()
    write(name, numbers(5))
    stream = engine(subscribe=name)
    end, start = stream.plan(), stream.offset
    write(name, numbers(5, 9))
    assert stream.run(end) == numbers(5)
    stream.offset = start
    stream.restart()
    assert stream.run(end) == numbers(5)


def test_latest_is_the_default(topic: CreateTopic, broker: Server, write: Write) -> None:
    name = topic()
    write(name, numbers(5))
    stream = Engine({"kafka.bootstrap.servers": broker.bootstrap, "subscribe": name})
    assert stream.batch() == []
    write(name, numbers(5, 7))
    assert stream.batch() == numbers(5, 7)


def test_a_stream_starts_at_offsets_and_times(topic: CreateTopic, engine: Callable[..., Engine], write: Write) -> None:
    name = topic()
    write(name, numbers(5))
    assert engine(subscribe=name, startingOffsets=json.dumps({name: {"0": 3}})).batch() == numbers(3, 5)
    assert engine(subscribe=name, startingTimestamp=1).batch() == numbers(5)
    future = {"startingTimestamp": 2**41, "startingOffsetsByTimestampStrategy": "latest"}
    assert engine(subscribe=name, **future).batch() == []
    with pytest.raises(OptionError, match="startingTimestamp"):
        engine(subscribe=name, startingTimestamp=2**41).batch()


def test_batches_take_in_no_more_than_admitted(topic: CreateTopic, engine: Callable[..., Engine], write: Write) -> None:
    name = topic(partitions=2)
    write(name, numbers(90), 0)
    write(name, numbers(100, 110), 1)
    stream = engine(subscribe=name, maxOffsetsPerTrigger=20)
    # Half of the 20 is shared alike, the rest by what waits.
    assert stream.batch() == [*numbers(15), *numbers(100, 105)]
    assert stream.batch() == [*numbers(15, 30), *numbers(105, 110)]
    # What runs once reads all, whatever the options say.
    everything = stream.reader.latestOffset(stream.offset, ReadAllAvailable())
    assert everything == {name: {"0": 90, "1": 10}}


def test_small_batches_wait(topic: CreateTopic, engine: Callable[..., Engine], write: Write) -> None:
    name = topic()
    write(name, numbers(1))
    stream = engine(subscribe=name, minOffsetsPerTrigger=10, maxTriggerDelay="1h")
    assert stream.batch() == numbers(1), "the first batch never waits"
    write(name, numbers(1, 10))
    assert stream.batch() == []
    write(name, numbers(10, 11))
    assert stream.batch() == numbers(1, 11)
    impatient = engine(subscribe=name, minOffsetsPerTrigger=100, maxTriggerDelay="1ms")
    assert len(impatient.batch()) == 11
    write(name, numbers(11, 12))
    time.sleep(0.01)
    assert impatient.batch() == numbers(11, 12)


def test_available_now_ends_where_the_topic_ended(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write
) -> None:
    name = topic()
    write(name, numbers(10))
    stream = engine(subscribe=name, maxOffsetsPerTrigger=6, minOffsetsPerTrigger=6)
    stream.reader.prepareForTriggerAvailableNow()
    assert stream.batch() == numbers(6)
    write(name, numbers(10, 20))
    assert stream.batch() == numbers(6, 10)
    assert stream.plan() == stream.offset


@pytest.mark.parametrize("is_made_anew", [False, True], ids=["deleted", "made anew"])
def test_available_now_ends_without_a_topic_that_goes_meanwhile(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write, admin: Admin, *, is_made_anew: bool
) -> None:
    name, other = topic(), topic()
    write(name, numbers(8))
    write(other, numbers(100, 108))
    stream = engine(subscribe=f"{name},{other}", maxOffsetsPerTrigger=8, failOnDataLoss=False)
    stream.reader.prepareForTriggerAvailableNow()
    assert sorted(stream.batch()) == sorted(numbers(4) + numbers(100, 104))
    admin.delete_topics([name])
    _until(lambda: name not in admin.list_topics())
    if is_made_anew:
        _create_again(topic, name)
        write(name, [b"new"])
    found = []
    while (end := stream.plan()) != stream.offset:
        found += stream.run(end)
    assert sorted(found) == sorted(numbers(104, 108) + [b"new"] * is_made_anew)


def test_new_partitions_and_topics(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write, admin: Admin
) -> None:
    first = topic(partitions=1)
    stream = engine(subscribePattern=f"{first}.*", startingOffsets="latest")
    assert stream.batch() == []
    second = topic(name=f"{first}-more")
    admin.create_partitions({first: 2})
    write(first, [b"second partition"], 1)
    write(second, [b"second topic"])
    # Where the query began has no say in what came later: that is read from its beginning.
    found = []
    for _ in range(50):
        found += stream.batch()
        if len(found) == 2:
            break
        time.sleep(0.05)
    assert sorted(found) == [b"second partition", b"second topic"]


def test_new_partitions_are_looked_for_as_often_as_asked(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write, admin: Admin
) -> None:
    name = topic()
    known = engine(subscribe=name, **{"partition.metadata.cache.ttl.ms": 3_600_000})
    assert known.batch() == []
    admin.create_partitions({name: 2})
    write(name, [b"old partition"], 0)
    write(name, [b"new partition"], 1)
    assert known.batch() == [b"old partition"]
    known.restart()
    assert known.batch() == [b"new partition"]


def test_a_deleted_topic(topic: CreateTopic, engine: Callable[..., Engine], write: Write, admin: Admin) -> None:
    name, other = topic(), topic()
    write(name, numbers(5))
    write(other, [b"first"])
    strict, lenient = engine(subscribe=f"{name},{other}"), engine(subscribe=f"{name},{other}", failOnDataLoss=False)
    assert sorted(strict.batch()) == sorted(lenient.batch()) == [*numbers(5), b"first"]
    admin.delete_topics([name])
    _until(lambda: name not in admin.list_topics())
    write(other, [b"second"])
    with pytest.raises(DataLossError, match=f"{name}-0 was deleted.*failOnDataLoss"):
        strict.batch()
    assert lenient.batch() == []
    assert lenient.offset == {other: {"0": 1}}
    assert lenient.batch() == [b"second"]
    _create_again(topic, name)
    write(name, numbers(7))
    assert lenient.batch() == numbers(7)


@pytest.mark.parametrize("count", [3, 5, 8], ids=["less", "as much", "more"])
def test_a_topic_made_anew(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write, admin: Admin, count: int
) -> None:
    """With less, as much or more in it than was read of the old one."""
    name = topic()
    write(name, numbers(5))
    strict, lenient = engine(subscribe=name), engine(subscribe=name, failOnDataLoss=False)
    for stream in (strict, lenient):
        assert stream.batch() == numbers(5)
        assert stream.batch() == []
    admin.delete_topics([name])
    _create_again(topic, name)
    write(name, numbers(100, 100 + count))
    with pytest.raises(DataLossError, match=f"{name}-0 was made anew"):
        strict.batch()
    assert lenient.batch() == []
    assert lenient.offset == {name: {"0": 0}}
    assert lenient.batch() == numbers(100, 100 + count)
    assert lenient.batch() == []


def test_records_deleted_before_they_were_read(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write, admin: Admin
) -> None:
    name = topic()
    stream = engine(subscribe=name)
    assert stream.batch() == []
    write(name, numbers(10))
    admin.delete_records({TopicPartition(name, 0): 4})
    end = stream.plan()
    with pytest.raises(DataLossError, match="begins at 4: 0 is gone"):
        stream.run(end)
    stream.restart(failOnDataLoss=False)
    assert stream.run(end) == numbers(4, 10)


def test_finished_batches_are_committed_to_the_group(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write, admin: Admin
) -> None:
    name = topic()
    write(name, numbers(5))
    stream = engine(subscribe=name, **{"group.id": f"group-{name}"})

    def committed() -> dict[int, int]:
        found = admin.list_consumer_group_offsets({f"group-{name}": None})[f"group-{name}"]
        return {part.partition: position.offset for part, position in found.items() if position is not None}

    end = stream.plan()
    assert committed() == {0: 0}, "a batch that is planned is not finished"
    stream.run(end)
    assert stream.plan() == end
    assert committed() == {0: 5}


def test_a_group_that_lives(topic: CreateTopic, engine: Callable[..., Engine], broker: Server, write: Write) -> None:
    name = topic()
    write(name, numbers(1))
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": name, "auto.offset.reset": "earliest"}
    consumer = confluent_kafka.Consumer(settings)
    consumer.subscribe([name])
    assert consumer.poll(30) is not None
    with pytest.raises(OptionError, match=r"option 'group\.id': offsets can't be committed"):
        engine(subscribe=name, **{"group.id": name}).batch()
    consumer.close()


def test_open_transactions_are_waited_for(topic: CreateTopic, engine: Callable[..., Engine], broker: Server) -> None:
    name = topic()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"one")
    producer.flush(30)
    stream = engine(subscribe=name)
    assert stream.batch() == []
    producer.commit_transaction(30)
    found: list[bytes] = []
    _until(lambda: bool(found.extend(stream.batch()) or found))
    assert found == [b"one"]


def test_a_broker_that_comes_back(
    topic: CreateTopic, engine: Callable[..., Engine], write: Write, broker: Server
) -> None:
    name = topic()
    write(name, numbers(5))
    stream = engine(subscribe=name)
    assert stream.batch() == numbers(5)
    broker.kill()
    broker.start()
    write(name, numbers(5, 8))
    assert stream.batch() == numbers(5, 8)


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")


def _create_again(topic: CreateTopic, name: str) -> None:
    """A topic of the same name as soon as the old one is gone."""

    def is_made() -> bool:
        try:
            topic(name=name)
        except TopicAlreadyExistsError:
            return False
        return True

    _until(is_made)
