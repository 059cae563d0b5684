"""Schemas of drafts 2019-09 and 2020-12: every keyword is a restriction of its own, `$ref` among them."""

from collections.abc import Callable
from typing import Final

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.draft import Draft
from ottla.schema.json_schema.keyword import Keywords, text_in, value_key, wrong_kind
from ottla.schema.json_schema.loading import Loading
from ottla.schema.json_schema.node import (
    Array,
    Combined,
    Conditional,
    Const,
    Criterion,
    Enumeration,
    Node,
    Not,
    Nothing,
    Numeric,
    Object,
    String,
)
from ottla.schema.json_schema.part import flattened, joined, limit_array, limit_numeric, limit_string, typed
from ottla.schema.json_schema.pattern import check_pattern
from ottla.schema.json_schema.reference import Scope
from ottla.schema.trampoline import Step

_LAST: Final = ("properties", "patternProperties", "unevaluatedItems", "unevaluatedProperties")
"""Keywords that are joined after all others."""

_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_IGNORED: Final = frozenset({"format", "readOnly", "writeOnly"})


def read(loader: Loading, keywords: Keywords, scope: Scope) -> Step[Node]:
    """The node of one schema object."""
    for name in ("$id", "title", "description"):
        keywords.text(name)
    parts: list[Node] = []
    names = [name for name in keywords.value if name not in _LAST]
    for name in (*names, *(name for name in _LAST if name in keywords)):
        if name in _SIMPLE:
            parts.append(_SIMPLE[name](keywords))
        elif name in _WITH_SCHEMAS:
            parts.extend((yield _WITH_SCHEMAS[name](loader, keywords, scope, name)))
        elif name in _REFERENCES:
            parts.append(loader.refer(keywords, name, scope))
        elif name in _IGNORED:
            parts.append(Combined(Criterion.ALL, [], implied=True))
    node = joined(parts)
    node.has_default = keywords.value.get("default") is not None
    connect_type = keywords.value.get("connect.type")
    node.connect_type = connect_type if isinstance(connect_type, str) else None
    return node


def _type(keywords: Keywords) -> Node:
    given = keywords.value["type"]
    branches = []
    for kind in given if isinstance(given, list) else [given]:
        if not isinstance(kind, str):
            raise wrong_kind("string or array of strings", kind, keywords.at("type"))
        node = typed(kind)
        if node is None:
            raise InvalidSchemaError(f"{keywords.path}: unknown type: [{kind}]", keywords.at("type"))
        branches.append(node)
    return Combined(Criterion.ANY, branches, implied=True) if isinstance(given, list) else branches[0]


def _string(keywords: Keywords) -> Node:
    node = String()
    limit_string(node, keywords)
    return node


def _numeric(keywords: Keywords) -> Node:
    node = Numeric()
    limit_numeric(node, keywords)
    node.exclusive_minimum = keywords.number("exclusiveMinimum")
    node.exclusive_maximum = keywords.number("exclusiveMaximum")
    return node


def _array(keywords: Keywords) -> Node:
    node = Array()
    limit_array(node, keywords)
    return node


def _object(keywords: Keywords) -> Node:
    node = Object()
    node.properties_min = keywords.integer("minProperties")
    node.properties_max = keywords.integer("maxProperties")
    node.required = set(keywords.texts("required") or ())
    for name, needs in (keywords.mapping("dependentRequired") or {}).items():
        path = f"{keywords.at('dependentRequired')}/{name}"
        if not isinstance(needs, list):
            raise wrong_kind("array", needs, path)
        if needs:
            node.dependencies[name] = frozenset(text_in(need, path) for need in needs)
    return node


def _enum(keywords: Keywords) -> Node:
    return Enumeration(frozenset(map(value_key, keywords.array("enum") or ())))


def _const(keywords: Keywords) -> Node:
    return Const(value_key(keywords.value["const"]))


_SIMPLE: Final[dict[str, Callable[[Keywords], Node]]] = {
    "type": _type,
    "minLength": _string,
    "maxLength": _string,
    "pattern": _string,
    "minimum": _numeric,
    "maximum": _numeric,
    "exclusiveMinimum": _numeric,
    "exclusiveMaximum": _numeric,
    "multipleOf": _numeric,
    "minItems": _array,
    "maxItems": _array,
    "uniqueItems": _array,
    "minProperties": _object,
    "maxProperties": _object,
    "required": _object,
    "dependentRequired": _object,
    "enum": _enum,
    "const": _const,
}


def _combined(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    parts: list[Node] = []
    for at, schema in enumerate(keywords.array(name) or ()):
        # As in Confluent's registry, a branch with keywords of several kinds counts as several branches.
        parts.extend(flattened((yield loader.schema(schema, scope, f"{keywords.at(name)}/{at}"))))
    return [Combined(Criterion(name), parts)]


def _not(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    return [Not((yield loader.schema(keywords.value[name], scope, keywords.at(name))))]


def _conditional(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    for keyword in ("if", "then", "else"):
        if keyword in keywords:
            yield loader.schema(keywords.value[keyword], scope, keywords.at(keyword))
    return [Conditional()]


def _items(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    node = Array()
    given = keywords.value[name]
    if name == "additionalItems" and not isinstance(keywords.value.get("items"), list):
        return []
    if isinstance(given, list) and (name, loader.draft) != ("items", Draft.DRAFT_2020_12):
        for at, schema in enumerate(given):
            node.tuple.append((yield loader.schema(schema, scope, f"{keywords.at(name)}/{at}")))
        return [node]
    inner = yield loader.schema(given, scope, keywords.at(name))
    if given is False or (given is not True and (name == "additionalItems" or keywords.array("prefixItems"))):
        node.rest = inner
    elif given is not True:
        node.each = inner
    return [node]


def _contains(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    yield loader.schema(keywords.value[name], scope, keywords.at(name))
    node = Array()
    least = keywords.integer("minContains")
    node.contains_min = 1 if least is None else least
    node.contains_max = keywords.integer("maxContains")
    return [node]


def _additional(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    node = Object()
    inner = yield loader.schema(keywords.value[name], scope, keywords.at(name))
    node.rest = None if keywords.value[name] is True else Nothing() if keywords.value[name] is False else inner
    return [node]


def _properties(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    node = Object()
    for key, schema in (keywords.mapping(name) or {}).items():
        node.properties[key] = yield loader.schema(schema, scope, f"{keywords.at(name)}/{key}")
    return [node] if node.properties else []


def _patterns(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    node = Object()
    for pattern, schema in (keywords.mapping(name) or {}).items():
        path = f"{keywords.at(name)}/{pattern}"
        check_pattern(pattern, path)
        node.patterns[pattern] = yield loader.schema(schema, scope, path)
    return [node] if node.patterns else []


def _dependent(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    node = Object()
    for key, schema in (keywords.mapping(name) or {}).items():
        node.dependent_schemas[key] = yield loader.schema(schema, scope, f"{keywords.at(name)}/{key}")
    return [node]


def _property_names(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    yield loader.schema(keywords.value[name], scope, keywords.at(name))
    return [Object()]


def _unevaluated(loader: Loading, keywords: Keywords, scope: Scope, name: str) -> Step[list[Node]]:
    node = Object() if name == "unevaluatedProperties" else Array()
    node.unevaluated = yield loader.schema(keywords.value[name], scope, keywords.at(name))
    return [node]


_WITH_SCHEMAS: Final[dict[str, Callable[[Loading, Keywords, Scope, str], Step[list[Node]]]]] = {
    "allOf": _combined,
    "anyOf": _combined,
    "oneOf": _combined,
    "not": _not,
    "if": _conditional,
    "items": _items,
    "prefixItems": _items,
    "additionalItems": _items,
    "contains": _contains,
    "additionalProperties": _additional,
    "properties": _properties,
    "patternProperties": _patterns,
    "dependentSchemas": _dependent,
    "propertyNames": _property_names,
    "unevaluatedItems": _unevaluated,
    "unevaluatedProperties": _unevaluated,
}
