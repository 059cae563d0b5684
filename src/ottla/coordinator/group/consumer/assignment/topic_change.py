"""Which topics changed, as far back as a rebalance's line in the log names them.

Groups compare counts to find out whether anything changed since they looked; only the names of the last
`NAMES_MAX` topics are kept, so that a broker whose topics come and go for months holds no more than that.
"""

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Final

NAMES_MAX: Final = 1_000


class TopicChanges:
    """The changes of topics that one shard heard of."""

    def __init__(self) -> None:
        self.count = 0
        self._last: dict[str, int] = {}
        """Topic → which change was its last, the oldest first."""

    def __len__(self) -> int:
        return len(self._last)

    def note(self, names: Collection[str]) -> None:
        """One change more, of these topics."""
        self.count += 1
        last = self._last
        for name in islice(names, NAMES_MAX):
            last.pop(name, None)
            last[name] = self.count
        for name in list(islice(last, max(len(last) - NAMES_MAX, 0))):
            del last[name]

    def since(self, count: int, names: Iterable[str]) -> list[str]:
        """Which of these topics changed after so many changes, as far as it is known."""
        return [name for name in names if self._last.get(name, 0) > count]

    def clear(self) -> None:
        """Forgets the names."""
        self._last.clear()
