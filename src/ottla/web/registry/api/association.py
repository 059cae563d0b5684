"""`/associations`: which subjects a topic has its keys and values in, asked for by subject, by name and by id."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import uuid4

from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.registry.api.target import Registry, page, prefix_of
from ottla.web.registry.api.view import looked_up
from ottla.web.registry.decision.association import Made, Situation, associate, dissociate
from ottla.web.registry.decision.association_batch import Done, batch, parse_batch
from ottla.web.registry.decision.association_query import Found, answer, parse_queries
from ottla.web.registry.decision.association_request import TOPIC, ResourceRequest, parse_resource_request
from ottla.web.registry.state.association import Association, Lifecycle
from ottla.web.registry.state.subject_name import normalized

_ANY: Final = "-"
_PAGE: Final = 1000


class AssociationApi:
    """Handlers of associations."""

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        resource = "/associations/resources/{resource}"
        return [
            Route("POST", "/associations", self.create),
            Route("POST", "/associations:batch", self.batch),
            Route("POST", "/associations:batchGet", self.batch_get),
            Route("POST", "/associations:batchMutate", self.batch),
            Route("GET", "/associations/subjects/{subject}", self.list_of_subject),
            Route("GET", resource, self.list_of_resource),
            Route("PUT", resource, self.create_or_update),
            Route("DELETE", resource, self.delete),
            Route("GET", f"{resource}/{{name}}", self.list_by_name),
        ]

    async def create(self, request: Request) -> Answer:
        """Associations of a topic, and the schemas that come with it."""
        wanted = parse_resource_request(await request.json(), create=True, dry_run=request.flag("dryRun"))
        return await self._associate(request, wanted)

    async def create_or_update(self, request: Request) -> Answer:
        """Associations of a topic that is there already."""
        body, resource, dry_run = await request.json(), request.parameters["resource"], request.flag("dryRun")
        wanted = parse_resource_request(body, create=False, dry_run=dry_run, path_id=resource)
        return await self._associate(request, wanted)

    async def batch(self, request: Request) -> Answer:
        """Many requests at once; each has a result or an error."""
        wanted, situation, dry_run = parse_batch(await request.json()), self._situation(request), request.flag("dryRun")
        answer = await self._registry.write(
            request,
            lambda state: batch(state, situation, wanted, dry_run=dry_run),
            lambda done: {"results": [_result(each) for each in done]},
        )
        return replace(answer, status=207) if answer.status == 200 else answer

    async def batch_get(self, request: Request) -> Answer:
        """The associations of many resources; each question has a result or an error."""
        queries, state = parse_queries(await request.json()), self._registry.state
        has_schemas = request.flag("includeSchemas")
        shown = []
        for found in (answer(state.associations, each) for each in queries):
            if isinstance(found, HttpError):
                shown.append({"error": _error(found)})
                continue
            latest = {each.key: state.subject(each.key.subject).latest() for each in found.associations if has_schemas}
            made = [(each, latest.get(each.key)) for each in found.associations]
            shown.append({"result": _resource(found, made)})
        return replace(json_answer({"results": shown}), status=207)

    async def delete(self, request: Request) -> Answer:
        """Removes a resource's associations; with `cascadeLifecycle` its own subjects as well."""
        resource, types = request.parameters["resource"], request.values("associationType")
        cascade, dry_run = request.flag("cascadeLifecycle"), request.flag("dryRun")
        if not _is_topic(request):
            types = [_ANY]
        answer = await self._registry.write(
            request,
            lambda state: dissociate(state, resource, types, cascade=cascade, dry_run=dry_run),
            lambda _: None,
        )
        return replace(answer, status=204, body=b"") if answer.status == 200 else answer

    async def list_of_subject(self, request: Request) -> Answer:
        """The associations of a subject."""
        return _page(request, self._registry.state.associations.of_subject(normalized(request.parameters["subject"])))

    async def list_of_resource(self, request: Request) -> Answer:
        """The associations of a resource, by its id."""
        return _page(request, self._registry.state.associations.of_resource(request.parameters["resource"]))

    async def list_by_name(self, request: Request) -> Answer:
        """The associations of resources, by namespace and name; `-` is any."""
        namespace, name = request.parameters["resource"], request.parameters["name"]
        found = self._registry.state.associations.named(
            None if name == _ANY else name, None if namespace == _ANY else namespace
        )
        return _page(request, found)

    async def _associate(self, request: Request, wanted: ResourceRequest) -> Answer:
        situation, dry_run = self._situation(request), request.flag("dryRun")
        return await self._registry.write(
            request,
            lambda state: associate(state, situation, wanted, dry_run=dry_run),
            lambda made: _resource(wanted, made),
        )

    def _situation(self, request: Request) -> Situation:
        return Situation(self._registry.rule, prefix_of(request.query.get("context", "")), lambda: str(uuid4()))


def _is_topic(request: Request) -> bool:
    return request.query.get("resourceType", "") in ("", TOPIC)


def _page(request: Request, found: Sequence[Association]) -> Answer:
    types, lifecycle = request.values("associationType"), request.query.get("lifecycle")
    if lifecycle is not None and lifecycle not in Lifecycle.__members__:
        raise HttpError(404, "The query parameter lifecycle must be STRONG or WEAK")
    shown = [
        _shown(each)
        for each in found
        if _is_topic(request)
        and (not types or each.key.association_type in types)
        and lifecycle in (None, each.lifecycle.value)
    ]
    return json_answer(page(request, shown, _PAGE))


def _shown(association: Association) -> dict[str, object]:
    fields = association.to_record()
    del fields["tenant"]
    if association.is_frozen is (association.lifecycle is Lifecycle.STRONG):
        del fields["frozen"]
    return {
        "subject": fields.pop("subject"),
        **fields,
        "createTs": association.created,
        "updateTs": association.updated,
    }


def _resource(resource: ResourceRequest | Found, made: Sequence[Made]) -> dict[str, object]:
    named = {"resourceName": resource.name, "resourceNamespace": resource.namespace, "resourceId": resource.id}
    fields: dict[str, object] = {name: value for name, value in named.items() if value}
    fields["resourceType"] = resource.resource_type if isinstance(resource, Found) else TOPIC
    if made:
        fields["associations"] = [_info(each) for each in made]
    return fields


def _info(made: Made) -> dict[str, object]:
    association, stored = made
    key, lifecycle = association.key, association.lifecycle.value
    fields: dict[str, object] = {
        "subject": key.subject,
        "associationType": key.association_type,
        "lifecycle": lifecycle,
    }
    return fields if stored is None else fields | {"schema": looked_up(stored, stored.content.text)}


def _error(refusal: HttpError) -> dict[str, object]:
    return {"error_code": refusal.error_code, "message": refusal.message}


def _result(done: Done) -> dict[str, object]:
    if done.refusal is not None:
        return {"error": _error(done.refusal)}
    assert done.request is not None
    return {"result": _resource(done.request, done.made)}
