"""Answers that wait for the quorum to commit what they rest on.

They are in the order of the offsets they wait for. A quorum that cannot commit must not let them pile up: an answer
whose deadline passes is given as REQUEST_TIMED_OUT, and what was asked for may still happen.
"""

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.metadata.controller.answer import Answer
from ottla.protocol.errors import ApiError, RequestTimedOutError

NEVER_MS: Final = (1 << 63) - 1


class _Waiting(NamedTuple):
    offset: int
    deadline_ms: int
    answer: Answer
    settle: Callable[[], None]


class PendingAnswers:
    """Answers by the offset that must be committed before they are heard."""

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._earliest_ms = NEVER_MS

    @property
    def next_deadline_ms(self) -> int:
        """The next time to call `expire`."""
        return self._earliest_ms if self._waiting else NEVER_MS

    def add(self, offset: int, deadline_ms: int, answer: Answer, settle: Callable[[], None]) -> None:
        """`settle` gives or refuses `answer` once `offset` is committed; offsets never fall from call to call."""
        self._earliest_ms = min(self._earliest_ms, deadline_ms) if self._waiting else deadline_ms
        self._waiting.append(_Waiting(offset, deadline_ms, answer, settle))

    def committed(self, offset: int) -> None:
        """Settles every answer that waited for `offset` or for less."""
        while self._waiting and self._waiting[0].offset <= offset:
            self._waiting.popleft().settle()

    def expire(self, now_ms: int) -> None:
        """Refuses the answers whose deadline has come."""
        if now_ms < self.next_deadline_ms:
            return
        expired = [waiting for waiting in self._waiting if waiting.deadline_ms <= now_ms]
        self._waiting = deque(waiting for waiting in self._waiting if waiting.deadline_ms > now_ms)
        self._earliest_ms = min((waiting.deadline_ms for waiting in self._waiting), default=NEVER_MS)
        for waiting in expired:
            waiting.answer.refuse(RequestTimedOutError())

    def refuse_all(self, error: ApiError) -> None:
        """Refuses whatever still waits: it will never be committed by this controller."""
        waiting, self._waiting = self._waiting, deque()
        for one in waiting:
            one.answer.refuse(error)
