"""The waiters for a shard's high watermark: answers to give, and soft state that follows the fate of records.

Both are in log order. An answer that waits too long is given up as timed out while its records stay in the log and
may still be committed; soft state is told only what is true, so a settlement never times out.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from ottla.coordinator.runtime.coordinator_result import Done, Settled
from ottla.protocol.errors import ApiError

Answer: TypeAlias = tuple[Done, Any]
"""Whom to answer, and with what."""
Call: TypeAlias = tuple[Callable[[Any], None], Any]
"""A callback that is due, with its argument."""


class _Waiters(NamedTuple):
    end_offset: int
    since_ms: int
    answers: list[Answer]


class Waiting:
    """All that waits in one shard. Nothing is called from in here: what is due goes to `ready`, in order."""

    def __init__(self, ready: deque[Call], timeout_ms: int) -> None:
        self._ready: Final = ready
        self._timeout_ms: Final = timeout_ms
        self._answers: deque[_Waiters] = deque()
        self._settlements: deque[tuple[int, list[Settled]]] = deque()

    def add(self, end_offset: int, since_ms: int, answers: list[Answer], settlements: list[Settled]) -> None:
        """Adds callbacks that wait until all before `end_offset` is committed; the offsets of calls never fall."""
        if answers:
            self._answers.append(_Waiters(end_offset, since_ms, answers))
        if settlements:
            self._settlements.append((end_offset, settlements))

    def committed(self, high_watermark: int) -> None:
        """Everything before `high_watermark` is committed: soft state hears first, then the clients."""
        while self._settlements and self._settlements[0][0] <= high_watermark:
            self._ready.extend([(settled, None) for settled in self._settlements.popleft()[1]])
        while self._answers and self._answers[0].end_offset <= high_watermark:
            self._ready.extend(self._answers.popleft().answers)

    def expire(self, now_ms: int, error: ApiError) -> None:
        """Gives up answers that waited for too long."""
        while self._answers and self._answers[0].since_ms + self._timeout_ms <= now_ms:
            self._ready.extend([(done, error) for done, _ in self._answers.popleft().answers])

    def fail(self, error: ApiError) -> None:
        """All that waits is lost."""
        for _, settlements in self._settlements:
            self._ready.extend([(settled, error) for settled in settlements])
        for waiters in self._answers:
            self._ready.extend([(done, error) for done, _ in waiters.answers])
        self._settlements.clear()
        self._answers.clear()

    @property
    def next_ms(self) -> int | None:
        """The time at which the next answer times out."""
        return self._answers[0].since_ms + self._timeout_ms if self._answers else None
