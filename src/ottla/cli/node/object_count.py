"""What a node's process holds, counted when a signal asks for it: for `make soak`, and for a node that grows.

With `OTTLA_OBJECT_COUNTS=DIRECTORY` in the environment each SIGUSR1 writes `DIRECTORY/objects-PID.json`: how many
objects only the garbage collector could free since the signal before, how many blocks of memory Python has given out,
and the number of objects of each type. The node stands still meanwhile. Without the variable nothing is installed.
"""

import asyncio
import gc
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Final

VARIABLE: Final = "OTTLA_OBJECT_COUNTS"


def count_on_signal(loop: asyncio.AbstractEventLoop) -> None:
    """Installs the signal, if the environment wants it."""
    directory = os.environ.get(VARIABLE)
    if directory:
        counter = _ObjectCounter(counts_file(Path(directory), os.getpid()))
        loop.add_signal_handler(signal.SIGUSR1, counter.write)


def counts_file(directory: Path, pid: int) -> Path:
    """Where the process writes its counts."""
    return directory / f"objects-{pid}.json"


class _ObjectCounter:
    """Writes the counts of this process to a file, as a whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self._freed = 0
        """How many objects the collector had freed at the last signal, since the process began."""

    def write(self) -> None:
        """Collects garbage, counts what is left, and writes both down."""
        gc.collect()
        freed = sum(generation["collected"] for generation in gc.get_stats())
        types = Counter(map(type, gc.get_objects()))
        found = {
            "garbage": freed - self._freed,
            "blocks": sys.getallocatedblocks(),
            "types": {f"{kind.__module__}.{kind.__qualname__}": count for kind, count in types.most_common()},
        }
        self._freed = freed
        unfinished = self._path.with_suffix(".new")
        unfinished.write_text(json.dumps(found))
        unfinished.replace(self._path)
