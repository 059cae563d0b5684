"""The offsets of a source connector, in the form and the topics of Kafka Connect.

Read once when a task starts, written by the task's producer: in the transaction of the records where there is one,
behind the records otherwise. Partitions of the source are told apart by their values, and written under the key that
is there already: Kafka's workers order the fields of a partition in their own way.
"""

import json
import time
from collections.abc import Mapping
from typing import Final

from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.append import OnDelivery
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition
from ottla.connect.connector import Offset, Partition
from ottla.connect.errors import DataError
from ottla.connect.offset_record import decode, encode
from ottla.connect.transaction import TransactionContext
from ottla.pipelines.connect.client_setting import consumer_settings, of_the_worker
from ottla.pipelines.connect.definition import TaskJob
from ottla.pipelines.connect.topic_maker import offset_topics

_POLL_S: Final = 1.0


class OffsetStore:
    """`SourceContext`: what is stored, and what is to be stored next."""

    def __init__(self, job: TaskJob, transaction: TransactionContext | None = None, *, is_workers: bool = True) -> None:
        """`is_workers` is whether the worker's own clients read and write the worker's topic, as Kafka's do."""
        self.transaction: Final = transaction
        self._name: Final = job.name
        self._topics: Final = offset_topics(job.config, job.worker)
        self._stored: Final[dict[str, dict[str, object]]] = {}
        self._keys: Final[dict[str, bytes]] = {}
        self._next: dict[str, tuple[Partition, Offset]] = {}
        self._last: tuple[Partition, str] = ({}, _known_by({}))
        shared, *own = self._topics
        self._read(shared, job, of_the_worker(job.config) if is_workers else job.config)
        for topic in own:
            self._read(topic, job, job.config)

    def now_ms(self) -> int:
        """`SourceContext`: the time."""
        return time.time_ns() // 1_000_000

    def offset(self, partition: Partition) -> Offset | None:
        """The stored offset of a partition of the source."""
        return self._stored.get(_known_by(partition))

    def reached(self, partition: Partition, offset: Offset) -> None:
        """All before this offset was sent."""
        # Fast path: the partition of the record before, which nearly every record has.
        if partition != self._last[0]:
            self._last = (dict(partition), _known_by(partition))
        self._next[self._last[1]] = (partition, offset)

    @property
    def has_news(self) -> bool:
        """Whether an offset was reached since the last `write`."""
        return bool(self._next)

    def write(self, producer: Producer, on_delivery: OnDelivery | None) -> None:
        """Sends what was reached."""
        reached, self._next = self._next, {}
        for known, (partition, offset) in reached.items():
            key, value = encode(self._name, partition, offset)
            self._stored[known] = dict(offset)
            producer.send(self._topics[-1], value, self._keys.setdefault(known, key), on_delivery=on_delivery)

    def _read(self, topic: str, job: TaskJob, config: Mapping[str, str]) -> None:
        own = {"isolation.level": "read_committed", "client.id": f"connector-offsets-{job.name}-{job.number}"}
        settings = {**consumer_settings(config, job.worker, job.number), **own}
        del settings["group.id"]
        with Consumer(settings) as consumer:
            partitions = [TopicPartition(topic, number) for number in consumer.partitions_for(topic).partitions]
            consumer.assign(partitions)
            consumer.seek_to_beginning(partitions)
            ends = consumer.end_offsets(partitions)
            while any(consumer.position(part) < end for part, end in ends.items()):
                for record in consumer.poll(_POLL_S):
                    self._take(record.key, record.value)

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        try:
            found = decode(key or b"", value)
        except DataError:
            # Somebody else's record; Kafka leaves it aside, too.
            return
        if found.connector != self._name:
            return
        known = _known_by(found.partition)
        self._keys[known] = key or b""
        if found.offset is None:
            self._stored.pop(known, None)
        else:
            self._stored[known] = found.offset


def _known_by(partition: Mapping[str, object]) -> str:
    return json.dumps(partition, sort_keys=True)
