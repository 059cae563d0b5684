"""The values of `_schemas`, in Confluent's JSON. Unknown fields are ignored; old records lack some that are known."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from ottla.base.errors import OttlaError
from ottla.schema.metadata import Metadata
from ottla.schema.reference import Reference
from ottla.schema.rule import RuleSet
from ottla.web.registry.state.record_key import SchemaKey
from ottla.web.registry.state.stored_schema import AVRO, SchemaContent, StoredSchema


class InvalidRecordError(OttlaError):
    """A value that is not what its key says."""


def encode_schema(stored: StoredSchema) -> bytes:
    """The value of a SCHEMA record."""
    content = stored.content
    fields: dict[str, object] = {
        "subject": stored.subject,
        "version": stored.version,
        "id": stored.id,
        "md5": base64.b64encode(stored.digest[:16]).decode(),
        "schemaType": content.schema_type,
        "references": [reference_json(reference) for reference in content.references],
        "metadata": content.metadata and content.metadata.to_json(),
        "ruleSet": content.rule_set and content.rule_set.to_json(),
        "schema": content.text,
    }
    return encode_value(
        {name: value for name, value in fields.items() if value is not None} | {"deleted": stored.deleted}
    )


def decode_schema(key: SchemaKey, data: bytes, timestamp: int) -> StoredSchema:
    """The version that a SCHEMA record describes. Raises `InvalidRecordError`."""
    fields = decode_value(data)
    schema_id, text = fields.get("id"), fields.get("schema")
    if not isinstance(schema_id, int) or not isinstance(text, str):
        raise InvalidRecordError("a schema's record needs an id and a schema")
    metadata, rule_set, references = fields.get("metadata"), fields.get("ruleSet"), fields.get("references")
    try:
        content = SchemaContent(
            fields.get("schemaType") or AVRO,
            text,
            tuple(Reference(each["name"], each["subject"], each["version"]) for each in references or ()),
            None if metadata is None else Metadata.from_json(metadata),
            None if rule_set is None else RuleSet.from_json(rule_set),
        )
    except (KeyError, TypeError, OttlaError) as error:
        raise InvalidRecordError(f"a schema's record can't be read: {error}") from error
    is_deleted = bool(fields.get("deleted"))
    return StoredSchema(key.subject, key.version, schema_id, content, content.digest(), is_deleted, timestamp)


def encode_value(fields: Mapping[str, object]) -> bytes:
    """A value as compact JSON."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def decode_value(data: bytes) -> dict[str, Any]:
    """A value's fields. Raises `InvalidRecordError`."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidRecordError(f"a value is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InvalidRecordError("a value is no JSON object")
    return fields


def reference_json(reference: Reference) -> dict[str, object]:
    """A reference as records and answers have it."""
    return {"name": reference.name, "subject": reference.subject, "version": reference.version}
