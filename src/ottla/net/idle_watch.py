"""Finds members that were idle for too long, and looks at no others.

Members stand in the order of their last activity, so that the first one is the next to go. Activity is noted at most
once per `step_s` and member, to keep it off the hot path: a member is given up between the limit and the limit plus two
steps, never early.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

Member = TypeVar("Member")


class IdleWatch(Generic[Member]):
    """Calls `expired` for a member that was idle for the limit; it may `note` it again to keep it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, idle_ms_max: int, expired: Callable[[Member], None]) -> None:
        self._loop: Final = loop
        self._expired: Final = expired
        self._noted: Final[OrderedDict[Member, float]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None
        self.change_limit(idle_ms_max)

    def change_limit(self, idle_ms_max: int) -> None:
        """Takes another limit, for members that are there too; negative is for ever."""
        self._idle_s = idle_ms_max / 1000
        self.step_s = min(1.0, max(self._idle_s, 0.0) / 32)
        self.close()
        self._arm()

    def note(self, member: Member, now: float) -> None:
        """The member is there and was active at `now`."""
        self._noted[member] = now
        self._noted.move_to_end(member)
        if self._timer is None:
            self._arm()

    def forget(self, member: Member) -> None:
        """The member is gone."""
        self._noted.pop(member, None)

    @property
    def longest_idle(self) -> tuple[Member, float] | None:
        """The least recently active member, and the time."""
        return next(iter(self._noted.items()), None)

    def close(self) -> None:
        """Stops watching until a connection is noted."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._noted and self._idle_s >= 0:
            # Activity within a step of the noted time was not noted again.
            first_noted = next(iter(self._noted.values()))
            self._timer = self._loop.call_at(first_noted + self._idle_s + self.step_s, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        latest = self._loop.time() - self._idle_s - self.step_s
        while self._noted:
            member, noted = next(iter(self._noted.items()))
            if noted > latest:
                break
            del self._noted[member]
            self._expired(member)
        if self._timer is None:
            self._arm()
