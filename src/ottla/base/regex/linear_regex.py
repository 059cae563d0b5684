"""Regular expressions on names of topics and transactional ids, matched in time linear to the name.

A backtracking matcher can be kept busy for years by `(a+)+x`, and the expression comes from a client: so the tree is
made into an automaton whose states are sets of places in the expression, and each set is worked out when it is first
met. The expression and what is kept of it are bounded, and so is, if the caller wants, the work on all names together.
"""

from typing import Final, TypeAlias

from ottla.base.regex.character_class import WORD
from ottla.base.regex.syntax import (
    Chars,
    Choice,
    Edge,
    Node,
    RegexError,
    Repeat,
    Sequence,
    alphabet_of,
    parse_regex,
)

PLACES_MAX: Final = 20_000
"""How large an expression may become when counted repetitions are written out."""
_STATES_MAX: Final = 1_000
"""How many states are kept before they are worked out anew."""
_State: TypeAlias = tuple[frozenset[int], int]
"""Where one may be in the expression, and what character stood before: -1 none, else one of its kind."""


class LinearRegex:
    """A compiled expression; `RegexError` if it is none."""

    def __init__(self, text: str, *, work_max: int | None = None) -> None:
        """`work_max` is how many places of the expression may be visited in all, whatever it is matched with."""
        alphabet = alphabet_of(text)
        self._bit: Final = alphabet.bit
        self._work_left: int | None = work_max
        self._program: Final = _Program()
        self._accept: Final = self._program.add()
        start = self._program.compile(parse_regex(text, alphabet), self._accept)
        self._start: Final = (frozenset((start,)), -1)
        self._reset()

    def matches(self, name: str) -> bool:
        """Whether the whole name matches; `RegexError` if `work_max` is used up.

        >>> LinearRegex("orders-[0-9]+").matches("orders-17")
        True
        """
        state = 0
        for character in name:
            after = self._table[state].get(character)
            state = self._follow(state, character) if after is None else after
        places, before = self._states[state]
        return self._accept in self._program.closure(places, before, -1)

    def allow(self, work: int) -> None:
        """Sets how many places may be visited from here on, as `work_max` does from the start."""
        self._work_left = work

    def _reset(self) -> None:
        self._states: list[_State] = [self._start]
        self._indexes: dict[_State, int] = {self._start: 0}
        self._table: list[dict[str, int]] = [{}]

    def _follow(self, state: int, character: str) -> int:
        """The state after a character that was not met there before."""
        places, before = self._states[state]
        code = self._bit(ord(character))
        reached = self._program.closure(places, before, code)
        if self._work_left is not None:
            self._work_left -= len(reached)
            if self._work_left < 0:
                raise RegexError("it takes too long to match")
        after = self._program.advance(reached, code)
        if len(self._states) >= _STATES_MAX:
            self._reset()
            return self._index((after, _kind(code)))
        index = self._table[state][character] = self._index((after, _kind(code)))
        return index

    def _index(self, state: _State) -> int:
        index = self._indexes.get(state)
        if index is None:
            index = self._indexes[state] = len(self._states)
            self._states.append(state)
            self._table.append({})
        return index


class _Program:
    """Places, each with a set of characters that leads on to the next one, or with edges to others."""

    def __init__(self) -> None:
        self._chars: list[tuple[int, int] | None] = []
        self._edges: list[tuple[tuple[str, int], ...]] = []

    def add(self) -> int:
        """A place that leads nowhere yet."""
        if len(self._edges) >= PLACES_MAX:
            raise RegexError("expression is too large")
        self._chars.append(None)
        self._edges.append(())
        return len(self._edges) - 1

    def compile(self, node: Node, after: int) -> int:
        """Where to begin so that what `node` matches leads to `after`."""
        if isinstance(node, Chars):
            place = self.add()
            self._chars[place] = (node.mask, after)
            return place
        if isinstance(node, Edge):
            return self._fork((node.kind, after))
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                after = self.compile(part, after)
            return after
        if isinstance(node, Choice):
            return self._fork(*(("", self.compile(option, after)) for option in node.options))
        return self._repeat(node, after)

    def _repeat(self, node: Repeat, after: int) -> int:
        part, low, high = node
        if high is None:
            again = self.add()
            self._edges[again] = (("", after), ("", self.compile(part, again)))
            after = again
        else:
            end = after
            for _ in range(high - low):
                after = self._fork(("", end), ("", self.compile(part, after)))
        for _ in range(low):
            after = self.compile(part, after)
        return after

    def _fork(self, *edges: tuple[str, int]) -> int:
        place = self.add()
        self._edges[place] = edges
        return place

    def closure(self, places: frozenset[int], before: int, code: int) -> set[int]:
        """All places that are reached without a character, between the one before and the next (-1: none)."""
        reached = set(places)
        waiting = list(places)
        while waiting:
            for kind, place in self._edges[waiting.pop()]:
                if place not in reached and (not kind or _is_edge(kind, before, code)):
                    reached.add(place)
                    waiting.append(place)
        return reached

    def advance(self, places: set[int], code: int) -> frozenset[int]:
        """Where a character leads to."""
        after = set()
        for place in places:
            step = self._chars[place]
            if step is not None and step[0] >> code & 1:
                after.add(step[1])
        return frozenset(after)


def _is_edge(kind: str, before: int, code: int) -> bool:
    if kind == "A":
        return before < 0
    if kind == "z":
        return code < 0
    is_boundary = _is_word(before) != _is_word(code)
    return is_boundary == (kind == "b")


def _kind(code: int) -> int:
    """A stand-in for all characters that are, or are not, part of a word: more does not matter to what follows."""
    return ord("a") if _is_word(code) else ord("-")


def _is_word(code: int) -> bool:
    return code >= 0 and bool(WORD >> code & 1)
