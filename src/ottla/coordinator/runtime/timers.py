"""Timers of one shard, as data: nothing runs by itself, the shard asks what is due.

Timers are soft state: a new leader sets them up again from what it loaded. A key has one timer. Moving it to a later
time touches its entry alone, and the heap learns of it when the old time comes: a member's heartbeat, which moves its
session's end every few seconds, costs a dictionary lookup.
"""

from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any, Final

from ottla.coordinator.runtime.coordinator_result import Operation

_SPARE_ENTRIES: Final = 64
"""How many cancelled entries the heap may hold, besides as many as there are timers, before they are swept out."""


class _Timer:
    """One timer; `queued_ms` is where the heap has it, never after its deadline. Without operation it is cancelled."""

    __slots__ = ("deadline_ms", "key", "operation", "queued_ms")

    def __init__(self, key: Hashable, deadline_ms: int, operation: Operation[Any]) -> None:
        self.key = key
        self.deadline_ms = self.queued_ms = deadline_ms
        self.operation: Operation[Any] | None = operation


class Timers:
    """The timers of a shard, each with the operation to run when its time has come."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, _Timer] = {}
        self._heap: list[tuple[int, int, _Timer]] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._by_key

    def set(self, key: Hashable, deadline_ms: int, operation: Operation[Any]) -> None:
        """Runs `operation` from `deadline_ms` on; takes the place of the timer that the key may have had."""
        timer = self._by_key.get(key)
        if timer is None:
            timer = self._by_key[key] = _Timer(key, deadline_ms, operation)
            self._push(timer)
            return
        timer.deadline_ms = deadline_ms
        timer.operation = operation
        if deadline_ms < timer.queued_ms:
            timer.queued_ms = deadline_ms
            self._push(timer)

    def set_if_absent(self, key: Hashable, deadline_ms: int, operation: Operation[Any]) -> None:
        """Like `set`, unless the key has a timer."""
        if key not in self._by_key:
            self.set(key, deadline_ms, operation)

    def cancel(self, key: Hashable) -> None:
        """Forgets a timer; a key without one is fine."""
        timer = self._by_key.pop(key, None)
        if timer is not None:
            timer.operation = None
            self._sweep()

    def deadline(self, key: Hashable) -> int | None:
        """The time of the key's timer; None without one."""
        timer = self._by_key.get(key)
        return None if timer is None else timer.deadline_ms

    def clear(self) -> None:
        """Forgets all timers."""
        self._by_key.clear()
        self._heap.clear()

    @property
    def next_ms(self) -> int | None:
        """The time of the next look: the next deadline, or earlier if that timer was moved; None without timers."""
        heap = self._heap
        while heap and not _is_current(heap[0]):
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now_ms: int) -> Iterator[tuple[Hashable, Operation[Any]]]:
        """Takes out the timers whose time has come, one by one in the order of their deadlines.

        What one of them cancels does not come any more, and what it sets comes next time, however early it is due: a
        timer that sets itself again cannot keep the shard busy for ever.
        """
        newest = self._sequence
        later: list[tuple[int, int, _Timer]] = []
        while self._heap and self._heap[0][0] <= now_ms:
            entry = heappop(self._heap)
            _, sequence, timer = entry
            operation = timer.operation
            if operation is None or not _is_current(entry):
                continue
            if sequence > newest:
                later.append(entry)
            elif timer.deadline_ms > now_ms:
                timer.queued_ms = timer.deadline_ms
                self._push(timer)
            else:
                del self._by_key[timer.key]
                timer.operation = None
                yield timer.key, operation
        for entry in later:
            heappush(self._heap, entry)

    def _push(self, timer: _Timer) -> None:
        self._sequence += 1
        heappush(self._heap, (timer.queued_ms, self._sequence, timer))
        self._sweep()

    def _sweep(self) -> None:
        """Keeps what was cancelled or moved from piling up until its time."""
        if len(self._heap) > 2 * len(self._by_key) + _SPARE_ENTRIES:
            self._heap = [entry for entry in self._heap if _is_current(entry)]
            heapify(self._heap)


def _is_current(entry: tuple[int, int, _Timer]) -> bool:
    """Whether the timer still stands, and at this place of the heap."""
    return entry[2].operation is not None and entry[2].queued_ms == entry[0]
