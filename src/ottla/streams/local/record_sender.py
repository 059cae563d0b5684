"""Hands a task's outputs to the producer: at once where that takes no waiting, else when the loop drains them.

Records keep their order: once one has to wait, all behind it do. No future is kept per record, but the last one of
each changelog partition, whose offset says up to where a state has been logged.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.client.errors import RecordTooLargeError
from ottla.client.producer.append import SendFuture
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.record import TopicPartition
from ottla.streams.engine.endpoint import Write
from ottla.streams.engine.error_handler import DEAD_LETTER_TOPIC, ErrorContext, ErrorHandler, InputRecord, OutputRecord
from ottla.streams.engine.store.spec import LoggedChange
from ottla.streams.errors import ProcessingError
from ottla.streams.record import Headers

_Sent = tuple[OutputRecord, InputRecord | None, str]


class RecordSender:
    """The outputs of all tasks of a process."""

    def __init__(self, producer: AsyncProducer, configuration: Mapping[str, Any]) -> None:
        self._producer: Final = producer
        self._configuration: Final = configuration
        self._handler: Final[ErrorHandler | None] = configuration.get("production.exception.handler")
        self._waiting: Final[deque[_Sent]] = deque()
        self._logged: Final[dict[TopicPartition, SendFuture]] = {}
        self.failure: Exception | None = None
        """What was not delivered, unless the handler went on without it."""
        self.dropped_records = 0
        self.sent_records = 0
        if self._handler is None:
            producer.watch_failures(self._note)

    @property
    def is_behind(self) -> bool:
        """Whether records wait for buffer memory, or for metadata of a topic."""
        return bool(self._waiting)

    def send(self, record: OutputRecord, source: InputRecord | None, task_id: str) -> None:
        """Sends a record, or queues it behind those that wait."""
        self.sent_records += 1
        if self._waiting or self._handler is not None:
            self._waiting.append((record, source, task_id))
            return
        topic, key, value, timestamp, headers, partition = record
        if self._producer.send_now(topic, value, key, partition, timestamp, headers or None) is None:
            self._waiting.append((record, source, task_id))

    @property
    def asks_handler(self) -> bool:
        """Whether a handler gets each record that is not delivered, together with its source record."""
        return self._handler is not None

    def writer(self, topic: str, task_id: str) -> Write:
        """A function that sends records to one topic by their keys; only without a handler."""
        waiting, send_now = self._waiting, self._producer.send_now

        def write(key: bytes | None, value: bytes | None, timestamp: int, headers: Headers) -> None:
            self.sent_records += 1
            if waiting or send_now(topic, value, key, None, timestamp, headers or None) is None:
                waiting.append((OutputRecord(topic, key, value, timestamp, headers), None, task_id))

        return write

    def logger(self, place: TopicPartition) -> Callable[[LoggedChange], None]:
        """A function that sends a store's changes to a partition of its changelog; negative timestamps become 0."""
        waiting, logged, send_now = self._waiting, self._logged, self._producer.send_now
        topic, partition = place

        def log(change: LoggedChange) -> None:
            key, value, timestamp, headers = change
            timestamp = max(timestamp, 0)
            self.sent_records += 1
            if not waiting:
                future = send_now(topic, value, key, partition, timestamp, headers or None)
                if future is not None:
                    logged[place] = future
                    return
            waiting.append((OutputRecord(topic, key, value, timestamp, headers, partition), None, ""))

        return log

    async def drain(self) -> None:
        """Brings what waits to the producer; raises what was not delivered."""
        while self._waiting:
            record, source, task_id = self._waiting[0]
            await self._enqueue(record, source, task_id)
            self._waiting.popleft()
        self.check()

    def check(self) -> None:
        """Raises what was not delivered."""
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    async def flush(self) -> None:
        """Waits until all is acknowledged, dead letters of what was not included; raises what stops a task."""
        while True:
            await self.drain()
            await self._producer.flush()
            self.check()
            if not self._waiting:
                return

    def logged_offset(self, place: TopicPartition) -> int | None:
        """The offset behind the last record of a changelog partition, once it is flushed; None: none was written."""
        future = self._logged.get(place)
        return None if future is None else future.result(0).offset + 1

    def forget_changelog(self, place: TopicPartition) -> None:
        """The partition's task has gone."""
        self._logged.pop(place, None)

    async def _enqueue(self, record: OutputRecord, source: InputRecord | None, task_id: str) -> None:
        topic, key, value, timestamp, headers, partition = record
        told: Callable[[Any, Exception | None], None] | None = None
        if self._handler is not None:

            def told(_: Any, error: Exception | None) -> None:
                if error is not None:
                    self._refused(error, source, task_id, topic)

        try:
            future = await self._producer.enqueue(
                topic,
                value,
                key,
                partition=partition,
                timestamp_ms=timestamp,
                headers=headers or None,
                on_delivery=told,
            )
        except RecordTooLargeError as error:
            self._refused(error, source, task_id, topic)
            return
        if source is None and partition is not None and not task_id:
            self._logged[TopicPartition(topic, partition)] = future

    def _refused(self, error: Exception, source: InputRecord | None, task_id: str, topic: str) -> None:
        """Asks the production exception handler; without one the task stops."""
        letter_topic = self._configuration.get(DEAD_LETTER_TOPIC)
        if self._handler is not None and topic != letter_topic:
            response = self._handler(ErrorContext(source, topic, task_id, letter_topic), error)
            for letter in response.dead_letters:
                self.send(letter, source, task_id)
            if response.resumes:
                self.dropped_records += 1
                return
        failure = ProcessingError(f"a record for {topic} cannot be written: {error}")
        failure.__cause__ = error
        self._note(failure)

    def _note(self, error: Exception) -> None:
        self.failure = self.failure or error
