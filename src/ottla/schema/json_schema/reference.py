"""Resolves a `$ref` by pointer, anchor or `$id`, in the document itself and in those that were given with it.

It fetches no document. Definitions under `definitions` are found under `$defs` as well, as in Confluent's registry.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias
from urllib.parse import urldefrag, urljoin

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.draft import Draft, draft_of
from ottla.schema.json_text import Json, read_json

Scope: TypeAlias = Any
"""Where a relative reference starts from: a resolver of the `referencing` package."""


class References:
    """Finds the targets of references of one document."""

    def __init__(self, document: Json, resolved: Mapping[str, str]) -> None:
        self.draft = draft_of(document)
        self.document = _with_definitions(document)
        base = _id_of(self.document, self.draft)
        registry: Registry[Json] = Registry()
        for name, text in resolved.items():
            content = _with_definitions(read_json(text, exact=True))
            resource = _resource(content, draft_of(content))
            for uri in {name, _join(base, name)}:
                registry = registry.with_resource(uri, resource)
        self._specification = specification_with(self.draft.value)
        self._registry: Registry[Json] = registry.with_resource(base, _resource(self.document, self.draft))
        self._base = base
        self._crawled = False
        self.root: Scope = self._registry.resolver(base)

    def inside(self, value: dict[str, Json], scope: Scope) -> Scope:
        """The scope of what lies in `value`: an id of its own starts a new one."""
        if isinstance(value.get(self.draft.id_keyword), str) and value is not self.document:
            try:
                return scope.in_subresource(self._specification.create_resource(value))
            except ValueError:
                return scope
        return scope

    def find(self, reference: str, scope: Scope, path: str) -> tuple[Json, Scope]:
        """The schema that is referred to, and the scope inside of it.

        A reference inside of a referenced document may use the name under which another document was given.
        """
        base = scope._base_uri
        if base == self._base and reference.startswith("#/"):
            starts = [(scope, reference)]
        else:
            absolute = _join(base, reference)
            if _names_metaschema(absolute):
                self._add_metaschema(absolute)
            known = self._everything()
            starts = [
                (known.resolver(base), reference),
                (known.resolver(""), absolute),
                (known.resolver(""), reference),
            ]
        for start, target in starts:
            try:
                found = start.lookup(target)
            except (Unresolvable, ValueError):
                continue
            return found.contents, found.resolver
        raise InvalidSchemaError(f"{path}: {reference} leads nowhere, and nothing is fetched", path)

    def _everything(self) -> Registry[Json]:
        """The documents with all ids and anchors in them, which are looked for once."""
        if not self._crawled:
            self._registry, self._crawled = self._registry.crawl(), True
        return self._registry

    def _add_metaschema(self, reference: str) -> None:
        from jsonschema_specifications import REGISTRY

        uri = urldefrag(reference)[0]
        for spelling in (uri, uri.replace("https:", "http:", 1), uri.replace("http:", "https:", 1)):
            known = REGISTRY.get(spelling)
            if known is not None and uri not in self._registry:
                self._registry, self._crawled = self._registry.with_resource(uri, known), False


def _names_metaschema(reference: str) -> bool:
    return reference.startswith(("http://json-schema.org/", "https://json-schema.org/"))


def _resource(content: Json, draft: Draft) -> Resource[Json]:
    return specification_with(draft.value).create_resource(content)


def _id_of(document: Json, draft: Draft) -> str:
    named = document.get(draft.id_keyword) if isinstance(document, dict) else None
    return urldefrag(named)[0] if isinstance(named, str) else ""


def _join(base: str, name: str) -> str:
    try:
        return urljoin(base, name)
    except ValueError:
        return name


def _with_definitions(document: Json) -> Json:
    """The document with what `definitions` has and `$defs` has not in both."""
    if not isinstance(document, dict):
        return document
    definitions, modern = document.get("definitions"), document.get("$defs", {})
    if not isinstance(definitions, dict) or not isinstance(modern, dict) or not definitions:
        return document
    return document | {"$defs": definitions | modern}
