"""The common part of serializers with a registry: from a topic to the frame that its records begin with.

A frame is found once for each subject and schema; from then on a record costs a look into a dictionary.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Final

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import SerializationError
from ottla.client.record import Header
from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import RegisteredSchema, SchemaText
from ottla.client.serde.schema import framing, rule
from ottla.client.serde.schema.subject import SubjectContext, strategy_of
from ottla.schema.parse import parse
from ottla.schema.policy import Policy


@frozen
class Frame:
    """A record's prefix, or its header's value, and the schema of its payload."""

    prefix: bytes
    header: Header | None
    schema: SchemaText


@frozen
class NamedSchema:
    """A schema with its name, and the place of its message in Protobuf."""

    text: SchemaText
    name: str | None
    indexes: tuple[int, ...] | None = None


class SchemaWriter:
    """Finds frames, by the settings of a serializer."""

    def __init__(self, registry: SchemaRegistry, settings: ClientSettings, *, is_key: bool) -> None:
        self.registry: Final = registry
        self.is_key: Final = is_key
        self._settings: Final = settings
        self._strategy: Final = strategy_of(settings.get("subject.name.strategy"))
        self._in_header: Final = _is_in_header(settings.string("schema.id.serializer"))
        self._normalizes: Final = settings.boolean("normalize.schemas")
        self._uses_latest: Final = settings.boolean("use.latest.version")
        self._frames: Final[dict[tuple[str, str | None], tuple[Frame, RegisteredSchema]]] = {}
        self._lock: Final = threading.Lock()
        if self._uses_latest and settings.is_given("auto.register.schemas") and self.registers:
            raise ConfigError("use.latest.version", True, "auto.register.schemas must be false then")

    @property
    def registers(self) -> bool:
        """Whether schemas are registered that the subject lacks."""
        return self._settings.boolean("auto.register.schemas") and not self._uses_latest

    @property
    def normalizes(self) -> bool:
        """Whether the registry compares normal forms."""
        return self._normalizes

    def is_known(self, topic: str, name: str | None) -> bool:
        """Whether the frame is there, so that nothing is asked."""
        return (topic, name) in self._frames

    def frame(self, topic: str, name: str | None, schema: Callable[[], NamedSchema]) -> Frame:
        """The frame for records of that topic; `schema` is called when it has to be found."""
        found = self._frames.get((topic, name))
        if found is None or (self._uses_latest and self._is_outdated(topic, name, found[1])):
            with self._lock:
                found = self._find(topic, schema())
                self._frames[topic, name] = found
        return found[0]

    def _is_outdated(self, topic: str, name: str | None, known: RegisteredSchema) -> bool:
        return self.registry.latest(self._subject(topic, name)) is not known

    def _subject(self, topic: str, name: str | None) -> str:
        return self._strategy(SubjectContext(topic, self.is_key, name))

    def _find(self, topic: str, schema: NamedSchema) -> tuple[Frame, RegisteredSchema]:
        registered = self._registered(self._subject(topic, schema.name), schema.text)
        rule.refuse_write_rules(registered.schema)
        written = (
            registered.schema if self._uses_latest or self._settings.integer("use.schema.id") >= 0 else schema.text
        )
        if not self._in_header:
            return Frame(framing.id_frame(registered.id, schema.indexes), None, written), registered
        if registered.guid is None:
            raise SerializationError("this registry gives no GUIDs: schema.id.serializer=header needs them")
        name = framing.KEY_HEADER if self.is_key else framing.VALUE_HEADER
        return Frame(b"", (name, framing.guid_frame(registered.guid, schema.indexes)), written), registered

    def _registered(self, subject: str, schema: SchemaText) -> RegisteredSchema:
        schema_id = self._settings.integer("use.schema.id")
        if schema_id >= 0:
            return RegisteredSchema(schema_id, self.registry.schema(schema_id, subject))
        if self._uses_latest:
            latest = self.registry.latest(subject)
            if self._settings.boolean("latest.compatibility.strict"):
                self._check_latest(subject, latest, schema)
            return latest
        if self.registers:
            return self.registry.register(subject, schema, normalize=self._normalizes)
        return self.registry.lookup(subject, schema, normalize=self._normalizes)

    def _check_latest(self, subject: str, latest: RegisteredSchema, schema: SchemaText) -> None:
        """Readers of the latest version must understand what the given schema describes."""
        if not schema.text or (latest.schema.text, latest.schema.references) == (schema.text, schema.references):
            return
        ours, theirs = (
            parse(one.schema_type, one.text, one.references, self.registry.resolved(one), strict=False)
            for one in (schema, latest.schema)
        )
        found = theirs.incompatibilities(ours, Policy.STRICT)
        if found:
            reasons = "; ".join(one.text() for one in found)
            raise SerializationError(
                f"version {latest.version} of {subject} can't read what this schema writes: {reasons}. With "
                "latest.compatibility.strict=false it is used nevertheless"
            )


def framed(frame: Frame, headers: Sequence[Header], payload: bytes) -> bytes:
    """The record's bytes; a frame for the header goes into the record's headers."""
    if frame.header is None:
        return frame.prefix + payload
    if not isinstance(headers, list):
        raise SerializationError("schema.id.serializer=header needs headers that can be added to")
    headers.append(frame.header)
    return payload


def _is_in_header(given: str) -> bool:
    name = given.rpartition(".")[2].removesuffix("SchemaIdSerializer").lower()
    if name not in ("prefix", "header"):
        raise ConfigError("schema.id.serializer", given, "Expected prefix or header")
    return name == "header"
