"""The shapes of windows: what a timestamp falls into, and how long late records are waited for."""

from dataclasses import dataclass, replace
from typing import Final

from ottla.streams.duration import Duration, milliseconds, signed_milliseconds
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
        size_ms = signed_milliseconds(size)
        if size_ms <= 0:
            raise ValueError("Window size (sizeMs) must be larger than zero.")
        return cls(size_ms, size_ms, milliseconds(after_window_end, "Grace period must not be negative."))

    def advance_by(self, advance: Duration) -> "TimeWindows":
        """Hopping windows: one starts every `advance`."""
        advance_ms = signed_milliseconds(advance)
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
            raise ValueError("Window start time (startMs) cannot be negative.")
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
        return cls(
            milliseconds(time_difference, "Window time difference must not be negative."),
            milliseconds(grace, "Window grace period must not be negative."),
        )

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
        gap_ms = milliseconds(inactivity_gap, "Gap time cannot be negative.")
        return cls(gap_ms, milliseconds(grace, "Grace period cannot be negative."))


@dataclass(frozen=True, slots=True)
class JoinWindows:
    """The time between the two records of a join: right in [left − before, left + after], both ends included."""

    before_ms: int
    after_ms: int
    grace_ms: int

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference: Duration) -> "JoinWindows":
        """Joins records at most this far apart, in either order."""
        return cls.of_time_difference_and_grace(time_difference, 0)

    @classmethod
    def of_time_difference_and_grace(cls, time_difference: Duration, grace: Duration) -> "JoinWindows":
        """Joins records at most this far apart; late records are joined, and unmatched ones held back, for `grace`."""
        difference = signed_milliseconds(time_difference)
        windows = cls(difference, difference, 0)._checked()
        return replace(windows, grace_ms=milliseconds(grace, "Grace period must not be negative."))

    def before(self, time_difference: Duration) -> "JoinWindows":
        """Sets how much older than the left record the right one may be; if negative, how much younger it must be."""
        return replace(self, before_ms=signed_milliseconds(time_difference))._checked()

    def after(self, time_difference: Duration) -> "JoinWindows":
        """Sets how much younger than the left record the right one may be; if negative, how much older it must be."""
        return replace(self, after_ms=signed_milliseconds(time_difference))._checked()

    @property
    def size_ms(self) -> int:
        """From the oldest to the youngest partner."""
        return self.before_ms + self.after_ms

    def _checked(self) -> "JoinWindows":
        if self.size_ms < 0:
            raise ValueError("Window interval (ie, beforeMs+afterMs) must not be negative.")
        return self
