"""Interruptions at a chosen step, as a signal handler that raises would make them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from types import FrameType
from typing import Any


class Interruption(BaseException):
    """What the handler raises, as Ctrl-C does."""


class Happening:
    """Whether there was a step of that number."""

    happened = False


@contextmanager
def interrupted_at(step: int, *files: str) -> Iterator[Happening]:
    """Raises at the n-th place in these files where the interpreter looks for signals: where a function begins, and
    behind each call. What comes out of the block is swallowed."""
    left, found = step, Happening()

    def look(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal left
        if event in ("call", "return", "c_return") and PurePath(frame.f_code.co_filename).name in files:
            left -= 1
            if left == 0:
                found.happened = True
                raise Interruption

    sys.setprofile(look)
    try:
        yield found
    except Interruption:
        pass
    finally:
        sys.setprofile(None)
