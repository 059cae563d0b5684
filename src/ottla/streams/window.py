"""The shapes of windows: what a timestamp falls into, and how long late records are waited for."""

from dataclasses import dataclass, replace
from typing import Final

from ottla.streams.duration import Duration, milliseconds
from ottla.streams.record import Window

LONG_MAX: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Tumbling windows, or hopping ones with `advance_by`. A window contains its start and not its end.

    >>> TimeWindows.of_size_with_no_grace(10).advance_by(5).windows_for(12)
    [Window(start=5, end=15), Window(start=10, end=20)]
    """

    size_ms: int
    advance_ms: int
    grace_ms: int

    @classmethod
    def of_size_with_no_grace(cls, size: Duration) -> "TimeWindows":
        """Windows that close at their end."""
        return cls.of_size_and_grace(size, 0)

    @classmethod
    def of_size_and_grace(cls, size: Duration, after_window_end: Duration) -> "TimeWindows":
        """Windows that take late records for a while after their end."""
        size_ms = milliseconds(size, "size")
        if size_ms == 0:
            raise ValueError("Window size (sizeMs) must be larger than zero.")
        return cls(size_ms, size_ms, milliseconds(after_window_end, "after_window_end"))

    def advance_by(self, advance: Duration) -> "TimeWindows":
        """Hopping windows: one starts every `advance`."""
        advance_ms = milliseconds(advance, "advance")
        if not 0 < advance_ms <= self.size_ms:
            raise ValueError(
                f"Window advancement interval should be more than zero and less than window duration which is "
                f"{self.size_ms} ms, but given advancement interval is: {advance_ms} ms"
            )
        return replace(self, advance_ms=advance_ms)

    def windows_for(self, timestamp: int) -> list[Window]:
        """The windows that contain this time, oldest first."""
        first = max(0, timestamp - self.size_ms + self.advance_ms) // self.advance_ms * self.advance_ms
        return [Window(start, start + self.size_ms) for start in range(first, timestamp + 1, self.advance_ms)]

    def window_of(self, start: int) -> Window:
        """The window that starts here."""
        return Window(start, start + self.size_ms)


@dataclass(frozen=True, slots=True)
class UnlimitedWindows:
    """One window, from its start to the end of time."""

    start_ms: int = 0

    @classmethod
    def of(cls) -> "UnlimitedWindows":
        """The window that starts at 0."""
        return cls()

    def start_on(self, start: int) -> "UnlimitedWindows":
        """The window that starts at this time; earlier records fall into none."""
        if start < 0:
            raise ValueError(f"Window start time (startMs) cannot be negative: {start}")
        return UnlimitedWindows(start)

    @property
    def size_ms(self) -> int:
        """As long as time can be told."""
        return LONG_MAX

    @property
    def grace_ms(self) -> int:
        """The window never closes."""
        return 0

    def windows_for(self, timestamp: int) -> list[Window]:
        """The window, if the time is not before it."""
        return [self.window_of(self.start_ms)] if timestamp >= self.start_ms else []

    def window_of(self, start: int) -> Window:
        """The window that starts here."""
        return Window(start, LONG_MAX)


@dataclass(frozen=True, slots=True)
class SlidingWindows:
    """A window for each set of records at most `time_difference` apart; both ends belong to it."""

    time_difference_ms: int
    grace_ms: int

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference: Duration) -> "SlidingWindows":
        """Windows that close at their end."""
        return cls.of_time_difference_and_grace(time_difference, 0)

    @classmethod
    def of_time_difference_and_grace(cls, time_difference: Duration, grace: Duration) -> "SlidingWindows":
        """Windows that take late records for a while after their end."""
        return cls(milliseconds(time_difference, "time_difference"), milliseconds(grace, "grace"))

    def window_of(self, start: int) -> Window:
        """The window that starts here."""
        return Window(start, start + self.time_difference_ms)


@dataclass(frozen=True, slots=True)
class SessionWindows:
    """Windows that go on while records are at most `inactivity_gap` apart; both ends belong to them."""

    gap_ms: int
    grace_ms: int

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, inactivity_gap: Duration) -> "SessionWindows":
        """Sessions that take late records only while they are open."""
        return cls.of_inactivity_gap_and_grace(inactivity_gap, 0)

    @classmethod
    def of_inactivity_gap_and_grace(cls, inactivity_gap: Duration, grace: Duration) -> "SessionWindows":
        """Sessions that take late records for a while after they ended."""
        gap_ms = milliseconds(inactivity_gap, "inactivity_gap")
        if gap_ms == 0:
            raise ValueError("Gap time (inactivityGapMs) cannot be zero or negative.")
        return cls(gap_ms, milliseconds(grace, "grace"))


@dataclass(frozen=True, slots=True)
class JoinWindows:
    """How far the two records of a join may be apart: right in [left − before, left + after], both ends included."""

    before_ms: int
    after_ms: int
    grace_ms: int

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference: Duration) -> "JoinWindows":
        """As far apart in both directions."""
        return cls.of_time_difference_and_grace(time_difference, 0)

    @classmethod
    def of_time_difference_and_grace(cls, time_difference: Duration, grace: Duration) -> "JoinWindows":
        """The same, and unmatched records are waited for a while longer."""
        difference = milliseconds(time_difference, "time_difference")
        return cls(difference, difference, milliseconds(grace, "grace"))

    def before(self, time_difference: Duration) -> "JoinWindows":
        """How much older than the left record the right one may be; negative: how much younger it must be."""
        return self._checked(replace(self, before_ms=_signed(time_difference)))

    def after(self, time_difference: Duration) -> "JoinWindows":
        """How much younger than the left record the right one may be; negative: how much older it must be."""
        return self._checked(replace(self, after_ms=_signed(time_difference)))

    @property
    def size_ms(self) -> int:
        """From the oldest to the youngest partner."""
        return self.before_ms + self.after_ms

    @staticmethod
    def _checked(windows: "JoinWindows") -> "JoinWindows":
        if windows.size_ms < 0:
            raise ValueError("Window interval (ie, beforeMs+afterMs) must not be negative.")
        return windows


def _signed(duration: Duration) -> int:
    return int(duration) if isinstance(duration, int) else int(duration.total_seconds() * 1000)
