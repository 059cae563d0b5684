"""Where ids, jitter and the placement of replicas come from.

`random.Random` is a `Chance` as it stands; a seeded one makes every decision repeatable.
"""

from collections.abc import MutableSequence
from typing import Any, Protocol


class Chance(Protocol):
    """A source of random numbers, orders and bytes."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 up to, and without, `stop`."""

    def shuffle(self, x: MutableSequence[Any], /) -> None:
        """Puts a list in another order."""

    def randbytes(self, n: int, /) -> bytes:
        """`n` bytes; ids that must not be guessed need a source that cannot be foreseen."""
