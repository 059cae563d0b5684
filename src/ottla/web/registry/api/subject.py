"""`/subjects`: names, looking a schema up, deleting a subject, and the latest version with some metadata."""

from typing import Final
from urllib.parse import parse_qsl

from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.registry.api.target import Registry, context_prefix, in_all_contexts, page, subject_of
from ottla.web.registry.api.view import by_version, form_asked, looked_up, text_of
from ottla.web.registry.decision.delete import delete_subject
from ottla.web.registry.decision.errors import invalid_subject, schema_not_found, subject_not_found
from ottla.web.registry.decision.lookup import has_subjects, look_up
from ottla.web.registry.decision.schema_request import parse_schema_request
from ottla.web.registry.state.subject_name import WILDCARD, is_valid


class SubjectApi:
    """Handlers of subjects."""

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        return [
            *in_all_contexts("GET", "/subjects", self.list_subjects),
            *in_all_contexts("POST", "/subjects/{subject}", self.look_up),
            *in_all_contexts("DELETE", "/subjects/{subject}", self.delete),
            *in_all_contexts("GET", "/subjects/{subject}/metadata", self.latest_with_metadata),
        ]

    async def list_subjects(self, request: Request) -> Answer:
        """Names, sorted; of all contexts unless a prefix says otherwise."""
        state = self._registry.state
        prefix = request.query.get("subjectPrefix", context_prefix(request) or WILDCARD)
        deleted, deleted_only = request.flag("deleted"), request.flag("deletedOnly")
        found = []
        for name in state.with_prefix(prefix):
            is_live = state.subject(name).latest() is not None
            if (not is_live) if deleted_only else (is_live or deleted):
                found.append(name)
        return json_answer(page(request, found))

    async def look_up(self, request: Request) -> Answer:
        """Whether a schema is registered under the subject, and as what."""
        subject = subject_of(self._registry, request)
        if not is_valid(subject):
            raise invalid_subject(subject)
        wish = parse_schema_request(await request.json())
        found = look_up(
            self._registry.state,
            self._registry.rule,
            subject,
            wish,
            normalize=request.flag("normalize"),
            deleted=request.flag("deleted"),
        )
        return json_answer(looked_up(found, text_of(self._registry, found, form_asked(request, wish))))

    async def delete(self, request: Request) -> Answer:
        """Deletes all versions of a subject."""
        subject, permanent = subject_of(self._registry, request), request.flag("permanent")
        return await self._registry.write(
            request, lambda state: delete_subject(state, subject, permanent=permanent), lambda versions: versions
        )

    async def latest_with_metadata(self, request: Request) -> Answer:
        """The newest version whose metadata has all the properties that `key` and `value` name."""
        subject, state = subject_of(self._registry, request), self._registry.state
        pairs = parse_qsl(request.query_string.decode("latin-1"), keep_blank_values=True)
        keys = [value for name, value in pairs if name == "key"]
        values = [value for name, value in pairs if name == "value"]
        wanted = dict(zip(keys, values, strict=False))
        deleted = request.flag("deleted")
        if not has_subjects(state, subject, deleted=deleted):
            raise subject_not_found(subject)
        for stored in reversed(state.subject(subject).ascending()):
            metadata = stored.content.metadata
            is_usable = deleted or not stored.deleted
            if is_usable and metadata is not None and wanted.items() <= metadata.property_by_name.items():
                text = text_of(self._registry, stored, request.query.get("format", ""))
                return json_answer(by_version(stored, text))
        raise schema_not_found()
