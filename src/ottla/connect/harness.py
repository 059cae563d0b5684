"""Connectors under test, without Kafka and without Spark: the same converters, transforms and errors, in one process.

Waiting is counted and not done. A harness is restarted as a task is after a crash: from what was stored.

    source = SourceHarness({"connector.class": "FileStreamSource", "file": "a.txt", "topic": "lines"})
    assert [record.value for record in source.poll()] == [b"first line"]
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from ottla.connect.connector import Offset, Partition, SinkConnector, SourceConnector
from ottla.connect.errors import ConnectError, RetriableError
from ottla.connect.offset_record import encode
from ottla.connect.pipeline.dead_letter import ConsumerRecord, DeadLetter, Headers, ProducerRecord
from ottla.connect.pipeline.record_pipeline import Dropped, RecordPipeline
from ottla.connect.plugin import Plugins
from ottla.connect.record import SinkRecord
from ottla.connect.transaction import TransactionContext

WORKER: Final = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}
_ATTEMPTS_MAX: Final = 10
_RETRY_MS: Final = 300
_BEGIN_MS: Final = 1_700_000_000_000
"""The moment at which every test begins."""


class CountedPause:
    """A clock that advances only when something waits."""

    def __init__(self) -> None:
        self.waited_ms = 0

    def now_ms(self) -> int:
        """The sum of all waits so far."""
        return self.waited_ms

    def wait_ms(self, delay_ms: int) -> bool:
        """Advances the clock, without waiting."""
        self.waited_ms += max(1, delay_ms)
        return True


class _Offsets:
    def __init__(self, pause: CountedPause) -> None:
        self._pause: Final = pause
        self.stored: Final[dict[str, dict[str, object]]] = {}
        self.transaction: Final = TransactionContext()

    def now_ms(self) -> int:
        return _BEGIN_MS + self._pause.now_ms()

    def offset(self, partition: Partition) -> Offset | None:
        return self.stored.get(json.dumps(partition, sort_keys=True))

    def store(self, partition: Partition, offset: Offset) -> None:
        self.stored[json.dumps(partition, sort_keys=True)] = dict(offset)


class SourceHarness:
    """The first task of a source connector."""

    def __init__(
        self, settings: Mapping[str, str], worker: Mapping[str, str] = WORKER, plugins: Plugins | None = None
    ) -> None:
        self._settings: Final = {"name": "tested", **settings}
        self._worker: Final = worker
        self._plugins: Final = plugins or Plugins()
        self.pause: Final = CountedPause()
        self._offsets: Final = _Offsets(self.pause)
        self.dead_letters: Final[list[ProducerRecord]] = []
        self._start()

    def poll(self) -> list[ProducerRecord]:
        """Polls once: the records as they go to topics. Keeps dead letters in `dead_letters`, and stores offsets."""
        made: list[ProducerRecord] = []
        try:
            polled = self._task.poll() or []
        except RetriableError:
            # The worker asks again after a while.
            return []
        for record in polled:
            outcome = self._pipeline.source(record)
            if isinstance(outcome, ProducerRecord):
                made.append(outcome)
            elif isinstance(outcome, DeadLetter):
                self.dead_letters.append(outcome.record)
            if record.source_partition is not None and record.source_offset is not None:
                # What no topic of offsets could hold is refused here, too.
                encode("tested", record.source_partition, record.source_offset)
                self._offsets.store(record.source_partition, record.source_offset)
        self._task.commit()
        return made

    def restart(self) -> None:
        """Ends the task and starts another from the stored offsets."""
        self._task.stop()
        self._start()

    def stop(self) -> None:
        """Ends the task."""
        self._task.stop()

    def _start(self) -> None:
        connector = self._plugins.connector(self._settings["connector.class"])
        if not isinstance(connector, SourceConnector):
            raise ConnectError(f"{self._settings['connector.class']} is no source")
        connector.start(self._settings)
        configs = connector.task_configs(int(self._settings.get("tasks.max", "1")))
        self._pipeline = RecordPipeline.of(self._settings, self._worker, 0, self.pause, self._plugins)
        self._task = connector.task_class()()
        self._task.start(self._offsets, configs[0])


class SinkHarness:
    """The first task of a sink connector."""

    def __init__(
        self, settings: Mapping[str, str], worker: Mapping[str, str] = WORKER, plugins: Plugins | None = None
    ) -> None:
        self._settings: Final = {"name": "tested", **settings}
        self._plugins: Final = plugins or Plugins()
        self.pause: Final = CountedPause()
        self.dead_letters: Final[list[ProducerRecord]] = []
        self._given: Final[dict[int, ConsumerRecord]] = {}
        self._next: Final[dict[tuple[str, int], int]] = {}
        self._pipeline: Final = RecordPipeline.of(self._settings, worker, 0, self.pause, self._plugins)
        connector = self._plugins.connector(self._settings["connector.class"])
        if not isinstance(connector, SinkConnector):
            raise ConnectError(f"{self._settings['connector.class']} is no sink")
        connector.start(self._settings)
        self._class_name: Final = f"{type(connector).__module__}.{type(connector).__qualname__}"
        self._task: Final = connector.task_class()()
        self._task.start(self, connector.task_configs(1)[0])

    def put(self, *values: bytes | None, topic: str = "topic", key: bytes | None = None, headers: Headers = ()) -> None:
        """Records of one partition with these values, then a flush."""
        start = self._next.get((topic, 0), 0)
        given = [
            ConsumerRecord(topic, 0, start + index, None, "CreateTime", key, value, headers)
            for index, value in enumerate(values)
        ]
        self.put_records(given)

    def put_records(self, given: Sequence[ConsumerRecord]) -> None:
        """These records, then a flush. A task that refuses them for now gets them again, ten times."""
        self._open(given)
        taken: list[SinkRecord] = []
        for record in given:
            outcome = self._pipeline.sink(record)
            if isinstance(outcome, SinkRecord):
                taken.append(outcome)
                self._given[id(outcome)] = record
            else:
                self._keep(outcome)
            self._next[record.topic, record.partition] = record.offset + 1
        self._deliver(taken)
        self._given.clear()
        self._task.flush(dict(self._next))

    def report(self, record: SinkRecord, error: BaseException) -> None:
        """Takes a record that the task gives up as a dead letter."""
        self._keep(self._pipeline.report(self._given[id(record)], error, self._class_name))

    def stop(self) -> None:
        """Ends the task; its partitions leave it before."""
        if self._next:
            self._task.close(sorted(self._next))
        self._task.stop()

    def _open(self, given: Sequence[ConsumerRecord]) -> None:
        fresh = {(record.topic, record.partition) for record in given} - self._next.keys()
        if fresh:
            self._task.open(sorted(fresh))

    def _deliver(self, taken: list[SinkRecord]) -> None:
        for attempt in range(_ATTEMPTS_MAX):
            try:
                self._task.put(taken)
                return
            except RetriableError:
                if attempt == _ATTEMPTS_MAX - 1:
                    raise
                self.pause.wait_ms(_RETRY_MS << attempt)

    def _keep(self, outcome: DeadLetter | Dropped) -> None:
        if isinstance(outcome, DeadLetter):
            self.dead_letters.append(outcome.record)
