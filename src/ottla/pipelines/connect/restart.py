"""Decides when a task that failed is started again. Pure: the time is given.

`tasks.restart.max` counts failures in a row; a failure after a minute of running is the first again.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.config.connector_key import SINK
from ottla.pipelines.runner.supervision.backoff import delay_ms

_HEALTHY_MS: Final = 60_000


@frozen
class RestartOption:
    """The settings `tasks.restart.*`."""

    restarts_max: int
    backoff_ms: int
    backoff_ms_max: int

    @classmethod
    def of(cls, config: Mapping[str, str]) -> "RestartOption":
        """Reads them from a connector's configuration."""
        names = ("tasks.restart.max", "tasks.restart.backoff.ms", "tasks.restart.backoff.max.ms")
        keys = (SINK.keys[name] for name in names)
        return cls(*(int(str(key.parse(config[key.name]) if key.name in config else key.default)) for key in keys))


class RestartPolicy:
    """Of one task; the jitter of its pauses comes from its name.

    >>> policy = RestartPolicy("lines-0", RestartOption(2, 1_000, 60_000))
    >>> [policy.failed(ran_ms=5) for _ in range(3)], policy.failures
    ([555, 1520, None], 3)
    >>> policy.failed(ran_ms=100_000)
    555
    """

    def __init__(self, task: str, option: RestartOption) -> None:
        self._task: Final = task
        self._option: Final = option
        self.failures = 0
        """In a row."""

    def forget(self) -> None:
        """Resets the count, when a user starts the task."""
        self.failures = 0

    def failed(self, *, ran_ms: int) -> int | None:
        """The pause before the next start in milliseconds; None if the task stays failed."""
        option = self._option
        self.failures = 1 if ran_ms >= _HEALTHY_MS else self.failures + 1
        if 0 <= option.restarts_max < self.failures:
            return None
        return delay_ms(self._task, self.failures, option.backoff_ms, option.backoff_ms_max)
