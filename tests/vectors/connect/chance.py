"""Random choices that every version of Python makes alike: only `random()` is promised to stay."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """A seeded source."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, limit: int) -> int:
        """A whole number from 0 up to the limit."""
        return int(self._random.random() * limit)

    def one(self, items: Sequence[T]) -> T:
        """One of them."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """So many different ones."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def happens(self, percent: int) -> bool:
        """Whether something that has this chance happens."""
        return self._random.random() * 100 < percent
