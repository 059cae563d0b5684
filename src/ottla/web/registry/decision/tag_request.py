"""Tags in requests: `[{"schemaEntity": {"entityPath": "Order.card", "entityType": "sr_field"}, "tags": ["PII"]}]`."""

from collections.abc import Mapping
from typing import Any

from ottla.schema.tag import Entity, EntityKind, TagChange, Tags
from ottla.web.registry.decision.errors import invalid_request

_KINDS = {kind.value: kind for kind in EntityKind}


def parse_tag_change(body: Mapping[str, Any], added: str, removed: str) -> TagChange | None:
    """The change that two fields of a request ask for; None for none. Raises `HttpError`."""
    change = TagChange(_parse_tags(body, added), _parse_tags(body, removed))
    return change if change.added or change.removed else None


def tags_json(tags: Tags) -> list[dict[str, object]]:
    """Tags as answers show them."""
    return [
        {"schemaEntity": {"entityPath": entity.path, "entityType": entity.kind.value}, "tags": list(names)}
        for entity, names in tags.items()
    ]


def _parse_tags(body: Mapping[str, Any], name: str) -> Tags:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, list):
        raise invalid_request(f"{name} must be a list")
    found: dict[Entity, tuple[str, ...]] = {}
    for each in value:
        entity, tags = _parse_entity(each, name)
        found[entity] = tuple(dict.fromkeys((*found.get(entity, ()), *tags)))
    return found


def _parse_entity(value: object, name: str) -> tuple[Entity, list[str]]:
    fields = value if isinstance(value, dict) else {}
    entity, tags = fields.get("schemaEntity"), fields.get("tags")
    path, kind = (entity.get("entityPath"), entity.get("entityType")) if isinstance(entity, dict) else (None, None)
    if not isinstance(path, str) or not isinstance(kind, str) or kind not in _KINDS:
        raise invalid_request(f"{name} needs a schemaEntity with entityPath, and sr_record or sr_field as entityType")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise invalid_request(f"{name} needs a list of tags for each schemaEntity")
    return Entity(path.removeprefix("."), _KINDS[kind]), tags
