"""A progress bar on the error output, on a terminal only, so that it never gets into a pipe."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from ottla.cli.output.quantity import duration_text
from ottla.cli.output.style import Style, Tone

_INTERVAL_S: Final = 0.1
_BAR_WIDTH: Final = 24
_ERASE: Final = "\r\x1b[K"


class Progress:
    """Work that goes on: how much is done, how fast, and how long it will take if `total` is known.

    `update` is cheap enough to be called for every record; the bar is drawn at most ten times a second and is gone
    when the block ends.
    """

    def __init__(
        self,
        what: str,
        total: int | None = None,
        *,
        amount: Callable[[float], str] = "{:,.0f}".format,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what: Final = what
        self._total: Final = total
        self._amount: Final = amount
        self._stream: Final = sys.stderr if stream is None else stream
        self._style: Final = Style.of(self._stream)
        self._clock: Final = clock
        self._start: Final = clock()
        self._drawn_at = self._start - _INTERVAL_S
        self._is_drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.clear()

    def update(self, done: int, note: str = "") -> None:
        """Tells how much is done by now."""
        if not self._style.is_terminal:
            return
        now = self._clock()
        if now - self._drawn_at >= _INTERVAL_S:
            self._drawn_at = now
            self._is_drawn = True
            self._stream.write(_ERASE + self._text(done, now - self._start, note))
            self._stream.flush()

    def clear(self) -> None:
        """Takes the bar away, for whatever is to be printed instead."""
        if self._is_drawn:
            self._is_drawn = False
            self._stream.write(_ERASE)
            self._stream.flush()

    def _text(self, done: int, elapsed_s: float, note: str) -> str:
        rate = done / elapsed_s if elapsed_s > 0 else 0.0
        parts = [self._style.paint(self._what, Tone.STRONG)]
        if self._total:
            parts += [self._bar(min(1.0, done / self._total)), f"{self._amount(done)} of {self._amount(self._total)}"]
        else:
            parts.append(self._amount(done))
        parts.append(self._style.paint(f"{self._amount(rate)}/s", Tone.FAINT))
        if self._total and rate and done < self._total:
            parts.append(self._style.paint(f"{duration_text((self._total - done) / rate)} left", Tone.FAINT))
        return "  ".join([*parts, note] if note else parts)

    def _bar(self, share: float) -> str:
        full = round(share * _BAR_WIDTH)
        done, left = "━" * full, "━" * (_BAR_WIDTH - full)
        if not self._style.is_coloured:
            left = "·" * len(left)
        return self._style.paint(done, Tone.GOOD) + self._style.paint(left, Tone.FAINT) + f" {share:4.0%}"
