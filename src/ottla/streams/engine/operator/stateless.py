"""Operators without state: filters, maps, branches. What a null key or value means is up to the user's function."""

from collections.abc import Callable, Sequence
from typing import Any

from ottla.streams.engine.operator.operator import Operator
from ottla.streams.record import Headers


class PassThrough(Operator):
    """Merges, branches, and the merged halves of joins."""


class Filter(Operator):
    """Passes on what the predicate accepts (or, negated, what it does not)."""

    def __init__(self, predicate: Callable[[Any, Any], Any], *, negated: bool = False) -> None:
        self._predicate = predicate
        self._negated = negated

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Asks the predicate."""
        if bool(self._predicate(key, value)) is not self._negated:
            self.forward(key, value, timestamp, headers)


class MapPair(Operator):
    """Makes another key and value."""

    def __init__(self, mapper: Callable[[Any, Any], tuple[Any, Any]]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Maps the pair."""
        new_key, new_value = self._mapper(key, value)
        self.forward(new_key, new_value, timestamp, headers)


class MapKey(Operator):
    """Makes another key."""

    def __init__(self, mapper: Callable[[Any, Any], Any]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Maps the key."""
        self.forward(self._mapper(key, value), value, timestamp, headers)


class MapValue(Operator):
    """Makes another value."""

    def __init__(self, mapper: Callable[[Any, Any], Any]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Maps the value."""
        self.forward(key, self._mapper(key, value), timestamp, headers)


class FlatMap(Operator):
    """Makes any number of pairs."""

    def __init__(self, mapper: Callable[[Any, Any], Any]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Forwards each pair."""
        for new_key, new_value in self._mapper(key, value):
            self.forward(new_key, new_value, timestamp, headers)


class FlatMapValue(Operator):
    """Makes any number of values."""

    def __init__(self, mapper: Callable[[Any, Any], Any]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Forwards each value."""
        for new_value in self._mapper(key, value):
            self.forward(key, new_value, timestamp, headers)


class Peek(Operator):
    """Shows each record to a function, and passes it on unless it is the last node."""

    def __init__(self, action: Callable[[Any, Any], object], *, forwards: bool = True) -> None:
        self._action = action
        self._forwards = forwards

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Calls the function."""
        self._action(key, value)
        if self._forwards:
            self.forward(key, value, timestamp, headers)


class Branch(Operator):
    """Sends each record to the first child whose predicate accepts it, or to the default child."""

    def __init__(self, predicates: Sequence[tuple[Callable[[Any, Any], Any], str]], default: str | None) -> None:
        self._predicates = predicates
        self._default = default
        self.children: dict[str, Operator] = {}

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Finds the child."""
        for predicate, child in self._predicates:
            if predicate(key, value):
                self.children[child].process(key, value, timestamp, headers)
                return
        if self._default is not None:
            self.children[self._default].process(key, value, timestamp, headers)


class ToStream(Operator):
    """A table's updates as records: their new values."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Takes the new side of the change."""
        self.forward(key, value[0], timestamp, headers)
