"""The blocking registry client. What it was told once it does not ask again."""

import ssl
import uuid
from collections.abc import Mapping
from typing import Final

from ottla.client.config.settings import ClientSettings
from ottla.client.registry import call, value
from ottla.client.registry.cache import Cache
from ottla.client.registry.http_client import HttpClient
from ottla.client.registry.setting import REGISTRY_KEYS
from ottla.client.registry.value import RegisteredSchema, SchemaText, Verdict
from ottla.client.security.tls import tls_context


class SchemaRegistry:
    """A registry behind one address or several.

    Settings have Confluent's names, in a mapping or as keyword arguments: `SchemaRegistry(url="http://localhost:8081")`.
    Safe for threads.
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, **settings: object) -> None:
        self.settings: Final = ClientSettings.of(REGISTRY_KEYS, config, **settings)
        self._http: Final = HttpClient(self.settings, _context(self.settings))
        capacity = self.settings.integer("cache.capacity")
        ttl_s = self.settings.integer("latest.cache.ttl.sec")
        self._by_id: Final = Cache[tuple[int, str | None], SchemaText](capacity)
        self._by_guid: Final = Cache[uuid.UUID, SchemaText](capacity)
        self._versions: Final = Cache[tuple[str, int], RegisteredSchema](capacity)
        self._registered: Final = Cache[tuple[str, SchemaText, bool], RegisteredSchema](capacity)
        self._latest: Final = Cache[str, RegisteredSchema](capacity, None if ttl_s < 0 else ttl_s)

    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> RegisteredSchema:
        """Registers a schema under a subject, or finds it there."""
        return self._registered.get(
            (subject, schema, normalize),
            lambda: value.read_registered(self._http.ask(call.register(subject, schema, normalize=normalize)), schema),
        )

    def lookup(
        self, subject: str, schema: SchemaText, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """The id and version that a subject has for a schema; `RegistryError` 40403 if it has none."""
        request = call.lookup(subject, schema, normalize=normalize, deleted=deleted)
        if deleted:
            return value.read_registered(self._http.ask(request), schema)
        return self._registered.get(
            (subject, schema, normalize), lambda: value.read_registered(self._http.ask(request), schema)
        )

    def schema(self, schema_id: int, subject: str | None = None) -> SchemaText:
        """The schema of an id. The subject tells in which context the id counts."""
        return self._by_id.get(
            (schema_id, subject), lambda: value.read_schema(self._http.ask(call.by_id(schema_id, subject)))
        )

    def schema_by_guid(self, guid: uuid.UUID) -> SchemaText:
        """The schema of a GUID."""
        return self._by_guid.get(guid, lambda: value.read_schema(self._http.ask(call.by_guid(guid))))

    def version(self, subject: str, number: int, *, deleted: bool = False) -> RegisteredSchema:
        """One version of a subject."""
        return self._versions.get(
            (subject, number),
            lambda: value.read_registered(self._http.ask(call.version(subject, number, deleted=deleted))),
        )

    def latest(self, subject: str) -> RegisteredSchema:
        """The latest version of a subject, as old as `latest.cache.ttl.sec` allows."""
        return self._latest.get(
            subject, lambda: value.read_registered(self._http.ask(call.version(subject, call.LATEST, deleted=False)))
        )

    def latest_with_metadata(self, subject: str, metadata: Mapping[str, str]) -> RegisteredSchema:
        """The latest version whose metadata has these properties."""
        return value.read_registered(self._http.ask(call.latest_with_metadata(subject, metadata)))

    def resolved(self, schema: SchemaText) -> dict[str, str]:
        """The text of every schema that this one references, directly or not, each after those that it needs."""
        found: dict[str, str] = {}
        stack = [(reference, False) for reference in reversed(schema.references)]
        entered: set[str] = set()
        while stack:
            reference, is_done = stack.pop()
            # A version may be deleted by now; what was written with it can be read nevertheless.
            target = self.version(reference.subject, reference.version, deleted=True).schema
            if is_done:
                found[reference.name] = target.text
            elif reference.name not in entered:
                entered.add(reference.name)
                stack.append((reference, True))
                stack.extend((inner, False) for inner in reversed(target.references))
        return found

    def test_compatibility(self, subject: str, schema: SchemaText, number: int | str | None = None) -> Verdict:
        """Whether a schema could follow a version, or all that count for the subject's level; with reasons."""
        return value.read_verdict(self._http.ask(call.compatibility(subject, schema, number)))

    def subjects(self, prefix: str | None = None, *, deleted: bool = False) -> list[str]:
        """The names of the subjects."""
        return value.read_texts(self._http.ask(call.subjects(prefix, deleted=deleted)))

    def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        """The versions of a subject."""
        return value.read_numbers(self._http.ask(call.versions(subject, deleted=deleted)))

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Deletes all versions of a subject and returns them; for good only what was deleted before."""
        deleted = value.read_numbers(self._http.ask(call.delete_subject(subject, permanent=permanent)))
        self.clear_cache()
        return deleted

    def delete_version(self, subject: str, number: int | str, *, permanent: bool = False) -> int:
        """Deletes one version and returns it."""
        deleted = value.read_number(self._http.ask(call.delete_version(subject, number, permanent=permanent)))
        self.clear_cache()
        return deleted

    def compatibility(self, subject: str | None = None) -> str:
        """The compatibility level that counts for a subject, or the one for all."""
        return value.read_level(self._http.ask(call.get_level(subject)))

    def set_compatibility(self, level: str, subject: str | None = None) -> str:
        """Sets the compatibility level of a subject, or of all that have none; returns it."""
        return value.read_level(self._http.ask(call.set_level(subject, level)))

    def delete_compatibility(self, subject: str | None = None) -> None:
        """Takes a subject's own level away: the one for all counts again."""
        self._http.ask(call.delete_level(subject))

    def mode(self, subject: str | None = None) -> str:
        """The mode that counts for a subject, or the one for all."""
        return value.read_mode(self._http.ask(call.get_mode(subject)))

    def set_mode(self, mode: str, subject: str | None = None, *, force: bool = False) -> str:
        """Sets the mode of a subject, or of all that have none; returns it."""
        return value.read_mode(self._http.ask(call.set_mode(subject, mode, force=force)))

    def clear_cache(self) -> None:
        """Forgets all answers."""
        for cache in (self._by_id, self._by_guid, self._versions, self._registered, self._latest):
            cache.clear()

    def close(self) -> None:
        """Closes the connections; the next request opens new ones."""
        self._http.close()

    def __enter__(self) -> "SchemaRegistry":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _context(settings: ClientSettings) -> ssl.SSLContext | None:
    """TLS from Kafka's settings, or from librdkafka's short ones."""
    urls = settings.list("schema.registry.url") or settings.list("url")
    if not any(url.startswith("https:") for url in urls):
        return None
    ca = settings.optional_string("ssl.ca.location")
    if ca is not None:
        settings = settings.but(ssl_truststore_location=ca, ssl_truststore_type="PEM")
    context = tls_context(settings)
    certificate = settings.optional_string("ssl.certificate.location")
    if certificate is not None:
        password = settings.secret("ssl.key.password")
        context.load_cert_chain(certificate, settings.optional_string("ssl.key.location"), password)
    return context
