"""An event loop whose time a test moves by hand, and a controller that answers when it is told to."""

import heapq
import itertools
from collections.abc import Callable
from typing import Any

from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError


class HandTimer:
    """Something that was scheduled."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class HandLoop:
    """Calls what is due when `advance` gets there."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self._numbers = itertools.count()
        self._due: list[tuple[float, int, HandTimer, Callable[..., object], tuple[Any, ...]]] = []

    def time(self) -> float:
        return self.now_s

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: Any) -> HandTimer:
        timer = HandTimer()
        heapq.heappush(self._due, (self.now_s + delay, next(self._numbers), timer, callback, arguments))
        return timer

    def advance(self, seconds: float) -> None:
        """Lets that much time go by."""
        end_s = self.now_s + seconds
        while self._due and self._due[0][0] <= end_s:
            self.now_s, _, timer, callback, arguments = heapq.heappop(self._due)
            if not timer.is_cancelled:
                callback(*arguments)
        self.now_s = end_s


class HandChannel:
    """Keeps the requests that were sent, for a test to answer."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, Callable[[Response | ApiError], None]]] = []

    def send(self, request: Request, done: Callable[[Response | ApiError], None], *, timeout_ms: int) -> None:
        self.sent.append((request, done))

    def answer(self, answer: Response | ApiError) -> Any:
        """Answers the oldest request, which is returned."""
        request, done = self.sent.pop(0)
        done(answer)
        return request
