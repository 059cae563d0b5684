"""What must hold for any two JSON Schemas: documents that fit the old one fit a compatible new one."""

import json
from typing import Any

import jsonschema
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ottla.schema.compatibility import Level, check
from ottla.schema.json_schema.parse import parse
from ottla.schema.json_schema.schema import JsonSchema
from ottla.schema.policy import Policy

NAMES = ("a", "b", "c")
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 6) | st.sampled_from(["", "x", "xyz", "xyzxyz"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
LIMITS = st.integers(0, 5)


def optional(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


def schemas() -> st.SearchStrategy[Any]:
    return st.recursive(
        st.one_of(
            st.builds(lambda more: {"type": "string"} | more, optional(maxLength=LIMITS, minLength=LIMITS)),
            st.builds(
                lambda kind, more: {"type": kind} | more,
                st.sampled_from(["integer", "number"]),
                optional(maximum=LIMITS, minimum=LIMITS, multipleOf=st.integers(1, 4)),
            ),
            st.sampled_from([{"type": "null"}, {"type": "boolean"}, {"type": ["string", "null"]}, {}]),
            st.builds(
                lambda values: {"enum": values}, st.lists(st.sampled_from([1, "x", None]), min_size=1, unique=True)
            ),
        ),
        lambda inner: st.one_of(
            st.builds(
                lambda more: {"type": "array"} | more, optional(items=inner, maxItems=LIMITS, uniqueItems=st.booleans())
            ),
            st.builds(
                lambda more: {"type": "object"} | more,
                optional(
                    properties=st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
                    required=st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
                    additionalProperties=st.booleans() | inner,
                ),
            ),
            st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        ),
        max_leaves=5,
    )


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """A schema and one that differs in a keyword or two at the top or one step below."""
    old = draw(schemas())
    new = json.loads(json.dumps(old))
    place = new
    inner = [one for one in new.get("properties", {}).values() if isinstance(one, dict)] + new.get("anyOf", [])
    if inner and draw(st.booleans()):
        place = draw(st.sampled_from(inner))
    change = draw(schemas())
    for keyword in draw(st.lists(st.sampled_from(sorted({*place, *change}) or ["type"]), max_size=2)):
        place.pop(keyword, None)
        if keyword in change and draw(st.booleans()):
            place[keyword] = change[keyword]
    return old, new


def read(schema: Any) -> JsonSchema:
    return parse(json.dumps(schema), (), {}, strict=True)


def fits(schema: Any, document: Any) -> bool:
    return bool(jsonschema.Draft7Validator(schema).is_valid(document))


def requires_the_undeclared(old: Any, new: Any) -> bool:
    """Where the verdict is known to look away: names that are required but not declared."""

    def declared(schema: Any) -> bool:
        if isinstance(schema, list):
            return all(map(declared, schema))
        if not isinstance(schema, dict):
            return True
        return set(schema.get("required", ())) <= set(schema.get("properties", {})) and all(
            map(declared, schema.values())
        )

    return not (declared(old) and declared(new))


@settings(max_examples=100, deadline=None)
@given(pairs(), st.lists(DOCUMENTS, max_size=8))
def test_compatible_means_that_old_documents_fit(pair: tuple[Any, Any], documents: list[Any]) -> None:
    old, new = pair
    assume(not requires_the_undeclared(old, new))
    if read(new).incompatibilities(read(old), Policy.STRICT):
        return
    for document in documents:
        if fits(old, document):
            assert fits(new, document)


@settings(max_examples=50, deadline=None)
@given(pairs())
def test_levels_and_policies_agree(pair: tuple[Any, Any]) -> None:
    old, new = map(read, pair)
    assert new.incompatibilities(new, Policy.STRICT) == ()
    assert new.normalized().incompatibilities(new, Policy.STRICT) == ()
    either = [bool(check(level, new, [(1, old)])) for level in (Level.BACKWARD, Level.FORWARD)]
    assert bool(check(Level.FULL, new, [(1, old)])) == any(either)
    if not new.incompatibilities(old, Policy.STRICT):
        assert not new.incompatibilities(old, Policy.LENIENT)
