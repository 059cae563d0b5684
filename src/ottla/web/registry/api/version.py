"""`/subjects/{subject}/versions`: registering, reading, deleting versions, and who refers to one."""

from typing import Final

from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.registry.api.target import Registry, in_all_contexts, page, subject_of, version_of
from ottla.web.registry.api.view import by_version, form_asked, registered, tags_shown, text_of
from ottla.web.registry.decision.delete import delete_version, referring_ids
from ottla.web.registry.decision.errors import invalid_subject, subject_not_found, version_not_found
from ottla.web.registry.decision.lookup import has_subjects
from ottla.web.registry.decision.outcome import Outcome
from ottla.web.registry.decision.register import already_registered, register
from ottla.web.registry.decision.schema_request import check_rules, parse_schema_request
from ottla.web.registry.decision.tag import parse_tag_request, retagging
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.stored_schema import StoredSchema
from ottla.web.registry.state.subject_name import DEFAULT_CONTEXT, SubjectName, is_valid, parse_subject


class VersionApi:
    """Handlers of versions."""

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        one = "/subjects/{subject}/versions/{version}"
        return [
            *in_all_contexts("GET", "/subjects/{subject}/versions", self.list_versions),
            *in_all_contexts("POST", "/subjects/{subject}/versions", self.register),
            *in_all_contexts("GET", one, self.show),
            *in_all_contexts("DELETE", one, self.delete),
            *in_all_contexts("GET", f"{one}/schema", self.show_text),
            *in_all_contexts("POST", f"{one}/tags", self.retag),
            *in_all_contexts("GET", f"{one}/referencedby", self.list_referrers),
        ]

    async def list_versions(self, request: Request) -> Answer:
        """The numbers, ascending."""
        subject, state = subject_of(self._registry, request), self._registry.state
        deleted, deleted_only = request.flag("deleted"), request.flag("deletedOnly")
        if not has_subjects(state, subject, deleted=deleted or deleted_only):
            raise subject_not_found(subject)
        if request.flag("deletedAsNegative"):
            numbers = [-each.version if each.deleted else each.version for each in state.subject(subject).ascending()]
        elif deleted_only:
            numbers = [each.version for each in state.subject(subject).ascending() if each.deleted]
        else:
            numbers = [each.version for each in state.subject(subject).ascending() if deleted or not each.deleted]
        return json_answer(page(request, numbers))

    async def register(self, request: Request) -> Answer:
        """A new version, or the one that the schema has already."""
        wish = parse_schema_request(await request.json())
        subject = subject_of(self._registry, request)
        check_rules(wish)
        if not is_valid(subject):
            raise invalid_subject(subject)
        normalize, form = request.flag("normalize"), form_asked(request, wish)
        rule = self._registry.rule

        def show(stored: StoredSchema) -> object:
            return registered(stored, text_of(self._registry, stored, form))

        known = already_registered(self._registry.state, rule, subject, wish, normalize=normalize)
        if known is not None:
            return json_answer(show(known))
        return await self._registry.write(
            request, lambda state: register(state, rule, subject, wish, normalize=normalize), show
        )

    async def show(self, request: Request) -> Answer:
        """One version."""
        stored = self._find(request, deleted=request.flag("deleted"))
        qualify = request.query.get("referenceFormat") == "qualified"
        text = text_of(self._registry, stored, request.query.get("format", ""))
        fields = by_version(stored, text, qualify=qualify)
        return json_answer(fields | tags_shown(self._registry, stored, request))

    async def show_text(self, request: Request) -> Answer:
        """The text of one version, as it is."""
        stored = self._find(request, deleted=request.flag("deleted"))
        return Answer(200, text_of(self._registry, stored, request.query.get("format", "")).encode("utf-8", "replace"))

    async def retag(self, request: Request) -> Answer:
        """A new version with tags added to records and fields, or removed."""
        wish = parse_tag_request(await request.json())
        subject, version, rule = subject_of(self._registry, request), version_of(request), self._registry.rule
        if not is_valid(subject):
            raise invalid_subject(subject)

        def decide(state: RegistryState) -> Outcome[StoredSchema]:
            stored = state.version(subject, version, deleted=False)
            if stored is None:
                known = has_subjects(state, subject, deleted=False)
                raise version_not_found(version) if known else subject_not_found(subject)
            return register(state, rule, subject, retagging(state, rule, stored, wish), normalize=False)

        return await self._registry.write(
            request, decide, lambda stored: registered(stored, text_of(self._registry, stored, ""))
        )

    async def delete(self, request: Request) -> Answer:
        """Deletes one version."""
        subject, version, permanent = (
            subject_of(self._registry, request),
            version_of(request),
            request.flag("permanent"),
        )
        return await self._registry.write(
            request,
            lambda state: delete_version(state, subject, version, permanent=permanent),
            lambda number: number,
        )

    async def list_referrers(self, request: Request) -> Answer:
        """The ids of the schemas that refer to a version."""
        stored = self._find(request, deleted=True)
        deleted = request.flag("deleted")
        found = referring_ids(self._registry.state, stored.subject, stored.version, deleted=deleted)
        return json_answer(page(request, found, 1000))

    def _find(self, request: Request, *, deleted: bool) -> StoredSchema:
        """The version of the path; one that the default context does not have may be in another one."""
        subject, version, state = subject_of(self._registry, request), version_of(request), self._registry.state
        found = state.version(subject, version, deleted=deleted)
        name = parse_subject(subject)
        if found is None and name.context == DEFAULT_CONTEXT:
            others = (SubjectName(context, name.subject).qualified for context in state.other_contexts())
            candidates = (state.version(other, version, deleted=deleted) for other in others)
            found = next((candidate for candidate in candidates if candidate is not None), None)
        if found is not None:
            return found
        if not has_subjects(state, subject, deleted=deleted):
            raise subject_not_found(subject)
        raise version_not_found(version)
