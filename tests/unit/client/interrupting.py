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
    """Raises at the n-th call, line or return in these files, in this thread; what comes out of that is swallowed."""
    left, found = step, Happening()

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal left
        if PurePath(frame.f_code.co_filename).name not in files:
            return None
        if event != "exception" and not found.happened:
            left -= 1
            if left == 0:
                found.happened = True
                raise Interruption
        return trace

    sys.settrace(trace)
    try:
        yield found
    except Interruption:
        pass
    finally:
        sys.settrace(None)
