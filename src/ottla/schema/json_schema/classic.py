"""Schemas of drafts 4, 6 and 7: beside a `$ref` nothing else counts, and types take the keywords of their kind."""

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
    Empty,
    Enumeration,
    Node,
    Not,
    Nothing,
    Numeric,
    Object,
    String,
)
from ottla.schema.json_schema.part import limit_array, limit_numeric, limit_string, typed
from ottla.schema.json_schema.pattern import check_pattern
from ottla.schema.json_schema.reference import Scope
from ottla.schema.trampoline import Step

_STRING: Final = ("minLength", "maxLength", "pattern", "format")
_NUMERIC: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_ARRAY: Final = ("items", "additionalItems", "minItems", "maxItems", "uniqueItems")
_OBJECT: Final = (
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "dependencies",
    "patternProperties",
    "additionalProperties",
)


def read(loader: Loading, keywords: Keywords, scope: Scope) -> Step[Node]:
    """The node of one schema object."""
    for name in (loader.draft.id_keyword, "title", "description"):
        keywords.text(name)
    node: Node
    if "$ref" in keywords:
        node = loader.refer(keywords, "$ref", scope)
    else:
        parts = yield _parts(loader, keywords, scope)
        node = Empty() if not parts else parts[0] if len(parts) == 1 else Combined(Criterion.ALL, parts, implied=True)
    node.has_default = "default" in keywords
    connect_type = keywords.value.get("connect.type")
    node.connect_type = connect_type if isinstance(connect_type, str) else None
    if isinstance(node, Array):
        node.contains_min = keywords.integer("minContains")
        node.contains_max = keywords.integer("maxContains")
    return node


def _parts(loader: Loading, keywords: Keywords, scope: Scope) -> Step[list[Node]]:
    parts: list[Node] = []
    values = keywords.array("enum")
    if values is not None:
        parts.append(Enumeration(frozenset(map(value_key, values))))
    for criterion in Criterion:
        schemas = keywords.array(criterion.value)
        if schemas is not None:
            inner = []
            for at, schema in enumerate(schemas):
                inner.append((yield loader.schema(schema, scope, f"{keywords.at(criterion.value)}/{at}")))
            parts.append(Combined(criterion, inner))
    if "not" in keywords:
        parts.append(Not((yield loader.schema(keywords.value["not"], scope, keywords.at("not")))))
    if "const" in keywords and loader.draft is not Draft.DRAFT_4:
        parts.append(Const(value_key(keywords.value["const"])))
    taken: set[type[Node]] = set()
    if "type" in keywords:
        parts.append((yield _types(loader, keywords, scope, taken)))
    for kind, names in ((Array, _ARRAY), (Object, _OBJECT), (Numeric, _NUMERIC), (String, _STRING)):
        more = _DRAFT_6_KEYWORDS.get(kind, ()) if loader.draft is not Draft.DRAFT_4 else ()
        if kind not in taken and any(name in keywords for name in (*names, *more)):
            parts.append((yield _fill(kind(), loader, keywords, scope)))
    if loader.draft is Draft.DRAFT_7 and any(name in keywords for name in ("if", "then", "else")):
        for name in ("if", "then", "else"):
            if name in keywords:
                yield loader.schema(keywords.value[name], scope, keywords.at(name))
        parts.append(Conditional())
    return parts


_DRAFT_6_KEYWORDS: Final[dict[type[Node], tuple[str, ...]]] = {Array: ("contains",), Object: ("propertyNames",)}


def _types(loader: Loading, keywords: Keywords, scope: Scope, taken: set[type[Node]]) -> Step[Node]:
    given = keywords.value["type"]
    kinds = given if isinstance(given, list) else [given]
    branches = []
    for kind in kinds:
        if not isinstance(kind, str):
            raise wrong_kind("string or array of strings", kind, keywords.at("type"))
        node = typed(kind)
        if node is None:
            raise InvalidSchemaError(f"{keywords.path}: unknown type: [{kind}]", keywords.at("type"))
        taken.add(type(node))
        branches.append((yield _fill(node, loader, keywords, scope)))
    return Combined(Criterion.ANY, branches) if isinstance(given, list) else branches[0]


def _fill(node: Node, loader: Loading, keywords: Keywords, scope: Scope) -> Step[Node]:
    """The node with the keywords of its kind."""
    if isinstance(node, String):
        limit_string(node, keywords)
        keywords.text("format")
    elif isinstance(node, Numeric):
        _fill_numeric(node, keywords, loader.draft)
    elif isinstance(node, Array):
        yield _fill_array(node, loader, keywords, scope)
    elif isinstance(node, Object):
        yield _fill_object(node, loader, keywords, scope)
    return node


def _fill_numeric(node: Numeric, keywords: Keywords, draft: Draft) -> None:
    limit_numeric(node, keywords)
    if node.multiple_of == 0:
        raise InvalidSchemaError(f"{keywords.path}: multipleOf should not be 0", keywords.at("multipleOf"))
    if draft is Draft.DRAFT_4:
        # In draft 4 these say how the other limits are meant, which Confluent's comparison leaves out.
        keywords.boolean("exclusiveMinimum")
        keywords.boolean("exclusiveMaximum")
    else:
        node.exclusive_minimum = keywords.number("exclusiveMinimum")
        node.exclusive_maximum = keywords.number("exclusiveMaximum")


def _fill_array(node: Array, loader: Loading, keywords: Keywords, scope: Scope) -> Step[None]:
    limit_array(node, keywords)
    node.rest = yield _rest(loader, keywords, "additionalItems", scope)
    items = keywords.value.get("items")
    if isinstance(items, list):
        for at, schema in enumerate(items):
            node.tuple.append((yield loader.schema(schema, scope, f"{keywords.at('items')}/{at}")))
    elif "items" in keywords:
        node.each = yield loader.schema(items, scope, keywords.at("items"))
        if isinstance(node.rest, Nothing):
            # Only a tuple has additional items.
            node.rest = None
    if "contains" in keywords and loader.draft is not Draft.DRAFT_4:
        yield loader.schema(keywords.value["contains"], scope, keywords.at("contains"))


def _fill_object(node: Object, loader: Loading, keywords: Keywords, scope: Scope) -> Step[None]:
    node.properties_min = keywords.integer("minProperties")
    node.properties_max = keywords.integer("maxProperties")
    for name, schema in (keywords.mapping("properties") or {}).items():
        if name != loader.draft.id_keyword or isinstance(schema, dict):
            node.properties[name] = yield loader.schema(schema, scope, f"{keywords.at('properties')}/{name}")
    node.rest = yield _rest(loader, keywords, "additionalProperties", scope)
    node.required = set(keywords.texts("required") or ())
    for pattern, schema in (keywords.mapping("patternProperties") or {}).items():
        path = f"{keywords.at('patternProperties')}/{pattern}"
        check_pattern(pattern, path)
        node.patterns[pattern] = yield loader.schema(schema, scope, path)
    for name, needs in (keywords.mapping("dependencies") or {}).items():
        path = f"{keywords.at('dependencies')}/{name}"
        if isinstance(needs, list):
            node.dependencies[name] = frozenset(text_in(need, path) for need in needs)
        else:
            node.dependent_schemas[name] = yield loader.schema(needs, scope, path)
    if "propertyNames" in keywords and loader.draft is not Draft.DRAFT_4:
        yield loader.schema(keywords.value["propertyNames"], scope, keywords.at("propertyNames"))


def _rest(loader: Loading, keywords: Keywords, name: str, scope: Scope) -> Step[Node | None]:
    """The schema of undeclared properties or items: None if they are allowed, `Nothing` if they are not."""
    given = keywords.value.get(name, True)
    if isinstance(given, bool):
        return None if given else Nothing()
    if not isinstance(given, dict):
        raise wrong_kind("boolean or object", given, keywords.at(name))
    node: Node = yield loader.schema(given, scope, keywords.at(name))
    return node
