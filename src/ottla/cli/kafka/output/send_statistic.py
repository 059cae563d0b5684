"""What `kafka-producer-perf-test` counts: records, bytes and latencies, in windows and in all."""

import time
from typing import Final

_SAMPLES_MAX: Final = 500_000
_MEGABYTE: Final = 1024 * 1024


def now_ms() -> int:
    """Milliseconds of the wall clock."""
    return int(time.time() * 1000)


class SendStatistic:
    """Counts acknowledged records; every window that passes is printed."""

    def __init__(self, records: int, interval_ms: int, *, is_steady_state: bool) -> None:
        self._interval_ms: Final = interval_ms
        self._is_steady_state: Final = is_steady_state
        self._sampling: Final = max(1, records // min(records, _SAMPLES_MAX))
        self.is_silent = False
        """Whether windows are not printed."""
        self._start = self._window_start = now_ms()
        self._count = self._bytes = self._latency_total = self._latency_max = 0
        self._window_count = self._window_bytes = self._window_total = self._window_max = 0
        self._latencies: Final[list[int]] = []

    def record(self, latency_ms: int, size_bytes: int, now: int) -> None:
        """Counts one record."""
        if self._count % self._sampling == 0:
            self._latencies.append(latency_ms)
        self._count += 1
        self._bytes += size_bytes
        self._latency_total += latency_ms
        self._window_count += 1
        self._window_bytes += size_bytes
        self._window_total += latency_ms
        if latency_ms > self._window_max:
            self._window_max = latency_ms
            self._latency_max = max(self._latency_max, latency_ms)
        if now - self._window_start >= self._interval_ms:
            self._end_window()

    def _end_window(self) -> None:
        if self._is_steady_state and self._count == self._window_count:
            print("In steady state.")
        if not self.is_silent:
            print(self.window_text(), flush=True)
        self._window_start = now_ms()
        self._window_count = self._window_bytes = self._window_total = self._window_max = 0

    def window_text(self) -> str:
        """The line of a window."""
        elapsed_s = max(1, now_ms() - self._window_start) / 1000
        average = self._window_total / self._window_count if self._window_count else 0.0
        return (
            f"{self._window_count} records sent, {self._window_count / elapsed_s:.1f} records/sec "
            f"({self._window_bytes / elapsed_s / _MEGABYTE:.2f} MB/sec), {average:.1f} ms avg latency, "
            f"{float(self._window_max):.1f} ms max latency."
        )

    def total_text(self) -> str:
        """The line of the whole run."""
        elapsed_s = max(1, now_ms() - self._start) / 1000
        average = f"{self._latency_total / self._count:.2f}" if self._count else "NaN"
        ordered = sorted(self._latencies) or [0]
        p50, p95, p99, p999 = (
            ordered[min(len(ordered) - 1, int(part * len(ordered)))] for part in (0.5, 0.95, 0.99, 0.999)
        )
        state = " steady state" if self._is_steady_state else ""
        return (
            f"{self._count}{state} records sent, {self._count / elapsed_s:f} records/sec "
            f"({self._bytes / elapsed_s / _MEGABYTE:.2f} MB/sec), {average} ms avg latency, "
            f"{float(self._latency_max):.2f} ms max latency, {p50} ms 50th, {p95} ms 95th, {p99} ms 99th, "
            f"{p999} ms 99.9th."
        )
