"""A map that several threads use at a time.

The content is an immutable map that a change replaces. A reader sees the content of one moment, also when it goes
through all of it. A dict would fail with "dictionary changed size during iteration". So would `list(a_dict)`: a
collection of garbage may begin in there and let another thread run. Changes wait for each other, readers never wait.
"""

import threading
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from immutables import Map

K = TypeVar("K")
V = TypeVar("V")


class SharedMap(Generic[K, V]):
    """Keys and values; any thread may read and change.

    >>> numbers = SharedMap[str, int]()
    >>> numbers["one"] = 1
    >>> for name in numbers:
    ...     numbers[name + "teen"] = 10 + numbers.pop(name)
    >>> list(numbers.items())
    [('oneteen', 11)]
    """

    __slots__ = ("_changing", "_content")

    def __init__(self) -> None:
        self._content: Map[K, V] = Map()
        self._changing: Final = threading.Lock()

    def __repr__(self) -> str:
        return f"SharedMap({dict(self._content)!r})"

    def __getitem__(self, key: K) -> V:
        return self._content[key]

    def get(self, key: K) -> V | None:
        """The value of a key, if it is there."""
        return self._content.get(key)

    def items(self) -> Iterator[tuple[K, V]]:
        """Keys and values of this moment."""
        return iter(self._content.items())

    def values(self) -> Iterator[V]:
        """The values of this moment."""
        return iter(self._content.values())

    def __contains__(self, key: object) -> bool:
        return key in self._content

    def __iter__(self) -> Iterator[K]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __setitem__(self, key: K, value: V) -> None:
        with self._changing:
            self._content = self._content.set(key, value)

    def pop(self, key: K) -> V | None:
        """Takes a key out; its value, None if it was not there."""
        with self._changing:
            value = self._content.get(key)
            if key in self._content:
                self._content = self._content.delete(key)
            return value
