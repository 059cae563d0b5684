"""Files that may be opened again at any time: the last used ones stay open, in a bounded number.

A broker has more segments than the system lets it have descriptors and maps. Each segment opens its files when it
needs them and notes that here; when there are too many, those that were not used for long are let go of, and come back
when they are needed. Nothing is told to this set when a file is used, as every append and fetch would pay for that.
Instead a holder says how much was written to it so far: one where that has changed since it was last looked at stays
for another turn (the clock algorithm). A file that is only read goes in its turn, and costs its reader an `open` then.

Any thread may use it.
"""

import logging
import resource
import threading
import weakref
from collections import OrderedDict
from pathlib import Path
from typing import Final

from ottla.storage.disk.port import Holder

_log = logging.getLogger(__name__)

_FILES_SHARE: Final = 2
"""Half of the descriptors: clients, brokers and files that are opened for a moment need the others."""
_MAPS_SHARE: Final = 2
_MAPS_USUAL: Final = 65_530
"""`vm.max_map_count`, where the system does not say."""
_HELD_MAX: Final = 1 << 17
_LEAST: Final = 16
_BATCH_SHARE: Final = 64


class HeldOpen:
    """See `port.Held`."""

    __slots__ = ("_held", "_is_told", "_lock", "_what", "count_max")

    def __init__(self, what: str, count_max: int) -> None:
        self._what = what
        self.count_max = count_max
        self._held: OrderedDict[int, tuple[weakref.ref[Holder], int]] = OrderedDict()
        self._lock = threading.RLock()
        self._is_told = False

    def __len__(self) -> int:
        return len(self._held)

    def note(self, holder: Holder) -> None:
        """It has opened something."""
        with self._lock:
            self._held[id(holder)] = weakref.ref(holder), holder.written
            is_full = len(self._held) > self.count_max
        if is_full:
            self._tell()
            self.shrink()

    def forget(self, holder: Holder) -> None:
        """It has closed what was open, by itself."""
        with self._lock:
            self._held.pop(id(holder), None)

    def shrink(self) -> bool:
        """Lets go of those not used for long; False if there are none."""
        chosen = self._choose()
        for holder in chosen:
            holder.let_go()
        return bool(chosen)

    def _choose(self) -> list[Holder]:
        chosen: list[Holder] = []
        with self._lock:
            wanted = chances = max(len(self._held) // _BATCH_SHARE, 1)
            while self._held and len(chosen) < wanted:
                key, (reference, written) = self._held.popitem(last=False)
                holder = reference()
                if holder is None:
                    continue
                if holder.written != written and chances:
                    chances -= 1
                    self._held[key] = reference, holder.written
                else:
                    chosen.append(holder)
        return chosen

    def _tell(self) -> None:
        if not self._is_told:
            self._is_told = True
            _log.warning(
                "more than %d %s are in use: those not used for long are closed and opened again, which takes time. %s",
                self.count_max,
                self._what,
                "Raise the limit of open files (ulimit -n, LimitNOFILE=) and vm.max_map_count.",
            )


def held_files() -> HeldOpen:
    """For descriptors of segments' files, as many as this process may keep open now."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        limit = _HELD_MAX * _FILES_SHARE
    return HeldOpen("files of segments", _bounded(limit // _FILES_SHARE))


def held_maps() -> HeldOpen:
    """For maps of indexes, as many as this process may keep open now."""
    try:
        limit = int(Path("/proc/sys/vm/max_map_count").read_text(encoding="ascii"))
    except (OSError, ValueError):
        limit = _MAPS_USUAL
    return HeldOpen("maps of indexes", _bounded(limit // _MAPS_SHARE))


def unbounded() -> HeldOpen:
    """For disks that have no such limits."""
    return HeldOpen("files", _HELD_MAX)


def _bounded(count: int) -> int:
    return min(max(count, _LEAST), _HELD_MAX)
