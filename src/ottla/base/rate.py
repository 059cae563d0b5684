"""How much of something a second, measured over the last few samples. Knows no clock: times are given."""

from collections import deque
from typing import Final


class Rate:
    """The sum of the last samples, over the time since the oldest of them began.

    >>> rate = Rate(samples=11, sample_ms=1_000)
    >>> rate.record(4_000, 0)
    >>> [rate.per_second(ms) for ms in (0, 1_000, 2_000, 4_000, 20_000)]
    [4000.0, 4000.0, 2000.0, 1000.0, 0.0]

    With `full_samples_min` that many samples count as full from the start, so a burst at the start weighs less:

    >>> rate = Rate(samples=11, sample_ms=1_000, full_samples_min=10)
    >>> rate.record(4_000, 0)
    >>> [rate.per_second(ms) for ms in (0, 10_000)]
    [400.0, 400.0]
    """

    __slots__ = ("_begun", "_full_samples_min", "_sample_ms", "_samples")

    def __init__(self, *, samples: int, sample_ms: int, full_samples_min: int = 0) -> None:
        self._samples: Final = samples
        self._sample_ms: Final = sample_ms
        self._full_samples_min: Final = full_samples_min
        self._begun: Final[deque[tuple[int, float]]] = deque()
        """When each sample began, and what was recorded in it."""

    def record(self, amount: float, now_ms: int) -> None:
        """Counts an amount."""
        begun = self._begun
        if begun and now_ms - begun[-1][0] < self._sample_ms:
            begun[-1] = (begun[-1][0], begun[-1][1] + amount)
        else:
            begun.append((now_ms, amount))

    def total(self, now_ms: int) -> float:
        """The sum of the samples that still count."""
        begun = self._begun
        while begun and begun[0][0] <= now_ms - self._samples * self._sample_ms:
            begun.popleft()
        return sum(amount for _, amount in begun)

    def elapsed_ms(self, now_ms: int) -> int:
        """The time that the samples which still count are spread over."""
        elapsed_ms = now_ms - self._begun[0][0] if self._begun else 0
        missing = self._full_samples_min - elapsed_ms // self._sample_ms
        return max(elapsed_ms + max(missing, 0) * self._sample_ms, self._sample_ms)

    def per_second(self, now_ms: int) -> float:
        """The rate up to now."""
        return self.total(now_ms) * 1000 / self.elapsed_ms(now_ms)
