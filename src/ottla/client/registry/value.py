"""Arguments and results of requests to a registry."""

import uuid
from collections.abc import Mapping, Sequence

from ottla.base.frozen import frozen
from ottla.client.registry.errors import RegistryUnavailableError
from ottla.schema.error import InvalidMetadataError
from ottla.schema.reference import Reference
from ottla.schema.rule import RuleSet
from ottla.schema.schema_type import SchemaType


@frozen
class SchemaText:
    """A schema as text, with the references that it needs.

    >>> SchemaText('"string"').to_json()
    {'schema': '"string"'}
    """

    text: str
    schema_type: SchemaType = SchemaType.AVRO
    references: tuple[Reference, ...] = ()
    rule_set: RuleSet | None = None

    def to_json(self) -> dict[str, object]:
        """The body of a request; the registry supposes Avro."""
        body: dict[str, object] = {"schema": self.text}
        if self.schema_type is not SchemaType.AVRO:
            body["schemaType"] = self.schema_type.value
        if self.references:
            body["references"] = [
                {"name": one.name, "subject": one.subject, "version": one.version} for one in self.references
            ]
        if self.rule_set is not None:
            body["ruleSet"] = self.rule_set.to_json()
        return body


@frozen
class RegisteredSchema:
    """A schema under its id; subject and version where the registry was asked by them."""

    id: int
    schema: SchemaText
    guid: uuid.UUID | None = None
    subject: str | None = None
    version: int | None = None


@frozen
class Verdict:
    """Whether a schema may be registered, and why not."""

    is_compatible: bool
    messages: tuple[str, ...] = ()


def read_schema(answer: object) -> SchemaText:
    """The schema of an answer by id."""
    fields = _object(answer)
    rule_set = fields.get("ruleSet")
    try:
        rules = None if rule_set is None else RuleSet.from_json(rule_set)
        schema_type = SchemaType(fields.get("schemaType") or "AVRO")
    except (InvalidMetadataError, ValueError) as error:
        raise RegistryUnavailableError(f"the registry answers what is no schema: {error}") from None
    references = _list(fields.get("references") or [])
    return SchemaText(_text(fields, "schema"), schema_type, tuple(map(_reference, references)), rules)


def read_registered(answer: object, sent: SchemaText | None = None) -> RegisteredSchema:
    """The schema of an answer with an id. An older registry answers nothing but the id: `sent` stands in."""
    fields = _object(answer)
    guid = fields.get("guid")
    schema = read_schema(answer) if sent is None or "schema" in fields else sent
    try:
        return RegisteredSchema(
            id=_number(fields, "id"),
            schema=schema,
            guid=uuid.UUID(guid) if isinstance(guid, str) else None,
            subject=_text(fields, "subject") if "subject" in fields else None,
            version=_number(fields, "version") if "version" in fields else None,
        )
    except ValueError:
        raise _unreadable(fields, "guid") from None


def read_verdict(answer: object) -> Verdict:
    """The answer about compatibility."""
    fields = _object(answer)
    return Verdict(fields.get("is_compatible") is True, tuple(map(str, _list(fields.get("messages") or []))))


def read_texts(answer: object) -> list[str]:
    """A list of names."""
    return [str(item) for item in _list(answer)]


def read_numbers(answer: object) -> list[int]:
    """A list of versions."""
    return [item for item in _list(answer) if isinstance(item, int)]


def read_number(answer: object) -> int:
    """A version number that is the whole answer."""
    return _number({"version": answer}, "version")


def read_level(answer: object) -> str:
    """A compatibility level: asking and setting answer it under two names."""
    fields = _object(answer)
    return _text(fields, "compatibilityLevel" if "compatibilityLevel" in fields else "compatibility")


def read_mode(answer: object) -> str:
    """A mode."""
    return _text(_object(answer), "mode")


def _reference(item: object) -> Reference:
    fields = _object(item)
    return Reference(_text(fields, "name"), _text(fields, "subject"), _number(fields, "version"))


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise RegistryUnavailableError(f"the registry answers {type(value).__name__} where an object is expected")
    return value


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise RegistryUnavailableError(f"the registry answers {type(value).__name__} where a list is expected")
    return value


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise _unreadable(fields, name)
    return value


def _number(fields: Mapping[str, object], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int):
        raise _unreadable(fields, name)
    return value


def _unreadable(fields: Mapping[str, object], name: str) -> RegistryUnavailableError:
    return RegistryUnavailableError(f"the registry answers {fields.get(name)!r} as {name}")
