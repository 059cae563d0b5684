"""The registry client for asyncio: the blocking one in a thread, which only answers that are not cached need."""

import asyncio
import uuid
from collections.abc import Mapping
from typing import Final

from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import RegisteredSchema, SchemaText, Verdict


class AsyncSchemaRegistry:
    """A registry, with the settings of `SchemaRegistry`."""

    def __init__(self, config: Mapping[str, object] | None = None, /, **settings: object) -> None:
        self.blocking: Final = SchemaRegistry(config, **settings)
        """The client that does the work, for serializers."""

    async def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> RegisteredSchema:
        """Registers a schema under a subject, or finds it there."""
        return await asyncio.to_thread(self.blocking.register, subject, schema, normalize=normalize)

    async def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> RegisteredSchema:
        """The id and version that a subject has for a schema."""
        return await asyncio.to_thread(self.blocking.lookup, subject, schema, normalize=normalize)

    async def schema(self, schema_id: int, subject: str | None = None) -> SchemaText:
        """The schema of an id."""
        return await asyncio.to_thread(self.blocking.schema, schema_id, subject)

    async def schema_by_guid(self, guid: uuid.UUID) -> SchemaText:
        """The schema of a GUID."""
        return await asyncio.to_thread(self.blocking.schema_by_guid, guid)

    async def version(self, subject: str, number: int, *, deleted: bool = False) -> RegisteredSchema:
        """One version of a subject."""
        return await asyncio.to_thread(self.blocking.version, subject, number, deleted=deleted)

    async def latest(self, subject: str) -> RegisteredSchema:
        """The latest version of a subject."""
        return await asyncio.to_thread(self.blocking.latest, subject)

    async def resolved(self, schema: SchemaText) -> dict[str, str]:
        """The text of every schema that this one references."""
        return await asyncio.to_thread(self.blocking.resolved, schema)

    async def test_compatibility(self, subject: str, schema: SchemaText, number: int | str | None = None) -> Verdict:
        """Whether a schema could be registered; with reasons."""
        return await asyncio.to_thread(self.blocking.test_compatibility, subject, schema, number)

    async def subjects(self, prefix: str | None = None, *, deleted: bool = False) -> list[str]:
        """The names of the subjects."""
        return await asyncio.to_thread(self.blocking.subjects, prefix, deleted=deleted)

    async def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        """The versions of a subject."""
        return await asyncio.to_thread(self.blocking.versions, subject, deleted=deleted)

    async def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Deletes all versions of a subject and returns them."""
        return await asyncio.to_thread(self.blocking.delete_subject, subject, permanent=permanent)

    async def delete_version(self, subject: str, number: int | str, *, permanent: bool = False) -> int:
        """Deletes one version and returns it."""
        return await asyncio.to_thread(self.blocking.delete_version, subject, number, permanent=permanent)

    async def compatibility(self, subject: str | None = None) -> str:
        """The compatibility level that counts for a subject, or the one for all."""
        return await asyncio.to_thread(self.blocking.compatibility, subject)

    async def set_compatibility(self, level: str, subject: str | None = None) -> str:
        """Sets the compatibility level of a subject, or of all that have none; returns it."""
        return await asyncio.to_thread(self.blocking.set_compatibility, level, subject)

    async def close(self) -> None:
        """Closes the connections."""
        await asyncio.to_thread(self.blocking.close)

    async def __aenter__(self) -> "AsyncSchemaRegistry":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
