"""Topics that change while nodes are killed: they grow, are deleted and made anew, are cut short, and are compacted.

Each topic has a writer of its own and a promise. What a writer was told is acknowledged has to be there in the end,
unless the topic's own change took it away; what was told to be deleted never comes back.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

from ottla.base.ids import Uuid
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.clients.client import confluent
from tests.kafka.wire import Wire
from tests.torture.ending import PATIENCE_SECONDS, admin_client
from tests.torture.own_producer import OwnProducer

Place = tuple[int, int]
"""Partition and offset."""
_ASK_SECONDS = 10
_DELIVERY_SECONDS = 240
"""Nodes that are killed together take their time to come back on a busy machine."""
_METADATA_VERSION = 12
_SMALL = {"segment.ms": "1000", "min.insync.replicas": "2"}


class Subject:
    """A topic, and a thread that writes to it and changes it from the beginning of a block to its end."""

    name: str
    config: Mapping[str, str] = {}
    is_compacted = False
    """Each replica for itself, so that they need not be the same."""
    is_reborn = False
    """Whether its offsets may begin anew."""

    def __init__(self, bootstrap: str, events: Counter[str]) -> None:
        self._bootstrap = bootstrap
        self._events = events
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name)
        self._admin: AdminClient = admin_client(bootstrap)
        self._number = 0
        self._is_finished = False
        self.acknowledged: dict[tuple[int, int], bytes] = {}
        """Values by partition and offset."""
        self._implied: list[tuple[int, bytes]] = []
        """Acknowledged values whose offset was not told, with their partitions."""
        self.complaints: list[str] = []
        self.found: dict[Place, bytes] = {}
        """What was there in the end."""
        self._create()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def _create(self) -> None:
        wanted = NewTopic(self.name, 2, 3, config={**_SMALL, **self.config})
        self._insist(lambda: self._admin.create_topics([wanted], request_timeout=_ASK_SECONDS)[self.name].result())

    def _run(self) -> None:
        producer = self._producer()
        turn = 0
        while not self._stopping.is_set():
            self._write(producer)
            turn += 1
            if turn % 10 == 0:
                producer = self._turn(producer)
            self._stopping.wait(0.05)
        self._flush(producer)
        self._is_finished = True

    def _turn(self, producer: Producer) -> Producer:
        """Changes the topic; with whom to go on."""
        try:
            self._change()
        except KafkaException as error:
            self._events[f"changes of {self.name} that failed: {error.args[0].name()}"] += 1
        else:
            self._events[f"changes of {self.name}"] += 1
        return producer

    def _change(self) -> None:
        raise NotImplementedError

    def _producer(self) -> Producer:
        return confluent.producer(
            self._bootstrap,
            enable_idempotence=True,
            linger_ms=5,
            message_timeout_ms=_DELIVERY_SECONDS * 1000,
            retry_backoff_max_ms=200,
            reconnect_backoff_max_ms=200,
        )

    def _write(self, producer: Producer) -> None:
        for _ in range(20):
            value = b"%s/%09d/" % (self.name.encode(), self._number) + bytes(300)
            producer.produce(self.name, value, key=b"%d" % (self._number % 7), on_delivery=self._delivered)
            self._number += 1
        producer.poll(0)

    def _flush(self, producer: Producer) -> None:
        if producer.flush(_DELIVERY_SECONDS + PATIENCE_SECONDS):
            self.complaints.append(f"{self.name}: {len(producer)} records were never acknowledged")

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self.complaints.append(f"{self.name}: {error}")
            return
        if message.offset() is None:
            # librdkafka concludes from a later batch's success that one whose answer got lost is there, too.
            self._implied.append((message.partition(), message.value()))
            return
        place = message.partition(), message.offset()
        before = self.acknowledged.setdefault(place, message.value())
        if before != message.value():
            self.complaints.append(f"{self.name}: {place} was given to {before[:20]!r} and {message.value()[:20]!r}")

    def _insist(self, ask: Callable[[], Any]) -> Any:
        """Asks until there is an answer; a topic that is there already, or gone, is one."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return ask()
            except KafkaException as error:
                if error.args[0].code() in (KafkaError.TOPIC_ALREADY_EXISTS, KafkaError.UNKNOWN_TOPIC_OR_PART):
                    return None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    # The end

    def check(self) -> Iterator[str]:
        """What is wrong with it when everything is over."""
        yield from self.complaints
        if not self._is_finished or not self._number:
            yield f"{self.name}: the writer ended early"
        found = self.found = self._read_all()
        yield from self._check_values(found)
        numbers = [value for _, value in sorted(found.items())]
        if len(numbers) != len(set(numbers)):
            yield f"{self.name}: some of {len(numbers)} values are there twice"
        for partition in {place[0] for place in found}:
            of_it = [value for place, value in sorted(found.items()) if place[0] == partition]
            if of_it != sorted(of_it):
                yield f"{self.name}-{partition}: not in the order of sending"

    def _check_values(self, found: dict[tuple[int, int], bytes]) -> Iterator[str]:
        starts = self._starts()
        wrong = [
            (place, value[:20])
            for place, value in self.acknowledged.items()
            if place[1] >= starts.get(place[0], 0) and found.get(place) != value
        ]
        whole = {partition for partition, start in starts.items() if not start}
        there = {(partition, value) for (partition, _), value in found.items()}
        wrong += [
            ((partition, -1), value[:20])
            for partition, value in self._implied
            if partition in whole and (partition, value) not in there
        ]
        if wrong:
            yield f"{self.name}: acknowledged and not there: {wrong[:3]} of {len(wrong)}"

    def _starts(self) -> dict[int, int]:
        """Where the logs begin."""
        partitions = self._insist(lambda: self._admin.list_topics(self.name, _ASK_SECONDS)).topics[self.name].partitions
        asked = {TopicPartition(self.name, index): OffsetSpec.earliest() for index in partitions}
        answers = self._admin.list_offsets(asked, request_timeout=_ASK_SECONDS)
        found = {place.partition: int(answer.result().offset) for place, answer in answers.items()}
        # Of a partition that just has no leader the library says nothing.
        return {index: start for index, start in found.items() if start >= 0}

    def _read_all(self) -> dict[tuple[int, int], bytes]:
        """Values by partition and offset."""
        client = confluent.consumer(self._bootstrap, enable_partition_eof=True, auto_offset_reset="error")
        starts = self._insist(self._starts)
        client.assign([TopicPartition(self.name, index, start) for index, start in starts.items()])
        found: dict[tuple[int, int], bytes] = {}
        unread = set(starts)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while unread:
            assert time.monotonic() < deadline, f"{self.name}: {unread} could not be read to the end"
            for message in client.consume(10_000, timeout=0.1):
                if message.error() is None:
                    found[message.partition(), message.offset()] = message.value()
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    unread.discard(message.partition())
        client.close()
        return found


def topic_id(address: str, name: str) -> Uuid | None:
    """The id by which a broker knows a topic; None if it knows none, or does not answer."""
    host, _, port = address.partition(":")
    try:
        with Wire((host, int(port)), timeout=_ASK_SECONDS) as wire:
            answer = wire.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), _METADATA_VERSION)
    except OSError:
        return None
    assert isinstance(answer, MetadataResponse)
    return None if answer.topics[0].error_code else answer.topics[0].topic_id


class Grown(Subject):
    """Gets more and more partitions."""

    name = "grown"
    _PARTITIONS_MAX = 12

    def _change(self) -> None:
        there = len(self._admin.list_topics(self.name, _ASK_SECONDS).topics[self.name].partitions)
        if there < self._PARTITIONS_MAX:
            wanted = NewPartitions(self.name, there + 1)
            self._admin.create_partitions([wanted], request_timeout=_ASK_SECONDS)[self.name].result()


class Reborn(Subject):
    """Is deleted and made anew by the same name: nothing of the old one may come back.

    A producer of librdkafka 2.16 that has seen the old topic never finds the leaders of the new one as long as their
    epochs are lower: it ignores that metadata as outdated, on Apache Kafka as well. Each topic gets a producer of its
    own, for which no broker may still name the old topic: one that was frozen, or starts, might.
    """

    name = "reborn"
    is_reborn = True
    _first = 0

    def __init__(self, bootstrap: str, events: Counter[str]) -> None:
        super().__init__(bootstrap, events)
        self._id = self._await_other_than(Uuid(bytes(16)))

    def _turn(self, producer: Producer) -> Producer:
        self._flush(producer)
        self._insist(lambda: self._admin.delete_topics([self.name], request_timeout=_ASK_SECONDS)[self.name].result())
        self._events["topics that were deleted and made anew"] += 1
        self._create()
        self._id = self._await_other_than(self._id)
        self.acknowledged.clear()
        self._implied.clear()
        self._first = self._number
        return self._producer()

    def _await_other_than(self, old: Uuid) -> Uuid:
        """The topic's id when each broker names it, and none the old one any more."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            ids = {topic_id(address, self.name) for address in self._bootstrap.split(",")}
            if len(ids) == 1 and not ids & {old, None}:
                return next(one for one in ids if one is not None)
            assert time.monotonic() < deadline, f"{self.name}: brokers name {ids}, the old topic was {old}"
            time.sleep(0.1)

    def _check_values(self, found: dict[tuple[int, int], bytes]) -> Iterator[str]:
        yield from super()._check_values(found)
        old = [place for place, value in found.items() if int(value.split(b"/")[1]) < self._first]
        if old:
            yield f"{self.name}: records of the deleted topic at {old[:3]}"


class Cut(Subject):
    """Loses its beginning, again and again; what was told to be deleted stays so."""

    name = "cut"

    def __init__(self, bootstrap: str, events: Counter[str]) -> None:
        self._deleted: dict[int, int] = {}
        super().__init__(bootstrap, events)

    def _change(self) -> None:
        self._look(self._starts())
        for partition in (0, 1):
            ends = [offset for index, offset in list(self.acknowledged) if index == partition]
            if ends:
                place = TopicPartition(self.name, partition, max(ends) // 2)
                [answer] = self._admin.delete_records([place], request_timeout=_ASK_SECONDS).values()
                self._deleted[partition] = max(self._deleted.get(partition, 0), answer.result().low_watermark)

    def _look(self, starts: dict[int, int]) -> None:
        for partition, start in starts.items():
            if start < self._deleted.get(partition, 0):
                text = f"{self.name}-{partition} begins at {start}, deleted up to {self._deleted[partition]}"
                self.complaints.append(text)

    def check(self) -> Iterator[str]:
        """The beginning, too."""
        self._look(self._insist(self._starts))
        yield from super().check()


class Expired(Subject):
    """Keeps a segment or two only."""

    name = "expired"
    config: Mapping[str, str] = {"retention.bytes": "65536"}

    def _change(self) -> None:
        """Retention does."""


class Compacted(Subject):
    """Keeps the last value of each key, and perhaps others."""

    name = "compacted"
    is_compacted = True
    config: Mapping[str, str] = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "max.compaction.lag.ms": "1000",
        "delete.retention.ms": "0",
    }

    def _change(self) -> None:
        """The cleaner does."""

    def _check_values(self, found: dict[tuple[int, int], bytes]) -> Iterator[str]:
        moved = [place for place, value in found.items() if self.acknowledged.get(place, value) != value]
        if moved:
            yield f"{self.name}: other values than acknowledged at {moved[:3]}"
        last: dict[int, bytes] = {}
        there = {int(value.split(b"/")[1]) for value in found.values()}
        for value in self.acknowledged.values():
            number = int(value.split(b"/")[1])
            last[number % 7] = max(last.get(number % 7, b""), value)
        for key, value in last.items():
            number = int(value.split(b"/")[1])
            if number not in there:
                yield f"{self.name}: the last value of key {key}, {number}, is gone"
        if len(found) == len(self.acknowledged) > 2_000:
            yield f"{self.name}: nothing was compacted"


class OwnGrown(Grown):
    """Gets more and more partitions, and is written by a producer of ours."""

    name = "own-grown"

    def _producer(self) -> Any:
        return OwnProducer(self._bootstrap)


class OwnReborn(Reborn):
    """Is deleted and made anew, and written by one producer of ours all the time."""

    name = "own-reborn"

    @cached_property
    def _only(self) -> OwnProducer:
        return OwnProducer(self._bootstrap)

    def _producer(self) -> Any:
        return self._only


SUBJECTS: tuple[type[Subject], ...] = (Grown, Reborn, Cut, Expired, Compacted, OwnGrown, OwnReborn)
