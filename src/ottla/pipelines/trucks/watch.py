"""Looks at a run from outside, as any client could: what the pipeline wrote, how fast, and how far behind it is."""

import json
import threading
import time
from typing import Any, Final

from ottla.client import Admin, Consumer, TopicPartition
from ottla.pipelines.trucks.live_view import Progress, driver_name
from ottla.pipelines.trucks.pipeline import COUNTS, DANGEROUS, DRIVEN_TOPIC, POSITIONS, TOPICS, TruckPipeline

_LOOK_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.25
_QUERIES: Final = {POSITIONS: DANGEROUS, DANGEROUS: DRIVEN_TOPIC, DRIVEN_TOPIC: COUNTS}
"""Which query reads a topic: the one that writes this one."""

Ends = dict[TopicPartition, int]


class Watch:
    """Fills in `Progress` until it is told to stop."""

    def __init__(self, pipeline: TruckPipeline, progress: Progress, *, partitions: int, earlier: int) -> None:
        """`earlier` positions are not of this run."""
        self._pipeline: Final = pipeline
        self._progress: Final = progress
        self._earlier: Final = earlier
        self._places: Final = [TopicPartition(topic, number) for topic in TOPICS for number in range(partitions)]

    def run(self, ended: threading.Event) -> None:
        """Watches until `ended`; then looks once more, so that the summary is of the end."""
        servers = self._pipeline.bootstrap
        with (
            Consumer(bootstrap_servers=servers, isolation_level="read_committed") as consumer,
            Admin(bootstrap_servers=servers) as admin,
        ):
            # What goes in is counted by offsets; what comes out by records, since transactions take offsets, too.
            watched = [place for place in self._places if place.topic != POSITIONS]
            consumer.assign(watched)
            consumer.seek_to_end(watched)
            before, before_at = dict(self._progress.counted), time.monotonic()
            while True:
                is_last = ended.is_set()
                self._read(consumer)
                seconds = time.monotonic() - before_at
                if seconds >= _LOOK_SECONDS or is_last:
                    self._look(consumer, admin)
                    now = dict(self._progress.counted)
                    self._progress.rates.update({topic: (now[topic] - before[topic]) / seconds for topic in TOPICS})
                    before, before_at = now, time.monotonic()
                if is_last:
                    return

    def _read(self, consumer: Consumer) -> None:
        for record in consumer.poll(_POLL_SECONDS):
            self._progress.counted[record.topic] += 1
            row: dict[str, Any] = json.loads(record.value)
            if record.topic == DRIVEN_TOPIC:
                self._progress.saw(row)
            elif record.topic == COUNTS:
                self._progress.windows[driver_name(row)] += row["count"]

    def _look(self, consumer: Consumer, admin: Admin) -> None:
        ends = dict(consumer.end_offsets(self._places))
        positions = sum(offset for place, offset in ends.items() if place.topic == POSITIONS)
        self._progress.counted[POSITIONS] = positions - self._earlier
        for topic, target in _QUERIES.items():
            self._progress.lags[topic] = _lag(admin, self._pipeline.group(target), ends, topic)


def _lag(admin: Admin, group: str, ends: Ends, topic: str) -> int:
    """The number of records that a group has not read; all of them if it has committed nothing yet."""
    committed = admin.list_consumer_group_offsets({group: None})[group]
    read = {place: found.offset for place, found in committed.items() if found is not None}
    return sum(max(0, end - read.get(place, 0)) for place, end in ends.items() if place.topic == topic)
