"""The life of a `KafkaStreams` on any host: its state, its listeners, and the calls that wait for it."""

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from ottla.streams.host.run_state import IllegalStateError, RunState, check_follows

_log = logging.getLogger(__name__)

StateListener = Callable[[RunState, RunState], None]
"""`(new state, old state)`."""


class Lifecycle(ABC):
    """The base class of every host's `KafkaStreams`; hosts add `start` and `close`."""

    def __init__(self, application_id: str) -> None:
        self._application_id: Final = application_id
        self._state = RunState.CREATED
        self._state_change: Final = threading.Condition()
        self._listeners: Final[list[StateListener]] = []
        self.failure: Exception | None = None
        """Why it is in the state ERROR."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def state(self) -> RunState:
        """The present state, by the names of Kafka Streams."""
        return self._state

    def set_state_listener(self, listener: StateListener) -> None:
        """Calls `listener(new, old)` at every change of state; to be set before `start`."""
        self._check_created("set_state_listener")
        self._listeners.append(listener)

    @abstractmethod
    def start(self) -> None:
        """Starts it and returns; `state` tells how far it is. An instance starts once."""

    @abstractmethod
    def close(self, timeout_s: float | None = None) -> bool:
        """Ends it; False if the time is over before."""

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until it has ended, by `close` or by a failure, which is raised; False if the time is over before."""
        ended = (RunState.NOT_RUNNING, RunState.ERROR)
        with self._state_change:
            if not self._state_change.wait_for(lambda: self._state in ended, timeout_s):
                return False
        if self.failure is not None:
            raise self.failure
        return True

    def wait_for(self, state: RunState, timeout_s: float) -> bool:
        """Waits for a state; False if the time is over before, or it has failed."""
        with self._state_change:
            self._state_change.wait_for(lambda: self._state in (state, RunState.ERROR), timeout_s)
            return self._state is state

    def _move(self, state: RunState) -> None:
        with self._state_change:
            before = self._state
            check_follows(before, state)
            self._state = state
            self._state_change.notify_all()
        _log.info("%s: %s after %s", self._application_id, state.value, before.value)
        for listener in self._listeners:
            listener(state, before)

    def _check_created(self, what: str) -> None:
        if self._state is not RunState.CREATED:
            raise IllegalStateError(f"{what}: only in the state CREATED, and it is {self._state.value}")

    def _check_ended(self) -> None:
        if self._state not in (RunState.CREATED, RunState.NOT_RUNNING, RunState.ERROR):
            raise IllegalStateError(f"Cannot clean up while running: the state is {self._state.value}")
