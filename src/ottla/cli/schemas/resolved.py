"""A schema as the registry or a file has it, with all that it references."""

from collections.abc import Mapping
from typing import Any

from ottla.cli.schemas.registry_call import RegistryCall
from ottla.schema.parse import parse
from ottla.schema.parsed import ParsedSchema
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType


def resolved_schema(registry: RegistryCall, schema: Mapping[str, Any]) -> ParsedSchema:
    """The schema. Raises `InvalidSchemaError`."""
    resolved: dict[str, str] = {}
    references = tuple(_resolve(registry, each, resolved) for each in schema.get("references") or ())
    kind = SchemaType(schema.get("schemaType") or "AVRO")
    return parse(kind, str(schema["schema"]), references, resolved, strict=False)


def _resolve(registry: RegistryCall, reference: Mapping[str, Any], resolved: dict[str, str]) -> Reference:
    found = registry.get("subjects", reference["subject"], "versions", reference["version"])
    if reference["name"] not in resolved:
        for inner in found.get("references") or ():
            _resolve(registry, inner, resolved)
        resolved[reference["name"]] = found["schema"]
    return Reference(reference["name"], reference["subject"], found["version"])
