"""A program: a state of so many keys, copied to a snapshot, lost and started again: `DIRECTORY KEYS`.

Prints the seconds of the copy, those of the start, and the megabytes of memory that the start has needed of its own.
"""

import sys
import time
from pathlib import Path

from ottla.streams.state.local_state import LocalState, remove_state
from ottla.streams.state.snapshot import SnapshotDirectory

_ADDED = 1_000_000


def main(directory: str, keys: str) -> None:
    """Runs it."""
    path, count = Path(directory, "state"), int(keys)
    snapshots = SnapshotDirectory(Path(directory, "snapshots"), "bench", 0, "bench")
    with LocalState(path, "bench", is_synced=False) as state:
        state.restore().commit({"in": 0}, {})
        for first in range(0, count, _ADDED):
            batch = state.catch_up()
            store = batch.map("counts")
            for number in range(first, min(first + _ADDED, count)):
                store.put(b"key %d" % number, b"%016d" % number)
            batch.commit({"in": 0}, {})
        began = time.perf_counter()
        snapshots.take(state, {"changelog": count}, {})
        taken_s = time.perf_counter() - began
    remove_state(path)
    before, began = _private_megabytes(), time.perf_counter()
    found = snapshots.newest()
    assert found is not None
    snapshots.install(found, path)
    with LocalState(path, "bench", is_synced=False) as state:
        batch = state.begin({"in": 0})
        assert batch.map("counts").get(b"key %d" % (count - 1)) == b"%016d" % (count - 1)
        batch.map("counts").put(b"key 0", b"changed")
        batch.commit({"in": 1}, {})
    print(taken_s, time.perf_counter() - began, _private_megabytes() - before)


def _private_megabytes() -> float:
    """Memory that is this process's alone; mapped files are the system's cache."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) / 1_000
    return 0.0


if __name__ == "__main__":
    main(*sys.argv[1:])
