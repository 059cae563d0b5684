"""Recursion without Python's stack: a walk through two schemas may be as deep as the schemas like.

A step that needs another one yields it and gets its result back.

>>> def depth(nested: list) -> Step[int]:
...     return 1 + (yield depth(nested[0])) if nested else 0
>>> deep: list = []
>>> for _ in range(5000):
...     deep = [deep]
>>> run(depth(deep))
5000
"""

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Step: TypeAlias = Generator[Any, Any, T]
"""A function that yields the steps it waits for, and returns a T."""


def run(step: Step[T]) -> T:
    """The result of the step and of all that it waits for."""
    waiting: list[Step[Any]] = [step]
    result: Any = None
    while True:
        try:
            waiting.append(waiting[-1].send(result))
            result = None
        except StopIteration as stop:
            waiting.pop()
            result = stop.value
            if not waiting:
                return result  # type: ignore[no-any-return]
