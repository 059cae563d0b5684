"""The events of a run for the investigation of a failure: one line each, the last few thousand kept."""

from collections import deque
from collections.abc import Iterable

_LINES_KEPT = 4000


class Trace:
    """Lines of `time node what`."""

    def __init__(self) -> None:
        self._lines: deque[tuple[int, str, str, tuple[object, ...]]] = deque(maxlen=_LINES_KEPT)

    def add(self, time_ms: int, who: str, what: str, *details: object) -> None:
        """Notes a line; `details` fill the `{}` of it when it is printed, which most lines never are."""
        self._lines.append((time_ms, who, what, details))

    def lines(self, last: int | None = None) -> Iterable[str]:
        """The lines, or the last few of them, ready to print."""
        kept = list(self._lines)
        for time_ms, who, what, details in kept if last is None else kept[-last:]:
            yield f"{time_ms / 1000:10.3f}  {who:<8}  {what.format(*details) if details else what}"
