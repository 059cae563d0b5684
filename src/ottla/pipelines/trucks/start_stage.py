"""Says what a run is waiting for before there is anything to show: one line for each stage, with its seconds.

On a terminal the seconds count while one waits; elsewhere a line is written when a stage begins, and that is all.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_TICK_SECONDS: Final = 0.5


@contextmanager
def stage(text: str) -> Iterator[None]:
    """Shows a stage while the block runs."""
    if not sys.stdout.isatty():
        print(f"… {text}", flush=True)
        yield
        return
    ended = threading.Event()
    started = time.monotonic()
    ticking = threading.Thread(target=_tick, args=(text, started, ended), daemon=True)
    ticking.start()
    try:
        yield
    finally:
        ended.set()
        ticking.join()
        _show(text, started, "\n")


def _tick(text: str, started: float, ended: threading.Event) -> None:
    while True:
        _show(text, started, "")
        if ended.wait(_TICK_SECONDS):
            return


def _show(text: str, started: float, end: str) -> None:
    sys.stdout.write(f"\r… {text}  {time.monotonic() - started:.0f} s\x1b[K{end}")
    sys.stdout.flush()
