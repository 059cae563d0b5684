"""The common part of deserializers with a registry: from a record's frame to its writer's and reader's schemas."""

from collections.abc import Hashable, Sequence
from typing import Final

from ottla.base.frozen import frozen
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import SerializationError
from ottla.client.record import Header
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema import framing, rule
from ottla.client.serde.schema.framing import SchemaReference
from ottla.client.serde.schema.subject import SubjectContext, needs_record_name, strategy_of
from ottla.schema.schema_type import SchemaType


@frozen
class Written:
    """A record without its frame, and the schema that it was written with."""

    payload: memoryview
    schema: SchemaText
    label: str


class SchemaReader:
    """Finds schemas, by the settings of a deserializer."""

    def __init__(
        self, registry: SchemaRegistry, settings: ClientSettings, schema_type: SchemaType, *, is_key: bool
    ) -> None:
        self.registry: Final = registry
        self.uses_latest: Final = settings.boolean("use.latest.version")
        self._schema_type: Final = schema_type
        self._is_key: Final = is_key
        self._strategy: Final = strategy_of(settings.get("subject.name.strategy"))
        self._header: Final = framing.KEY_HEADER if is_key else framing.VALUE_HEADER

    def written(self, topic: str, headers: Sequence[Header], data: bytes) -> Written:
        """The record without its frame."""
        reference = framing.read_frame(data, headers, self._header)
        schema = self._schema(reference, topic)
        if schema.schema_type is not self._schema_type:
            raise SerializationError(f"{reference.label} is {schema.schema_type}, not {self._schema_type}")
        rule.refuse_read_rules(schema)
        return Written(reference.payload, schema, reference.label)

    def frame(self, headers: Sequence[Header], data: bytes) -> Hashable:
        """The key of the record's schema."""
        reference = framing.read_frame(data, headers, self._header)
        return reference.schema_id, reference.guid

    def latest(self, topic: str, record_name: str | None) -> SchemaText:
        """The schema to read with where `use.latest.version` is set."""
        latest = self.registry.latest(self._strategy(SubjectContext(topic, self._is_key, record_name))).schema
        rule.refuse_migration_rules(latest)
        return latest

    def _schema(self, reference: SchemaReference, topic: str) -> SchemaText:
        if reference.guid is not None:
            return self.registry.schema_by_guid(reference.guid)
        assert reference.schema_id is not None
        by_record = needs_record_name(self._strategy)
        subject = None if by_record else self._strategy(SubjectContext(topic, self._is_key, None))
        return self.registry.schema(reference.schema_id, subject)
