"""What `kafka-dump-log` finds wrong with files, kept by kind and file until the end, when the tool writes it down."""

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    pass


class Complaints:
    """What is wrong with the files, by kind and file, to be said at the end."""

    def __init__(self) -> None:
        self._found: Final[dict[tuple[str, str], dict[int, list[int]]]] = {}
        self._kinds: Final = {
            "index": ("Mismatches in :{}", "  Index offset: {}, log offset: {}"),
            "timestamp": ("Found timestamp mismatch in :{}", "  Index timestamp: {}, log timestamp: {}"),
            "order": (
                "Found out of order timestamp in :{}",
                "  Index timestamp: {}, Previously indexed timestamp: {}",
            ),
            "missing": (
                "The following indexed offsets are not found in :{}",
                "Indexed offset: {}, found log offset: {}",
            ),
            "gap": ("Non-consecutive offsets in {}", "  {} is followed by {}"),
        }

    def add(self, kind: str, path: str, found: int, other: int) -> None:
        """Notes one; `kind` is one of those above."""
        self._found.setdefault((kind, path), {}).setdefault(found, []).append(other)

    def show(self) -> None:
        """Writes them to the error output."""
        for kind, (title, line) in self._kinds.items():
            for (found_kind, path), pairs in self._found.items():
                if found_kind != kind:
                    continue
                print(title.format(path), file=sys.stderr)
                # Kafka keeps one pair per offset, the mismatches of an index from the last to the first.
                order = sorted(pairs, reverse=True) if kind == "index" else list(pairs)
                for one in order:
                    others = pairs[one][-1:] if kind in ("index", "gap") else pairs[one]
                    for other in others:
                        print(line.format(one, other), file=sys.stderr)
