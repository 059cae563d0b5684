"""Consumers of `ottla.client` that read topics while these change: partitions come, logs lose their beginnings."""

import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Final, Self

from ottla.base.errors import OttlaError
from ottla.client import Consumer, TopicPartition
from tests.torture.change import Place, Subject
from tests.torture.ending import PATIENCE_SECONDS

_SETTINGS: Final = {
    "auto.offset.reset": "earliest",
    "metadata.max.age.ms": 1_000,
    "request.timeout.ms": 5_000,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.max.ms": 200,
    "max.partition.fetch.bytes": 20_000,
}


class Watcher:
    """The only member of a group, from the beginning of a block to its end; then `check` tells what is wrong."""

    def __init__(self, bootstrap: str, protocol: str, subjects: list[Subject], events: Counter[str]) -> None:
        self.seen: Final[dict[str, dict[Place, bytes]]] = defaultdict(dict)
        """By topic: values by partition and offset."""
        self._name: Final = f"watcher-{protocol}"
        self._settings: Final = {**_SETTINGS, "bootstrap.servers": bootstrap, "group.id": self._name}
        self._settings["group.protocol"] = protocol
        self._subjects: Final = subjects
        self._events: Final = events
        self.complaints: Final[list[str]] = []
        self._last: Final[dict[TopicPartition, int]] = {}
        self._stopping: Final = threading.Event()
        self._thread: Final = threading.Thread(target=self._run, name=self._name)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        names = "|".join(subject.name for subject in self._subjects)
        with Consumer(self._settings) as consumer:
            consumer.subscribe(pattern=re.compile(names), on_assigned=self._assigned)
            while not self._stopping.is_set():
                self._poll(consumer)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while behind := self._behind(consumer):
                if time.monotonic() > deadline:
                    self.complaints.append(f"{self._name} stays behind: {behind}")
                    break
                self._poll(consumer)

    def _assigned(self, _: Consumer, partitions: Collection[TopicPartition]) -> None:
        for partition in partitions:
            # It goes on from what was committed, perhaps some records back.
            self._last.pop(partition, None)

    def _poll(self, consumer: Consumer) -> None:
        try:
            records = consumer.poll(0.2)
        except OttlaError as error:
            # It goes on with the next call, whatever it was.
            self._events[f"{self._name}: {type(error).__name__}"] += 1
            time.sleep(0.1)
            return
        for record in records:
            place, topic = (record.partition, record.offset), TopicPartition(record.topic, record.partition)
            self.seen[record.topic][place] = record.value
            if record.offset <= self._last.get(topic, -1) and not self._is_reborn(record.topic):
                self.complaints.append(f"{self._name}: {topic} {place} after {self._last[topic]}")
            self._last[topic] = record.offset

    def _is_reborn(self, topic: str) -> bool:
        return any(subject.is_reborn for subject in self._subjects if subject.name == topic)

    def _behind(self, consumer: Consumer) -> object:
        try:
            there = {
                name: len(consumer.partitions_for(name, 10).partitions)
                for name in [subject.name for subject in self._subjects]
            }
            owned = consumer.assignment()
            ends = consumer.end_offsets(owned, 10)
            late = {str(place): end for place, end in ends.items() if consumer.position(place, 10) < end}
        except OttlaError as error:
            return error
        missing = sum(there.values()) - len(owned)
        return late or (f"{missing} partitions are not assigned" if missing else None)

    def check(self, subject: Subject, found: dict[Place, bytes]) -> Iterator[str]:
        """What a topic's reader has missed, or seen otherwise, of what was there in the end."""
        seen = self.seen[subject.name]
        if subject.is_reborn:
            # A position of the old topic may lie in the middle of the new one.
            return
        wrong = [place for place, value in found.items() if place in seen and seen[place] != value]
        missed = [place for place in found if place not in seen]
        if wrong:
            yield f"{self._name} saw something else at {wrong[:3]} of {subject.name} ({len(wrong)})"
        if missed:
            yield f"{self._name} went past {missed[:3]} of {subject.name} ({len(missed)} of {len(found)})"
