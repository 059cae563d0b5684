"""The cleaning process: `python -m ottla.storage.cleaner.process`, started by the broker with an order on its input.

A process of its own, so that cleaning never holds the broker's interpreter; with lower priority, so that it yields the
processor too. It stops when its input ends, which happens when the broker wants it to and when the broker dies.
Files that it leaves behind are `.cleaned`, which every start removes.
"""

import os
import select
import sys
from dataclasses import replace
from typing import TextIO

from ottla.base.clock import Clock
from ottla.base.errors import OttlaError
from ottla.base.system_clock import SystemClock
from ottla.storage.cleaner.compaction import Compaction
from ottla.storage.cleaner.key_map import SEED_BYTES
from ottla.storage.cleaner.throttle import Throttle
from ottla.storage.cleaner.work_order import CleanedGroup, Failed, Report, WorkOrder, report_to_json
from ottla.storage.disk.local import LocalDisk
from ottla.storage.errors import CorruptFileError, StorageError
from ottla.storage.segment import file_name

_NICENESS = 5
STOPPED = 3
"""The exit code of a process that was told to stop."""


class _StopError(Exception):
    """The input ended."""


class _Pulse:
    """Heeds the rate and the end of the input."""

    def __init__(self, order: WorkOrder, clock: Clock, stop: TextIO) -> None:
        self._clock = clock
        self._stop = stop
        self._throttle = Throttle(order.io_max_bytes_per_second, clock.monotonic_ms())

    def __call__(self, count: int) -> None:
        delay_ms = self._throttle.delay_ms(count, self._clock.monotonic_ms())
        if select.select([self._stop], [], [], delay_ms / 1000)[0]:
            raise _StopError


def main() -> int:
    """Reads the order, does the work, reports; 0 if it was finished."""
    os.nice(_NICENESS)
    clock = SystemClock()
    order = WorkOrder.from_json(sys.stdin.readline())
    started_ms = clock.monotonic_ms()
    compaction = Compaction(LocalDisk(), order, os.urandom(SEED_BYTES), _Pulse(order, clock, sys.stdin))
    try:
        for report in compaction.run():
            if isinstance(report, CleanedGroup):
                _keep_age(order.directory, report)
                _say(report)
            else:
                _say(replace(report, elapsed_ms=clock.monotonic_ms() - started_ms))
    except _StopError:
        return STOPPED
    except BrokenPipeError:
        # The broker was killed while this was working. What is not said yet is not to be said at the exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STOPPED
    except StorageError as error:
        _say(Failed(error.reason, error.path, is_corrupt=isinstance(error, CorruptFileError)))
        return 1
    except OttlaError as error:
        _say(Failed(str(error), order.directory, is_corrupt=True))
        return 1
    return 0


def _keep_age(directory: str, group: CleanedGroup) -> None:
    """The new file is as old as the last it replaces: retention goes by it where records have no timestamps."""
    last = os.stat(f"{directory}/{file_name.name_of(group.sources[-1], file_name.LOG)}")
    cleaned = f"{directory}/{file_name.name_of(group.sources[0], file_name.LOG, file_name.CLEANED)}"
    os.utime(cleaned, ns=(last.st_atime_ns, last.st_mtime_ns))


def _say(report: Report) -> None:
    sys.stdout.write(report_to_json(report) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
