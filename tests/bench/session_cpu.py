"""The CPU of a program with all the processes that it started, as long as they stay in its session."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

_SESSION, _OWN_TIMES, _TIMES, _STARTED = 3, slice(11, 13), slice(11, 15), 19
"""Where /proc has the session of a process, its times, those with its children that have ended, and its start."""
_LOOK_S = 0.25


def session_cpu_seconds(session: int) -> float:
    """What the processes of a session have used, those that have ended included."""
    return sum(sum(map(int, fields[_TIMES])) for _, fields in _processes(session)) / os.sysconf("SC_CLK_TCK")


def session_cores(session: int, measured_s: float) -> float:
    """How many cores the processes of a session keep busy.

    They are looked at again and again: a process that ends without a parent that waits for it takes its times away.
    """
    start_s, ticks = time.monotonic(), 0
    seen = _own_ticks(session)
    while time.monotonic() < start_s + measured_s:
        time.sleep(_LOOK_S)
        found = _own_ticks(session)
        ticks += sum(used - seen.get(process, 0) for process, used in found.items())
        seen |= found
    return ticks / os.sysconf("SC_CLK_TCK") / (time.monotonic() - start_s)


def _own_ticks(session: int) -> dict[tuple[str, str], int]:
    """What each process has used, by its number and its start: numbers are given again."""
    return {(name, fields[_STARTED]): sum(map(int, fields[_OWN_TIMES])) for name, fields in _processes(session)}


def _processes(session: int) -> Iterator[tuple[str, list[str]]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[_SESSION]) == session:
            yield path.parent.name, fields
