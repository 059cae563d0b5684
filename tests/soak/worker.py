"""One that keeps a cluster busy, in a thread of its own, from the beginning of a block to its end."""

import random
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from confluent_kafka import KafkaException

from ottla.base.errors import OttlaError

FAREWELL_SECONDS = 90.0
"""How long a worker may take to end."""

Tell: TypeAlias = Callable[[str], None]
"""Hears of each thing that was done."""


class Worker:
    """Takes steps, one after the other; a step that the cluster refuses is counted, any other failure is kept."""

    name: str

    def __init__(self, bootstrap: str, seed: int, tell: Tell) -> None:
        self.bootstrap = bootstrap
        self.dice = random.Random(f"{self.name}-{seed}")
        self.number = 0
        """Of the step: names made with it are new each time."""
        self.failure: str | None = None
        self.count = tell
        """Something was done."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join(FAREWELL_SECONDS)
        if self._thread.is_alive():
            self.failure = f"{self.name} did not end within {FAREWELL_SECONDS:g} s"

    def step(self) -> None:
        """Does some work and counts it."""
        raise NotImplementedError

    def pause(self) -> float:
        """Seconds until the next step."""
        return self.dice.uniform(0.05, 0.3)

    def end(self) -> None:
        """Lets go of what it holds."""

    def attempt(self, what: str, work: Callable[[], object]) -> bool:
        """Does some work that the cluster may refuse; whether it did not."""
        try:
            work()
        except (KafkaException, OttlaError, OSError) as error:
            self.count(f"{what} that failed: {_reason(error)}")
            return False
        self.count(what)
        return True

    def _run(self) -> None:
        try:
            while not self._stopping.wait(self.pause()):
                self.number += 1
                self.step()
            self.end()
        except Exception:  # noqa: BLE001 - a worker that fails leaves its part out: the run tells about it
            self.failure = traceback.format_exc()


def _reason(error: Exception) -> str:
    return str(error.args[0].name()) if isinstance(error, KafkaException) else type(error).__name__
