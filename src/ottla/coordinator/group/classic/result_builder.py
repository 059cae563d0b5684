"""The results of one operation on classic groups: records, answers to waiting members, later work.

Nothing is called while an operation decides. Everything goes out when the records, and all that the operation rested
on, are committed; if they are lost those who waited hear why.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from ottla.coordinator.runtime.coordinator_result import CoordinatorResult, Done, Settled
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ApiError


class ResultBuilder:
    """One operation in the making, at the time `now_ms`."""

    __slots__ = ("_answers", "_hooks", "now_ms", "records")

    def __init__(self, now_ms: int) -> None:
        self.now_ms: Final = now_ms
        self.records: list[CoordinatorRecord] = []
        self._answers: list[tuple[Done, Any]] = []
        self._hooks: list[Settled] = []

    def answer(self, done: Done, response: Any) -> None:
        """Answers a waiting request, once all of this is committed."""
        self._answers.append((done, response))

    def answer_all(self, answers: Iterable[tuple[Done, Any]]) -> None:
        """Answers several requests when the result is done."""
        self._answers.extend(answers)

    def write(self, record: CoordinatorRecord, settled: Settled) -> None:
        """Writes a record; `settled` hears what became of it."""
        self.records.append(record)
        self._hooks.append(settled)

    def if_lost(self, action: Callable[[], None]) -> None:
        """Puts soft state right again if the records can't be written and the state stays as it was."""
        self._hooks.append(lambda error: None if error is None else action())

    def build(self, response: Any = None) -> CoordinatorResult:
        """All of it, with the answer to the request itself."""
        settled = self._settle if self._answers or self._hooks else None
        return CoordinatorResult(self.records, response, settled)

    def _settle(self, error: ApiError | None) -> None:
        for hook in self._hooks:
            hook(error)
        for done, response in self._answers:
            done(response if error is None else error)
