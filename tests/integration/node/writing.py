"""A producer in the background that knows what was acknowledged, and looks afterwards whether it is there."""

import threading
import time
from collections.abc import Callable

from ottla.client import Consumer, Producer, TopicPartition


class Writer:
    """Sends records to one partition all the time, each with the next number."""

    def __init__(
        self, bootstrap: str, topic: str, partition: int, *, value_bytes: int = 0, pause_s: float = 0.01, **options: str
    ) -> None:
        self.place = TopicPartition(topic, partition)
        self._settings = {"bootstrap.servers": bootstrap, "linger.ms": "0", **options}
        self._padding = b" " * value_bytes
        self._pause_s = pause_s
        self._stopping = threading.Event()
        self.sent = 0
        self.acknowledged = 0
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        with Producer(self._settings) as producer:
            while not self._stopping.wait(self._pause_s):
                future = producer.send(
                    self.place.topic, b"%d" % self.sent + self._padding, partition=self.place.partition
                )
                self.sent += 1
                future.result(120)
                self.acknowledged += 1

    def stop(self) -> None:
        """Returns when all is acknowledged."""
        self._stopping.set()
        self.thread.join(120)
        assert self.acknowledged == self.sent

    def check(self, bootstrap: str) -> None:
        """Whether each record is there once, in order."""
        with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([self.place])
            records = iter(consumer)
            found = [int((next(records).value or b"").split()[0]) for _ in range(self.sent)]
            assert found == list(range(self.sent))


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
