"""An answer that is given later: when what it says is committed, or will never be."""

from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ottla.protocol.errors import ApiError, RequestTimedOutError

NEVER_MS: Final = (1 << 63) - 1


class Answer:
    """The response to a request, or the error that there is instead. It is given once.

    >>> answer = Answer()
    >>> answer.when_done(lambda answer: print("got", answer.response))
    >>> answer.give("response")
    got response
    """

    __slots__ = ("_callbacks", "_error", "_response", "is_done")

    def __init__(self) -> None:
        self.is_done = False
        self._response: Any = None
        self._error: ApiError | None = None
        self._callbacks: list[Callable[[Answer], None]] = []

    @property
    def response(self) -> Any:
        """The response; raises the error if there is one, and `RuntimeError` before either is there."""
        if not self.is_done:
            raise RuntimeError("the answer is not committed yet")
        if self._error is not None:
            raise self._error
        return self._response

    @property
    def error(self) -> ApiError | None:
        """The refusal, if it was refused."""
        return self._error

    def when_done(self, callback: Callable[["Answer"], None]) -> None:
        """Calls back when the answer is given, at once if it has been."""
        if self.is_done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def give(self, response: Any) -> None:
        """Answers with a response."""
        self._response = response
        self._finish()

    def refuse(self, error: ApiError) -> None:
        """Answers with an error.

        Without its traceback: the frames in that one hold the answer, and each refusal would be a cycle of references.
        """
        self._error = error.with_traceback(None)
        self._finish()

    def _finish(self) -> None:
        self.is_done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


class _Waiting(NamedTuple):
    offset: int
    deadline_ms: int
    answer: Answer
    settle: Callable[[], None]


class PendingAnswers:
    """Answers in the order of the offsets that must be committed before they are heard.

    A quorum that cannot commit must not let them pile up: an answer whose deadline passes is given as
    REQUEST_TIMED_OUT, and what was asked for may still happen.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._earliest_ms = NEVER_MS

    @property
    def next_deadline_ms(self) -> int:
        """When `expire` may have something to do."""
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
