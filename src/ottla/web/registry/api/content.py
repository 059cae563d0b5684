"""The registry's content types."""

from typing import Final

from ottla.web.http.content import JSON, ContentTypes

SCHEMA_REGISTRY_V1: Final = "application/vnd.schemaregistry.v1+json"
_SCHEMA_REGISTRY: Final = "application/vnd.schemaregistry+json"

CONTENT: Final = ContentTypes(
    (SCHEMA_REGISTRY_V1, _SCHEMA_REGISTRY, JSON),
    frozenset({SCHEMA_REGISTRY_V1, _SCHEMA_REGISTRY, JSON, "application/octet-stream"}),
)
