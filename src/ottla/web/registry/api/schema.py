"""`/schemas`: schemas by id and GUID, where an id is used, and all schemas there are."""

import re
from collections.abc import Iterator
from typing import Final

from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import NOT_FOUND, HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.registry.api.target import Registry, context_prefix, in_all_contexts, page
from ottla.web.registry.api.view import by_id, by_version, tags_shown, text_of
from ottla.web.registry.decision.errors import schema_not_found
from ottla.web.registry.state.registry_state import IdState
from ottla.web.registry.state.stored_schema import StoredSchema
from ottla.web.registry.state.subject_name import DEFAULT_CONTEXT, WILDCARD, SubjectName, normalized, parse_subject

_ID: Final = re.compile(r"-?[0-9]{1,10}")
_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LIST_LIMIT: Final = 1000
TYPES: Final = ("JSON", "PROTOBUF", "AVRO")


class SchemaApi:
    """Handlers of schemas."""

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        return [
            *in_all_contexts("GET", "/schemas", self.list_schemas),
            *in_all_contexts("GET", "/schemas/types", self.list_types),
            *in_all_contexts("GET", "/schemas/ids/{id}", self.show),
            *in_all_contexts("GET", "/schemas/ids/{id}/schema", self.show_text),
            *in_all_contexts("GET", "/schemas/ids/{id}/subjects", self.list_subjects),
            *in_all_contexts("GET", "/schemas/ids/{id}/versions", self.list_versions),
            *in_all_contexts("GET", "/schemas/guids/{guid}", self.show_by_guid),
            *in_all_contexts("GET", "/schemas/guids/{guid}/ids", self.list_ids),
        ]

    async def list_types(self, _: Request) -> Answer:
        """The supported types of schema."""
        return json_answer(TYPES)

    async def list_schemas(self, request: Request) -> Answer:
        """All versions, by subject and number."""
        state = self._registry.state
        prefix = request.query.get("subjectPrefix", context_prefix(request) or WILDCARD)
        deleted, latest_only = request.flag("deleted"), request.flag("latestOnly")
        found: list[StoredSchema] = []
        for name in state.with_prefix(prefix):
            versions = [each for each in state.subject(name).ascending() if deleted or not each.deleted]
            found += versions[-1:] if latest_only else versions
        return json_answer([by_version(each, each.content.text) for each in page(request, found, _LIST_LIMIT)])

    async def show(self, request: Request) -> Answer:
        """The schema that an id stands for."""
        number, entry = self._entry(request)
        text = text_of(self._registry, entry.schema, request.query.get("format", ""))
        fields = by_id(entry.schema, text, qualify=request.query.get("referenceFormat") == "qualified")
        if request.flag("fetchMaxId"):
            context = parse_subject(entry.schema.subject).context
            fields["maxId"] = max(number, self._registry.state.context(context).id_max)
        return json_answer(fields | tags_shown(self._registry, entry.schema, request))

    async def show_text(self, request: Request) -> Answer:
        """The text of the schema that an id stands for."""
        entry = self._entry(request)[1]
        text = text_of(self._registry, entry.schema, request.query.get("format", ""))
        return Answer(200, text.encode("utf-8", "replace"))

    async def list_subjects(self, request: Request) -> Answer:
        """The subjects that have a schema."""
        names = sorted({stored.subject for stored in self._uses(request)})
        return json_answer(page(request, names))

    async def list_versions(self, request: Request) -> Answer:
        """The versions that a schema is."""
        uses = [{"subject": stored.subject, "version": stored.version} for stored in self._uses(request)]
        return json_answer(page(request, uses))

    async def show_by_guid(self, request: Request) -> Answer:
        """The schema with a globally unique id."""
        guid = request.parameters["guid"]
        for _, entry in self._by_guid(guid):
            fields = by_id(entry.schema, text_of(self._registry, entry.schema, request.query.get("format", "")))
            del fields["subject"], fields["version"]
            return json_answer(fields)
        raise schema_not_found(guid)

    async def list_ids(self, request: Request) -> Answer:
        """The ids that stand for a globally unique one, by context."""
        found = [
            {"context": context, "id": number}
            for context, entry in self._by_guid(request.parameters["guid"])
            for number in [entry.schema.id]
        ]
        return json_answer(found)

    def _entry(self, request: Request) -> tuple[int, IdState]:
        text = request.parameters["id"]
        if not _ID.fullmatch(text) or not -(1 << 31) <= int(text) < 1 << 31:
            raise HttpError(404, NOT_FOUND)
        number = int(text)
        found = self._find(number, request.query.get("subject") or context_prefix(request))
        if found is None:
            raise schema_not_found(number)
        return number, found

    def _find(self, number: int, subject: str) -> IdState | None:
        """The id in the subject's context; a plain subject that does not have it there may have it in another one."""
        state = self._registry.state
        name = parse_subject(normalized(subject))
        found = state.context(name.context).ids.get(number)
        if name.context != DEFAULT_CONTEXT or not name.subject:
            return found
        if found is None or not any(subject == name.subject for subject, _ in found.uses):
            for context in state.other_contexts():
                other = state.context(context).ids.get(number)
                wanted = SubjectName(context, name.subject).qualified
                if other is not None and any(subject == wanted for subject, _ in other.uses):
                    return other
        return found

    def _uses(self, request: Request) -> list[StoredSchema]:
        _, entry = self._entry(request)
        state, deleted = self._registry.state, request.flag("deleted")
        wanted = parse_subject(normalized(request.query.get("subject") or "")).subject
        versions = [state.subject(subject).versions[version] for subject, version in entry.uses]
        return sorted(
            (
                stored
                for stored in versions
                if (deleted or not stored.deleted) and (not wanted or parse_subject(stored.subject).subject == wanted)
            ),
            key=lambda stored: (stored.subject, stored.version),
        )

    def _by_guid(self, guid: str) -> Iterator[tuple[str, IdState]]:
        if not _GUID.fullmatch(guid.lower()):
            return
        state, digest = self._registry.state, bytes.fromhex(guid.replace("-", ""))
        for name in (DEFAULT_CONTEXT, *state.other_contexts()):
            context = state.context(name)
            for kind in TYPES:
                number = context.id_of(digest + kind[:1].encode())
                if number is not None:
                    yield name, context.ids[number]
