"""Tags in JSON Schemas: the keyword `confluent:tags` of objects and of properties.

A path says what a reader meets on the way from the top, as Confluent's registry has it: `object.card`,
`object.lines.array.object.price`, `anyof.1.object.name`, `object.definitions.Card.object.number`. The parts of `anyOf`,
`allOf` and `oneOf` are counted by kind, title and description, not as they were written. Keywords of several kinds in
one schema are parts of an `allof`, and several types parts of an `anyof`.
"""

from collections import deque
from typing import Final

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.loader import load
from ottla.schema.json_schema.node import (
    Anything,
    Array,
    Boolean,
    Combined,
    Conditional,
    Const,
    Criterion,
    Empty,
    Enumeration,
    Node,
    Not,
    Nothing,
    Null,
    Numeric,
    Object,
    Reference,
    String,
)
from ottla.schema.json_schema.schema import JsonSchema
from ottla.schema.json_text import Json, read_json, write_json
from ottla.schema.parsed import ParsedSchema
from ottla.schema.tag import AVRO_KEYWORD, Entity, EntityKind, TagChange

_RANKS: Final = (
    *(Array, Boolean, Combined, Conditional, Const),
    *(Enumeration, Nothing, Not, Null, Numeric, Object, Reference, String),
)
"""Confluent's order of kinds, but for what allows everything."""
_EMPTY_RANK: Final = 4.5
_ANYTHING_RANK: Final = len(_RANKS)
_DEFINITIONS: Final = ("definitions", "$defs")
_CRITERIA: Final = {each.value.lower(): each.value for each in Criterion}
Found = dict[Entity, tuple[str, ...]]


def tagged(schema: ParsedSchema) -> Found:
    """The objects and properties with tags."""
    assert isinstance(schema, JsonSchema)
    found: Found = {}
    _walk(schema.root, schema.document, "", found)
    return found


def retagged(schema: ParsedSchema, change: TagChange) -> str:
    """The text with other tags. Raises InvalidSchemaError for a path that leads nowhere."""
    document = read_json(schema.canonical_text)
    for entity in change.entities():
        target = _find(document, entity, deque(entity.path.split(".")))
        if not isinstance(target, dict):
            raise entity.missing()
        tags = change.applied(entity, _tags_of(target))
        if tags:
            target[AVRO_KEYWORD] = list(tags)
        else:
            target.pop(AVRO_KEYWORD, None)
    return write_json(document)


def _walk(node: Node, document: Json, scope: str, found: Found, *, in_field: bool = False) -> None:
    """Looks at a schema and at all inside of it; a node that several keywords implied has the document of them all."""
    if isinstance(node, Combined):
        for at, part in enumerate(sorted(node.parts, key=lambda each: _order(each, each.source))):
            is_implied = part.source is None
            inside = f"{scope}{node.criterion.value.lower()}.{at}."
            _walk(part, document if is_implied else part.source, inside, found, in_field=in_field and is_implied)
    elif isinstance(node, Array) and node.each is not None:
        _walk(node.each, node.each.source, f"{scope}array.", found)
    elif isinstance(node, Not):
        _walk(node.inner, node.inner.source, f"{scope}not.", found)
    elif isinstance(node, Object):
        _walk_object(node, document, f"{scope}object", found, in_field=in_field)
    elif isinstance(node, Conditional) and isinstance(document, dict):
        for name in ("if", "then", "else"):
            if name in document:
                _walk(_loaded(document[name]), document[name], f"{scope}conditional.{name}.", found)


def _walk_object(node: Object, document: Json, path: str, found: Found, *, in_field: bool) -> None:
    if not in_field:
        _add(found, Entity(path, EntityKind.RECORD), document)
    for name, inner in node.properties.items():
        _add(found, Entity(f"{path}.{name}", EntityKind.FIELD), inner.source)
        _walk(inner, inner.source, f"{path}.{name}.", found, in_field=True)
    for keyword in _DEFINITIONS:
        definitions = document.get(keyword) if isinstance(document, dict) else None
        for name, definition in definitions.items() if isinstance(definitions, dict) else ():
            _walk(_loaded(definition), definition, f"{path}.{keyword}.{name}.", found)


def _add(found: Found, entity: Entity, document: Json) -> None:
    tags = _tags_of(document)
    if tags:
        found[entity] = tuple(tags)


def _tags_of(document: Json) -> list[str]:
    value = document.get(AVRO_KEYWORD) if isinstance(document, dict) else None
    return [each if isinstance(each, str) else write_json(each) for each in value] if isinstance(value, list) else []


def _find(document: Json, entity: Entity, path: deque[str]) -> Json:
    """The schema that the rest of the path leads to; None where it leads nowhere."""
    while path and isinstance(document, dict):
        step = path.popleft()
        if step == "object":
            if not path:
                return None if entity.is_field else document
            keyword = path.popleft() if path[0] in _DEFINITIONS else "properties"
            document = _named(document.get(keyword), path)
            if not path:
                return document
        elif step == "array":
            document = document.get("items")
        elif step == "not":
            document = document.get("not")
        elif step == "conditional":
            document = document.get(path.popleft()) if path else None
        elif step in _CRITERIA:
            document = _part(document, document.get(_CRITERIA[step]), path)
        else:
            return None
    return None


def _part(document: dict[str, Json], parts: Json, path: deque[str]) -> Json:
    """The part that the next step of the path counts; keywords that only imply parts stand in the document itself."""
    number = path.popleft() if path else ""
    if not isinstance(parts, list):
        return document
    in_order = sorted(parts, key=lambda each: _order(_loaded(each), each))
    return in_order[int(number)] if number.isdecimal() and int(number) < len(in_order) else None


def _named(members: Json, path: deque[str]) -> Json:
    """The member whose name begins the path; names may have dots."""
    if not isinstance(members, dict):
        return None
    name = ""
    while path:
        name = f"{name}.{path.popleft()}" if name else path.popleft()
        if name in members:
            return members[name]
    return None


def _order(node: Node, document: Json) -> tuple[float, str, str, str]:
    """The order in which the parts of a combination are numbered."""
    texts = ["", "", ""]
    if isinstance(document, dict):
        given = (document.get(name) for name in ("title", "description", "default"))
        texts = ["" if each is None else each if isinstance(each, str) else write_json(each) for each in given]
    if isinstance(node, Empty):
        return (_ANYTHING_RANK if isinstance(node, Anything) else _EMPTY_RANK, texts[0], texts[1], texts[2])
    return (_RANKS.index(type(node)), texts[0], texts[1], texts[2])


def _loaded(document: Json) -> Node:
    """The graph of a part by itself: where its references lead to does not matter here."""
    try:
        return load(_without_references(document), {})
    except InvalidSchemaError:
        return Empty()


def _without_references(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: "#" if name == "$ref" else _without_references(each) for name, each in value.items()}
    return [_without_references(each) for each in value] if isinstance(value, list) else value
