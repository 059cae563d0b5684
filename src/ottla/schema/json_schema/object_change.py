"""Changes of what objects may hold.

The content model of an object says what properties it may hold that are not declared: *open*, any; *partially open*,
those that a schema allows; *closed*, none. The old schema's model decides whether a property may be added, the new
one's whether one may be removed.
"""

from ottla.base.java.order import hash_order, string_hash
from ottla.schema.json_schema.change import Change
from ottla.schema.json_schema.comparing import Comparing, Found, below
from ottla.schema.json_schema.node import Empty, Node, Nothing, Object
from ottla.schema.json_schema.value_change import lower, upper
from ottla.schema.trampoline import Step


def compare_objects(comparing: Comparing, old: Object, new: Object) -> Step[Found]:
    """The breaking changes between two object nodes."""
    found: Found = []
    for name in hash_order(old.properties, string_hash):
        newly_required = name in new.properties and name in new.required and name not in old.required
        if newly_required and not new.properties[name].has_default:
            found += comparing.found(Change.REQUIRED_ATTRIBUTE_ADDED, "required", name)
    for name in hash_order([*old.properties, *new.properties], string_hash):
        found += below((yield _property(comparing, old, new, name)), "properties", name)
    found += _dependencies(comparing, old, new)
    for name, schema in new.dependent_schemas.items():
        if name in old.dependent_schemas:
            found += below((yield comparing.compare(old.dependent_schemas[name], schema)), "dependencies", name)
        else:
            found += comparing.found(Change.DEPENDENCY_SCHEMA_ADDED, "dependencies", name)
    found += yield compare_rest(comparing, "additionalProperties", old.rest, new.rest, "ADDITIONAL_PROPERTIES")
    found += yield compare_unevaluated(
        comparing, "unevaluatedProperties", old.unevaluated, new.unevaluated, "UNEVALUATED_PROPERTIES"
    )
    found += upper(comparing, "maxProperties", old.properties_max, new.properties_max, "MAX_PROPERTIES")
    found += lower(comparing, "minProperties", old.properties_min, new.properties_min, "MIN_PROPERTIES")
    return found


def _property(comparing: Comparing, old: Object, new: Object, name: str) -> Step[Found]:
    before, after = old.properties.get(name), new.properties.get(name)
    found: Found
    if after is None:
        assert before is not None
        found = yield _removed(comparing, new, name, before)
    elif before is None:
        found = yield _added(comparing, old, new, name)
    else:
        found = yield comparing.compare(before, after)
    return found


def _removed(comparing: Comparing, new: Object, name: str, before: Node) -> Step[Found]:
    if _is_open(new):
        return []
    covering = _covering(comparing, new, name)
    if covering is None:
        if isinstance(before, Nothing):
            return []
        return comparing.found(Change.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL)
    found: Found = yield comparing.compare(before, covering)
    if found:
        found = found + comparing.found(Change.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)
    return found


def _added(comparing: Comparing, old: Object, new: Object, name: str) -> Step[Found]:
    after = new.properties[name]
    required, has_default = name in new.required, after.has_default
    if _is_open(old):
        if isinstance(after, Empty):
            return []
        if not required:
            return comparing.found(Change.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL)
        if has_default:
            return comparing.found(Change.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL)
        return comparing.found(Change.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL)
    found: Found = []
    covering = _covering(comparing, old, name)
    if covering is not None:
        inner: Found = yield comparing.compare(covering, after)
        if inner:
            found += inner + comparing.found(Change.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)
    if required and not has_default:
        found += comparing.found(Change.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL)
    return found


def _dependencies(comparing: Comparing, old: Object, new: Object) -> Found:
    found: Found = []
    for name in hash_order([*old.dependencies, *new.dependencies], string_hash):
        before, after = old.dependencies.get(name), new.dependencies.get(name)
        if after is None or before == after:
            continue
        if before is None:
            found += comparing.found(Change.DEPENDENCY_ARRAY_ADDED, "dependencies", name)
        elif before < after:
            found += comparing.found(Change.DEPENDENCY_ARRAY_EXTENDED, "dependencies", name)
        elif not after < before:
            found += comparing.found(Change.DEPENDENCY_ARRAY_CHANGED, "dependencies", name)
    return found


def compare_rest(comparing: Comparing, name: str, old: Node | None, new: Node | None, prefix: str) -> Step[Found]:
    """The breaking changes for undeclared properties or items; None allows any."""
    if isinstance(old, Nothing):
        return []
    if isinstance(new, Nothing):
        return comparing.found(Change[f"{prefix}_REMOVED"], name)
    if new is None:
        return []
    if old is None:
        return comparing.found(Change[f"{prefix}_NARROWED"], name)
    return below((yield comparing.compare(old, new)), name)


def compare_unevaluated(
    comparing: Comparing, name: str, old: Node | None, new: Node | None, prefix: str
) -> Step[Found]:
    """The breaking changes for properties or items that no other keyword evaluates."""
    if new is None or isinstance(old, Nothing):
        return []
    if isinstance(new, Nothing):
        return comparing.found(Change[f"{prefix}_REMOVED"], name)
    if old is None or (isinstance(old, Empty) and not isinstance(new, Empty)):
        return comparing.found(Change[f"{prefix}_NARROWED"], name)
    if isinstance(new, Empty):
        return []
    return below((yield comparing.compare(old, new)), name)


def _is_open(node: Object) -> bool:
    return node.rest is None and not node.patterns and (node.unevaluated is None or isinstance(node.unevaluated, Empty))


def _covering(comparing: Comparing, node: Object, name: str) -> Node | None:
    """The schema that a partially open model has for a property that it does not declare."""
    for pattern, schema in node.patterns.items():
        if comparing.patterns.matches(pattern, name):
            return schema
    if isinstance(node.rest, Nothing):
        return None
    if node.rest is not None:
        return node.rest
    if isinstance(node.unevaluated, (Nothing, Empty)):
        return None
    return node.unevaluated
