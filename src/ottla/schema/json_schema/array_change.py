"""Compares the keywords of arrays. The schema behind a tuple makes it open, partially open or closed, like objects."""

from ottla.schema.json_schema.change import Change
from ottla.schema.json_schema.comparing import Comparing, Found, below
from ottla.schema.json_schema.node import Array, Empty, Node, Nothing
from ottla.schema.json_schema.object_change import compare_rest, compare_unevaluated
from ottla.schema.json_schema.value_change import lower, upper
from ottla.schema.trampoline import Step


def compare_arrays(comparing: Comparing, old: Array, new: Array) -> Step[Found]:
    """The breaking changes between two array nodes."""
    found: Found = below((yield comparing.compare(old.each, new.each)), "items")
    found += yield _tuples(comparing, old, new)
    found += yield compare_rest(comparing, "additionalItems", old.rest, new.rest, "ADDITIONAL_ITEMS")
    found += yield compare_unevaluated(
        comparing, "unevaluatedItems", old.unevaluated, new.unevaluated, "UNEVALUATED_ITEMS"
    )
    found += upper(comparing, "maxItems", old.items_max, new.items_max, "MAX_ITEMS")
    found += lower(comparing, "minItems", old.items_min, new.items_min, "MIN_ITEMS")
    if new.unique and not old.unique:
        found += comparing.found(Change.UNIQUE_ITEMS_ADDED, "uniqueItems")
    found += upper(comparing, "maxContains", old.contains_max, new.contains_max, "MAX_CONTAINS")
    found += lower(comparing, "minContains", old.contains_min, new.contains_min, "MIN_CONTAINS")
    return found


def _tuples(comparing: Comparing, old: Array, new: Array) -> Step[Found]:
    found: Found = []
    both = min(len(old.tuple), len(new.tuple))
    for at in range(both):
        found += below((yield comparing.compare(old.tuple[at], new.tuple[at])), "items", str(at))
    for at, schema in enumerate(old.tuple[both:], both):
        found += below((yield _removed(comparing, new, schema)), "items", str(at))
    for at, schema in enumerate(new.tuple[both:], both):
        found += below((yield _added(comparing, old, schema)), "items", str(at))
    return found


def _removed(comparing: Comparing, new: Array, before: Node) -> Step[Found]:
    if _is_open(new):
        return []
    covering = _covering(new)
    if covering is None:
        return [] if isinstance(before, Nothing) else comparing.found(Change.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL)
    found: Found = yield comparing.compare(before, covering)
    if found:
        found = found + comparing.found(Change.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)
    return found


def _added(comparing: Comparing, old: Array, after: Node) -> Step[Found]:
    if _is_open(old):
        return [] if isinstance(after, Empty) else comparing.found(Change.ITEM_ADDED_TO_OPEN_CONTENT_MODEL)
    covering = _covering(old)
    if covering is None:
        return []
    found: Found = yield comparing.compare(covering, after)
    if found:
        found = found + comparing.found(Change.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)
    return found


def _is_open(node: Array) -> bool:
    return node.rest is None and (node.unevaluated is None or isinstance(node.unevaluated, Empty))


def _covering(node: Array) -> Node | None:
    """The schema of items beyond the tuple, in a partially open model."""
    if isinstance(node.rest, Nothing):
        return None
    if node.rest is not None:
        return node.rest
    return None if isinstance(node.unevaluated, (Nothing, Empty)) else node.unevaluated
