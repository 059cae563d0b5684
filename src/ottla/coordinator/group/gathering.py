"""One answer from several, which come in any order."""

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

R = TypeVar("R")


class Gathering(Generic[R]):
    """Waits for `count` results and hands them on together, in the order of their places.

    >>> gathering = Gathering(2, print)
    >>> first, second = gathering.place(0), gathering.place(1)
    >>> second("b")
    >>> first("a")
    ['a', 'b']
    """

    def __init__(self, count: int, done: Callable[[list[R]], None]) -> None:
        self._results: dict[int, R] = {}
        self._count = count
        self._done = done
        if not count:
            done([])

    def place(self, index: int) -> Callable[[R], None]:
        """The callback for the result with that index."""
        return partial(self._put, index)

    def _put(self, index: int, result: R) -> None:
        self._results[index] = result
        if len(self._results) == self._count:
            self._done([self._results[place] for place in range(self._count)])
