"""The live view in the terminal: rates, lag, the last dangerous events, the drivers with most of them.

`render` is a function of what is known; who prints it decides where the cursor is. Nothing here talks to anybody. Other
threads add to `Progress` meanwhile, so what is walked over is copied first, which Python does in one go.
"""

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any, Final

_EVENTS_KEPT: Final = 8
_DRIVERS_SHOWN: Final = 8
_BAR: Final = 24
_BOLD, _DIM, _RED, _GREEN, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[0m"


@dataclass
class Progress:
    """The state of a run."""

    bootstrap: str
    stage: str = "starting"
    note: str = ""
    """A further line about the run."""
    started: float = field(default_factory=time.monotonic)
    driving_since: float = 0.0
    """When the first position was sent."""
    arrived_at: float = 0.0
    """When the last one was; 0 while they are under way."""
    sent: int = 0
    counted: Counter[str] = field(default_factory=Counter)
    """Records seen in each topic."""
    rates: dict[str, float] = field(default_factory=dict)
    lags: dict[str, int] = field(default_factory=dict)
    events: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_EVENTS_KEPT))
    drivers: Counter[str] = field(default_factory=Counter)
    windows: Counter[str] = field(default_factory=Counter)
    """The pipeline's own counts, by driver."""

    def saw(self, event: dict[str, Any]) -> None:
        """A dangerous event with its driver came out of the pipeline."""
        self.events.append(event)
        self.drivers[driver_name(event)] += 1


def driver_name(row: dict[str, Any]) -> str:
    """The name to show for a driver."""
    name = " ".join(str(row[part]) for part in ("firstName", "lastName") if row.get(part))
    return name or f"driver {row.get('driverId')}"


def render(progress: Progress, *, width: int = 100, colour: bool = True) -> str:
    """The whole screen."""
    paint = _paint if colour else _plain
    elapsed = int(time.monotonic() - progress.started)
    lines = [
        paint(_BOLD, "Ottla trucks")
        + paint(_DIM, f"   {elapsed // 60}:{elapsed % 60:02d}   broker {progress.bootstrap}   {progress.stage}"),
        paint(_DIM, progress.note),
        paint(_DIM, f"{'topic':<32}{'records':>12}{'per second':>12}{'pipeline lag':>14}"),
    ]
    for topic, count in list(progress.counted.items()):
        lag = progress.lags.get(topic)
        lines.append(f"{topic:<32}{count:>12,}{progress.rates.get(topic, 0):>12,.0f}{_lag(lag):>14}")
    lines += ["", paint(_BOLD, "Last dangerous events")]
    lines += [_event(event, paint) for event in list(progress.events)[::-1]] or [paint(_DIM, "  none yet")]
    lines += ["", paint(_BOLD, "Dangerous events by driver")]
    lines += _bars(progress, paint) or [paint(_DIM, "  none yet")]
    return "\n".join(_cut(line, width) for line in lines) + "\n"


def summary(progress: Progress) -> str:
    """The summary at the end of a run."""
    elapsed = max((progress.arrived_at or time.monotonic()) - progress.driving_since, 0.001)
    lines = [f"{progress.sent:,} positions sent in {elapsed:.0f} s ({progress.sent / elapsed:,.0f} per second)"]
    lines += [f"  {topic:<32}{count:>10,} records" for topic, count in progress.counted.items()]
    if progress.drivers:
        name, count = progress.drivers.most_common(1)[0]
        lines.append(f"  most dangerous: {name} with {count:,} events")
    if behind := sum(progress.lags.values()):
        lines.append(f"  the pipeline is {behind:,} records behind: the next run goes on from there")
    return "\n".join(lines)


def _event(event: dict[str, Any], paint: Any) -> str:
    at = time.strftime("%H:%M:%S", time.localtime(event["timestamp"] / 1000))
    place = f"{event['latitude']:.2f}, {event['longitude']:.2f}"
    kind = paint(_RED, f"{event['eventType']:<26}")
    return f"  {at}  {kind} {driver_name(event):<22} truck {event['truckId']:<4} {place}"


def _bars(progress: Progress, paint: Any) -> list[str]:
    shown = progress.drivers.most_common(_DRIVERS_SHOWN)
    most = shown[0][1] if shown else 1
    return [
        f"  {name:<22}{count:>8,}  {paint(_GREEN, ('█' * max(1, count * _BAR // most)).ljust(_BAR))}"
        + paint(_DIM, f"  {progress.windows[name]:,} in closed windows" if progress.windows[name] else "")
        for name, count in shown
    ]


def _lag(lag: int | None) -> str:
    return "" if lag is None else f"{lag:,}"


def _paint(code: str, text: str) -> str:
    return f"{code}{text}{_OFF}"


def _plain(_code: str, text: str) -> str:
    return text


def _cut(line: str, width: int) -> str:
    """A line that does not wrap; codes of colours take no room."""
    shown, kept, inside = 0, [], False
    for character in line:
        inside = inside or character == "\x1b"
        if not inside:
            if shown == width:
                continue
            shown += 1
        kept.append(character)
        inside = inside and character != "m"
    return "".join(kept)
