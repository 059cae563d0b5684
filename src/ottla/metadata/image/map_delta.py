"""Changes to one persistent map, collected and then applied at once.

Most parts of the image are a map from a key to a value, and their deltas are all alike: what was set, what was removed.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

from immutables import Map

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class MapDelta(Generic[K, V]):
    """A change of `base`: `changes` has the new value of every changed key, None for a removed one.

    >>> delta = MapDelta(Map({"a": 1, "b": 2}))
    >>> delta.set("c", 3)
    >>> delta.remove("a")
    >>> delta.changes, sorted(delta.apply().items())
    ({'c': 3, 'a': None}, [('b', 2), ('c', 3)])
    """

    __slots__ = ("base", "changes")

    def __init__(self, base: Map[K, V]) -> None:
        self.base = base
        self.changes: dict[K, V | None] = {}

    def get(self, key: K) -> V | None:
        """The value of `key` with the changes so far."""
        if key in self.changes:
            return self.changes[key]
        return self.base.get(key)

    def set(self, key: K, value: V) -> None:
        """Gives a key a value."""
        self.changes[key] = value

    def remove(self, key: K) -> None:
        """Takes a key away, if it is there."""
        self.changes[key] = None

    def apply(self) -> Map[K, V]:
        """The map with all changes; `base` itself if there are none."""
        if not self.changes:
            return self.base
        changed = self.base.mutate()
        for key, value in self.changes.items():
            if value is not None:
                changed[key] = value
            else:
                changed.pop(key, None)
        return changed.finish()
