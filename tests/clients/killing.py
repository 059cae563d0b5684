"""A load that survives a server's death, and a journal of what the server had promised before it.

Every record carries a number that rises by one within its partition, so that losses, doubles and swaps are all seen.
"""

import threading
import time
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError, Producer

from tests.clients.client import confluent

_PATIENCE_SECONDS = 120
_IN_FLIGHT_MAX = 5_000


class Journal:
    """What was acknowledged: for each partition the number and the offset of records, in the order they were said."""

    def __init__(self, partitions: int) -> None:
        self.acknowledged: list[list[tuple[int, int]]] = [[] for _ in range(partitions)]
        self.failures: list[str] = []

    @property
    def count(self) -> int:
        """How many records were acknowledged."""
        return sum(map(len, self.acknowledged))

    def check(self, partition: int, found: list[tuple[int, int]], *, idempotent: bool) -> None:
        """Compares what is in a partition, as (offset, number), with what was promised about it."""
        assert not self.failures, self.failures[:3]
        assert [offset for offset, _ in found] == list(range(len(found))), "offsets have gaps"
        there = dict(found)
        wrong = [
            promise
            for promise in self.acknowledged[partition]
            if promise[1] >= 0 and there.get(promise[1]) != promise[0]
        ]
        assert not wrong, f"acknowledged and not there: (number, offset) {wrong[:5]} of {len(wrong)}"
        numbers = [number for _, number in found]
        missing = {number for number, _ in self.acknowledged[partition]} - set(numbers)
        assert not missing, f"lost: {sorted(missing)[:5]} of {len(missing)}"
        first_seen = list(dict.fromkeys(numbers))
        if idempotent:
            assert len(first_seen) == len(numbers), "doubled by an idempotent producer"
            assert first_seen == sorted(first_seen), "reordered"


class Load:
    """A producer in the background; leaving the block waits until everything sent is acknowledged."""

    def __init__(self, bootstrap: str, topic: str, journal: Journal, *, idempotent: bool) -> None:
        settings: dict[str, object] = {"enable_idempotence": True} if idempotent else {"acks": "1"}
        self._producer: Producer = confluent.producer(
            bootstrap,
            linger_ms=1,
            batch_num_messages=200,
            message_timeout_ms=_PATIENCE_SECONDS * 1_000,
            reconnect_backoff_max_ms=200,
            retry_backoff_max_ms=200,
            **settings,
        )
        self._topic = topic
        self._journal = journal
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
        if kind is None:
            assert self._producer.flush(_PATIENCE_SECONDS) == 0, "records were never acknowledged"
        else:
            self._producer.purge()

    def wait_for_acknowledged(self, more: int) -> None:
        """Returns once that many more records were acknowledged than now."""
        wanted = self._journal.count + more
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._journal.count < wanted:
            assert time.monotonic() < deadline, (
                f"{self._journal.count} of {wanted} acknowledged: {self._journal.failures[:3]}"
            )
            time.sleep(0.01)

    def _run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            for partition in range(len(self._journal.acknowledged)):
                value = b"%012d" % number + bytes(88)
                self._producer.produce(
                    self._topic, value, partition=partition, on_delivery=self._delivered(partition, number)
                )
            number += 1
            self._producer.poll(0.01 if len(self._producer) > _IN_FLIGHT_MAX else 0)

    def _delivered(self, partition: int, number: int) -> Any:
        def note(error: KafkaError | None, message: Any) -> None:
            if error is None:
                self._journal.acknowledged[partition].append((number, message.offset()))
            else:
                self._journal.failures.append(str(error))

        return note
