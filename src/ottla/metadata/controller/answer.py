"""An answer that is given later: when what it says is committed, or will never be."""

from collections.abc import Callable
from typing import Any

from ottla.protocol.errors import ApiError


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
