"""Checks whether a new JSON Schema accepts all documents that an old one accepted, with Confluent's verdict.

Pairs of nodes are compared once. A pair that is met again while it is being compared counts as compatible. If such an
assumption was made the comparison is repeated with the incompatible pairs known so far, until no new one is found.
The parts of two `oneOf`, `anyOf` or `allOf` are paired off: the smaller side has to be covered by compatible partners.
"""

from typing import Final

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.array_change import compare_arrays
from ottla.schema.json_schema.change import Change
from ottla.schema.json_schema.comparing import Found
from ottla.schema.json_schema.matching import matching_size
from ottla.schema.json_schema.node import (
    Array,
    Combined,
    Const,
    Criterion,
    Empty,
    Enumeration,
    Node,
    Not,
    Nothing,
    Numeric,
    Object,
    Reference,
    String,
)
from ottla.schema.json_schema.object_change import compare_objects
from ottla.schema.json_schema.pattern import Patterns
from ottla.schema.json_schema.value_change import compare_numbers, compare_strings
from ottla.schema.json_text import Json, same_json
from ottla.schema.trampoline import Step, run

_FOUND_MAX: Final = 1000
"""Reports are cut here."""

_PAIRS_MAX: Final = 250_000
"""Combined schemas cost the product of their parts; beyond this the schemas are refused."""

Pair = tuple[int, int]


def changes(old: Node, new: Node, allowed: frozenset[Change]) -> Found:
    """The breaking changes from the old schema to the new one, each with its path."""
    known: dict[Pair, Found] = {}
    pairs = 0
    while True:
        comparison = _Comparison(allowed, known, pairs)
        found = run(comparison.compare(old, new))
        broken = {pair: one for pair, one in comparison.done.items() if one}
        if not comparison.assumed or broken.keys() == known.keys():
            return found
        known, pairs = broken, comparison.pairs


class _Comparison:
    """One pass over both schemas."""

    def __init__(self, allowed: frozenset[Change], known: dict[Pair, Found], pairs: int) -> None:
        self.allowed = allowed
        self.known = known
        self.pairs = pairs
        self.done: dict[Pair, Found] = {}
        self.assumed = False
        self.patterns = Patterns()
        self._open: set[Pair] = set()

    def compare(self, old: Node | None, new: Node | None) -> Step[Found]:
        if old is None or new is None:
            return [] if old is new or new is None else self.found(Change.SCHEMA_ADDED)
        old, new = _target(old), _target(new)
        pair = id(old), id(new)
        if pair in self.done:
            return self.done[pair]
        if pair in self._open:
            if pair in self.known:
                return self.known[pair]
            self.assumed = True
            return []
        self.pairs += 1
        if self.pairs > _PAIRS_MAX:
            raise InvalidSchemaError("the schemas are too large to be compared")
        self._open.add(pair)
        found: Found = yield self._nodes(old, new)
        self._open.discard(pair)
        self.done[pair] = found = found[:_FOUND_MAX]
        return found

    def found(self, change: Change, *path: str) -> Found:
        """The change, unless the policy lets it pass."""
        return [] if change in self.allowed else [(change, path)]

    def _nodes(self, old: Node, new: Node) -> Step[Found]:
        if (yield self._by_a_part(old, new)):
            return []
        if isinstance(old, Combined) and isinstance(new, Combined):
            found: Found = yield self._combined(old, new)
        elif type(old) is not type(new):
            if isinstance(old, Nothing) or isinstance(new, Empty) or old.connect_type == new.connect_type == "bytes":
                return []
            found = self.found(Change.TYPE_CHANGED)
        elif isinstance(old, Object) and isinstance(new, Object):
            found = yield compare_objects(self, old, new)
        elif isinstance(old, Array) and isinstance(new, Array):
            found = yield compare_arrays(self, old, new)
        elif isinstance(old, Not) and isinstance(new, Not):
            # What was forbidden has to include what is forbidden now: the other way round.
            wider = yield self.compare(new.inner, old.inner)
            found = self.found(Change.NOT_TYPE_EXTENDED, "not") if wider else []
        else:
            found = self._values(old, new)
        return found

    def _values(self, old: Node, new: Node) -> Found:
        if isinstance(old, String) and isinstance(new, String):
            return compare_strings(self, old, new)
        if isinstance(old, Numeric) and isinstance(new, Numeric):
            return compare_numbers(self, old, new)
        if isinstance(old, Enumeration) and isinstance(new, Enumeration) and not old.keys <= new.keys:
            narrowed = new.keys < old.keys
            return self.found(Change.ENUM_ARRAY_NARROWED if narrowed else Change.ENUM_ARRAY_CHANGED, "enum")
        if isinstance(old, Const) and isinstance(new, Const) and old.key != new.key:
            return self.found(Change.ENUM_ARRAY_CHANGED, "const")
        return []

    def _by_a_part(self, old: Node, new: Node) -> Step[bool]:
        """Whether one part decides: a branch of the new sum accepts, or a factor of the old product implies."""
        if isinstance(new, Combined) and not isinstance(old, Combined):
            if len(new.parts) == 1 or new.criterion is not Criterion.ALL:
                for part in new.parts:
                    if not (yield self.compare(old, part)):
                        return True
        elif (
            isinstance(old, Combined)
            and not isinstance(new, Combined)
            and (len(old.parts) == 1 or old.criterion is Criterion.ALL)
        ):
            for part in old.parts:
                if not (yield self.compare(part, new)):
                    return True
        return False

    def _combined(self, old: Combined, new: Combined) -> Step[Found]:
        if old.criterion is not new.criterion and not _may_become(old, new):
            return self.found(Change.COMBINED_TYPE_CHANGED)
        found: Found = []
        before, after = _distinct(old.parts), _distinct(new.parts)
        if len(before) < len(after) and new.criterion is Criterion.ALL:
            found += self.found(Change.PRODUCT_TYPE_EXTENDED)
        elif len(before) > len(after) and old.criterion is not Criterion.ALL:
            found += self.found(Change.SUM_TYPE_NARROWED)
        partners: list[list[int]] = []
        for part in before:
            partners.append([])
            for at, other in enumerate(after):
                if not (yield self.compare(part, other)):
                    partners[-1].append(at)
        if matching_size(partners, len(after)) < min(len(before), len(after)):
            found += self.found(Change.COMBINED_TYPE_SUBSCHEMAS_CHANGED)
        return found


def _may_become(old: Combined, new: Combined) -> bool:
    """Whether a combination may replace one of another keyword: `allOf` with one part by anything, for example."""
    old_single, new_single = len(old.parts) == 1, len(new.parts) == 1
    return (
        new.criterion is Criterion.ANY
        or (old_single and new_single)
        or (old_single and new.criterion is Criterion.ONE)
        or (new_single and old.criterion is Criterion.ALL)
    )


def _target(node: Node) -> Node:
    """The node behind a reference, after one step as in Confluent's registry."""
    if isinstance(node, Reference):
        if node.target is None:
            raise InvalidSchemaError("a reference was not resolved")
        return node.target
    return node


def _distinct(parts: list[Node]) -> list[Node]:
    """The parts without those that were written the same as an earlier one."""
    found: list[Node] = []
    by_shape: dict[tuple[str, ...], list[Json]] = {}
    for part in parts:
        source = part.source
        if isinstance(source, dict):
            same = by_shape.setdefault(tuple(sorted(source)), [])
            if any(one == source and same_json(one, source) for one in same):
                continue
            same.append(source)
        found.append(part)
    return found
