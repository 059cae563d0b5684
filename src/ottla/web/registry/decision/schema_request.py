"""The body of requests that carry a schema. Fields that are not known are ignored: clients are newer than servers."""

from collections.abc import Mapping
from typing import Any

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidMetadataError, InvalidRuleError
from ottla.schema.metadata import Metadata
from ottla.schema.reference import Reference
from ottla.schema.rule import RuleSet
from ottla.schema.schema_type import SchemaType
from ottla.schema.tag import TagChange
from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.errors import invalid_request, invalid_rule_set, invalid_schema
from ottla.web.registry.decision.tag_request import parse_tag_change
from ottla.web.registry.state.stored_schema import SchemaContent


@frozen
class SchemaRequest:
    """A schema that a client wants to register, look up or check."""

    text: str = ""
    schema_type: SchemaType = SchemaType.AVRO
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    version: int = 0
    """0 is the next one."""
    id: int = -1
    """Chosen by the client in import mode only."""
    tags: TagChange | None = None
    propagates_tags: bool = False
    """Whether records and fields keep the tags that they have in the latest version."""


def parse_schema_request(body: object) -> SchemaRequest:
    """The request in a decoded body. Raises `HttpError`."""
    if not isinstance(body, dict):
        raise invalid_request("The request needs a JSON object")
    try:
        metadata, rule_set = body.get("metadata"), body.get("ruleSet")
        return SchemaRequest(
            _string(body, "schema"),
            _type(body.get("schemaType")),
            _references(body.get("references")),
            None if metadata is None else Metadata.from_json(metadata),
            None if rule_set is None else RuleSet.from_json(rule_set),
            _integer(body, "version", 0),
            _integer(body, "id", -1),
            parse_tag_change(body, "schemaTagsToAdd", "schemaTagsToRemove"),
            body.get("propagateSchemaTags") is True,
        )
    except InvalidMetadataError as error:
        raise invalid_request(str(error)) from None


def request_of(content: SchemaContent) -> SchemaRequest:
    """The request that sends a stored schema again, without its metadata and rules."""
    return SchemaRequest(content.text, SchemaType(content.schema_type), content.references)


def check_rules(request: SchemaRequest) -> None:
    """Raises `HttpError` 42210 for rules that no client could run."""
    if request.rule_set is not None:
        try:
            request.rule_set.validate()
        except InvalidRuleError as error:
            raise invalid_rule_set(str(error)) from None


def _type(name: object) -> SchemaType:
    if name is None or name == "":
        return SchemaType.AVRO
    try:
        return SchemaType(name)
    except ValueError:
        raise invalid_schema(f"Invalid schema type {name}") from None


def _references(value: object) -> tuple[Reference, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise invalid_request("references must be a list of objects")
    return tuple(
        Reference(_string(each, "name"), _string(each, "subject"), _integer(each, "version", -1)) for each in value
    )


def _string(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _mistyped(name, "a string")
    return value


def _integer(fields: Mapping[str, Any], name: str, default: int) -> int:
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << 31) <= value < 1 << 31:
        raise _mistyped(name, "an integer of 32 bits")
    return value


def _mistyped(name: str, expected: str) -> HttpError:
    return HttpError(400, f"{name} must be {expected}")
