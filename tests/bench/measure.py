"""How a rate is measured here: all contenders in turn, many short rounds, the best round of each.

The machines are noisy, so only ratios between contenders of one run mean something.
"""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass
class Figure:
    """One line of the table: what was done, by us and by others."""

    name: str
    unit: str
    ours: float
    peers: dict[str, float] = field(default_factory=dict)
    target: str = ""
    per: str = "/s"
    """What the unit is counted over; empty for an amount."""


def rates(contenders: Mapping[str, Callable[[], object]], work: float, *, seconds: float) -> dict[str, float]:
    """Units of work per second for each contender, interleaved; `work` is what one call does."""
    repeat = {name: _calls_per_round(call) for name, call in contenders.items()}
    best = dict.fromkeys(contenders, 0.0)
    gc.disable()
    try:
        end = time.perf_counter() + seconds * len(contenders)
        while time.perf_counter() < end:
            for name, call in contenders.items():
                best[name] = max(best[name], work * _best_rate(call, repeat[name]))
            gc.collect()
    finally:
        gc.enable()
    return best


def compare(
    name: str,
    unit: str,
    contenders: Mapping[str, Callable[[], object]],
    work: float,
    *,
    seconds: float,
    target: str = "",
) -> Figure:
    """A `Figure` from contenders, of which the one called `ours` is ours."""
    measured = rates(contenders, work, seconds=seconds)
    return Figure(name, unit, measured.pop("ours"), measured, target)


def _best_rate(call: Callable[[], object], calls: int) -> float:
    """Calls per second in the best of the rounds that fit into a tenth of a second: the first ones warm the caches."""
    best, end = 0.0, time.perf_counter() + 0.1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        now = time.perf_counter()
        best = max(best, calls / (now - start))
        if now > end:
            return best


def _calls_per_round(call: Callable[[], object]) -> int:
    """As many calls as take about 20 ms, judged once the call is warm."""
    calls, elapsed = 0, 0.0
    call()
    start = time.perf_counter()
    while elapsed < 0.02:
        call()
        calls += 1
        elapsed = time.perf_counter() - start
    return calls
