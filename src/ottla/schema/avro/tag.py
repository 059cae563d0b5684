"""Tags in Avro schemas: the attribute `confluent:tags` of records and fields.

A record is named by its full name, or by its simple name alone where the path has no namespace.
"""

from collections import deque
from collections.abc import Iterator

from ottla.schema.avro.model import Node, Props, Record, children
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.json_text import Json, read_json, write_json
from ottla.schema.parsed import ParsedSchema
from ottla.schema.tag import AVRO_KEYWORD, Entity, EntityKind, TagChange


def tagged(schema: ParsedSchema) -> dict[Entity, tuple[str, ...]]:
    """The records and fields with tags, those of referenced schemas among them."""
    assert isinstance(schema, AvroSchema)
    found: dict[Entity, tuple[str, ...]] = {}
    seen: set[int] = set()
    waiting: list[Node] = [schema.root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Record):
            _add(found, Entity(node.label, EntityKind.RECORD), node.props)
            for field in node.fields:
                _add(found, Entity(f"{node.label}.{field.name}", EntityKind.FIELD), field.props)
        waiting.extend(reversed(children(node)))
    return found


def retagged(schema: ParsedSchema, change: TagChange) -> str:
    """The text with other tags. Raises InvalidSchemaError for a path that leads nowhere."""
    document = read_json(schema.canonical_text)
    records = list(_records(document))
    for entity in change.entities():
        target = _find(records, entity)
        tags = change.applied(entity, _listed(target.get(AVRO_KEYWORD)))
        if tags:
            target[AVRO_KEYWORD] = list(tags)
        else:
            target.pop(AVRO_KEYWORD, None)
    return write_json(document)


def _add(found: dict[Entity, tuple[str, ...]], entity: Entity, props: Props) -> None:
    tags = _listed(props.get(AVRO_KEYWORD))
    if tags:
        found[entity] = tuple(tags)


def _listed(value: Json) -> list[str]:
    return [each if isinstance(each, str) else write_json(each) for each in value] if isinstance(value, list) else []


def _find(records: list[tuple[str, dict[str, Json]]], entity: Entity) -> dict[str, Json]:
    record, _, field = entity.path.rpartition(".") if entity.is_field else (entity.path, "", "")
    matches = [one for name, one in records if name == record]
    if not matches and "." not in record:
        matches = [one for name, one in records if name.rpartition(".")[2] == record]
    if not matches:
        raise entity.missing()
    if not entity.is_field:
        return matches[0]
    fields = matches[0].get("fields")
    for each in fields if isinstance(fields, list) else ():
        if isinstance(each, dict) and each.get("name") == field:
            return each
    raise entity.missing()


def _records(document: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    """The records that the text defines, by full name; those nearer to the top come first."""
    waiting: deque[tuple[Json, str]] = deque([(document, "")])
    while waiting:
        value, namespace = waiting.popleft()
        if isinstance(value, list):
            waiting.extend((each, namespace) for each in value)
        elif isinstance(value, dict):
            kind, name = value.get("type"), value.get("name")
            if kind in ("record", "error") and isinstance(name, str):
                own = value.get("namespace")
                full = name if "." in name else f"{own if isinstance(own, str) else namespace}.{name}".lstrip(".")
                yield full, value
                namespace = full.rpartition(".")[0]
                fields = value.get("fields")
                for each in fields if isinstance(fields, list) else ():
                    waiting.append((each.get("type") if isinstance(each, dict) else None, namespace))
            else:
                waiting.extend((value.get(part), namespace) for part in ("items", "values", "type"))
