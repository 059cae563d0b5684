"""The form of schemas, settings and modes in answers. Empty lists and absent values are left out."""

from collections.abc import Mapping
from typing import Any

from ottla.schema.parse import form_of
from ottla.schema.tag import tagged
from ottla.web.http.request import Request
from ottla.web.registry.api.target import Registry
from ottla.web.registry.decision.schema_request import SchemaRequest
from ottla.web.registry.decision.tag_request import tags_json
from ottla.web.registry.state.config_value import COMPATIBILITY, ConfigValue
from ottla.web.registry.state.record_value import reference_json
from ottla.web.registry.state.stored_schema import StoredSchema
from ottla.web.registry.state.subject_name import within


def text_of(registry: Registry, stored: StoredSchema, form: str) -> str:
    """The schema's text, in another form if one is asked for. Only that parses it."""
    if not form.strip():
        return stored.content.text
    return registry.rule.parsed.stored(registry.state, stored).formatted(form)


def form_asked(request: Request, wish: SchemaRequest) -> str:
    """The form of the text in an answer to a sent schema: the one asked for, or else the one that it was sent in.

    A client takes the answer's text for the schema that its id stands for, and reads it as it writes schemas itself.
    """
    return request.query.get("format", "") or form_of(wish.schema_type, wish.text)


def tags_shown(registry: Registry, stored: StoredSchema, request: Request) -> dict[str, object]:
    """The tags inside of a schema that `findTags` asks for; `*` is all."""
    wanted = request.values("findTags")
    if not wanted:
        return {}
    found = tagged(registry.rule.parsed.stored(registry.state, stored))
    shown = {entity: names for entity, names in found.items() if "*" in wanted or set(names) & set(wanted)}
    return {"schemaTags": tags_json(shown)} if shown else {}


def registered(stored: StoredSchema, text: str) -> dict[str, object]:
    """The answer to registering."""
    return {"id": stored.id, "version": stored.version, "guid": stored.guid} | _content(stored, text)


def looked_up(stored: StoredSchema, text: str) -> dict[str, object]:
    """The answer to looking a schema up."""
    fields = {"subject": stored.subject, "version": stored.version, "id": stored.id, "guid": stored.guid}
    return fields | _content(stored, text)


def by_version(stored: StoredSchema, text: str, *, qualify: bool = False) -> dict[str, object]:
    """One version of a subject."""
    fields = looked_up(stored, text)
    if qualify and content_references(fields):
        fields["references"] = [
            {**each, "subject": within(stored.subject, str(each["subject"]))} for each in content_references(fields)
        ]
    return fields | {"ts": stored.timestamp, "deleted": stored.deleted}


def by_id(stored: StoredSchema, text: str, *, qualify: bool = False) -> dict[str, object]:
    """A schema that an id stands for."""
    fields = by_version(stored, text, qualify=qualify)
    del fields["id"]
    return fields


def content_references(fields: Mapping[str, Any]) -> list[dict[str, object]]:
    """The references of an answer."""
    return list(fields.get("references", ()))


def config_shown(config: ConfigValue) -> dict[str, object]:
    """Settings as GET and DELETE show them."""
    return dict(config)


def config_updated(config: ConfigValue) -> dict[str, object]:
    """Settings as PUT shows them: the level has the name that requests have for it."""
    return {"compatibility" if name == COMPATIBILITY else name: value for name, value in config.items()}


def _content(stored: StoredSchema, text: str) -> dict[str, object]:
    content = stored.content
    fields: dict[str, object] = {"schemaType": content.schema_type, "schema": text}
    if content.references:
        fields["references"] = [reference_json(reference) for reference in content.references]
    if content.metadata is not None:
        fields["metadata"] = content.metadata.to_json()
    if content.rule_set is not None:
        fields["ruleSet"] = content.rule_set.to_json()
    return fields
