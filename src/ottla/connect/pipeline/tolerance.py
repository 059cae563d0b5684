"""Errors while a record is converted: retried, tolerated, reported, or the end of the task.

`Tolerance.run` does one step of a record's way. Retriable errors are tried again until `errors.retry.timeout`, with
pauses that double from 300 ms. Any other error is the end (`ToleranceExceededError`), unless `errors.tolerance=all`:
then it is a `Failure`, a value that says at which stage which class failed.
"""

import enum
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeVar

from ottla.base.frozen import frozen
from ottla.connect.config.connector_key import SINK
from ottla.connect.errors import ConnectError, RetriableError

V = TypeVar("V")
_DELAY_MIN_MS: Final = 300


class Stage(enum.Enum):
    """The step at which a record failed."""

    TASK_POLL = "TASK_POLL"
    TASK_PUT = "TASK_PUT"
    TRANSFORMATION = "TRANSFORMATION"
    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    KAFKA_PRODUCE = "KAFKA_PRODUCE"
    KAFKA_CONSUME = "KAFKA_CONSUME"


class Pause(Protocol):
    """A clock, and waits that end when the task is told to stop."""

    def now_ms(self) -> int:
        """The time."""
        ...

    def wait_ms(self, delay_ms: int) -> bool:
        """Waits; False if the task is to stop."""
        ...


@frozen
class Failure:
    """The error of one record, with the step and the class that raised it."""

    stage: Stage
    class_name: str
    error: BaseException


class ToleranceExceededError(ConnectError):
    """An error that is not tolerated: the task fails."""

    def __init__(self, failure: Failure) -> None:
        super().__init__("Tolerance exceeded in error handler")
        self.failure: Final = failure


@frozen
class ErrorOption:
    """The settings `errors.*`."""

    retry_timeout_ms: int
    delay_max_ms: int
    all_tolerated: bool
    logged: bool
    located: bool
    dead_letter_topic: str
    context_headers: bool

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> "ErrorOption":
        """Reads them from a connector's configuration."""
        keys = {name: key for name, key in SINK.keys.items() if name.startswith("errors.")}
        values = {name: key.parse(settings[name]) if name in settings else key.default for name, key in keys.items()}
        return cls(
            retry_timeout_ms=int(str(values["errors.retry.timeout"])),
            delay_max_ms=int(str(values["errors.retry.delay.max.ms"])),
            all_tolerated=values["errors.tolerance"] == "all",
            logged=values["errors.log.enable"] is True,
            located=values["errors.log.include.messages"] is True,
            dead_letter_topic=str(values["errors.deadletterqueue.topic.name"]),
            context_headers=values["errors.deadletterqueue.context.headers.enable"] is True,
        )


class Tolerance:
    """Runs the steps of records."""

    def __init__(self, option: ErrorOption, pause: Pause) -> None:
        self._option: Final = option
        self._pause: Final = pause

    def run(self, stage: Stage, class_name: str, step: Callable[[], V]) -> V | Failure:
        """Runs a step: its result, or its failure if that is tolerated."""
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - converters and transforms are anybody's code
            return self.after(stage, class_name, step, error)

    def after(self, stage: Stage, class_name: str, step: Callable[[], V], error: Exception) -> V | Failure:
        """Handles the error of a step that the caller has tried once itself: retries or tolerates it."""
        if isinstance(error, RetriableError):
            return self._again(stage, class_name, step, error)
        return self.failed(Failure(stage, class_name, error))

    def failed(self, failure: Failure) -> Failure:
        """Returns the failure if it is tolerated; raises `ToleranceExceededError` otherwise."""
        if not self._option.all_tolerated:
            raise ToleranceExceededError(failure) from failure.error
        return failure

    def _again(self, stage: Stage, class_name: str, step: Callable[[], V], error: Exception) -> V | Failure:
        start = self._pause.now_ms()
        attempt = 0
        while self._option.retry_timeout_ms < 0 or self._pause.now_ms() - start < self._option.retry_timeout_ms:
            if not self._pause.wait_ms(self._delay(attempt, start)):
                break
            attempt += 1
            try:
                return step()
            except RetriableError as again:
                error = again
            except Exception as other:  # noqa: BLE001 - as above
                error = other
                break
        return self.failed(Failure(stage, class_name, error))

    def _delay(self, attempt: int, start: int) -> int:
        delay = min(_DELAY_MIN_MS << min(attempt, 32), max(1, self._option.delay_max_ms))
        if self._option.retry_timeout_ms < 0:
            return delay
        return max(0, min(delay, start + self._option.retry_timeout_ms - self._pause.now_ms()))
