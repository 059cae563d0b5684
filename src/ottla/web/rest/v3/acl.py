"""`…/acls`: who may do what. A search by what is not given finds everything; a deletion has to say what it means."""

from enum import IntEnum
from typing import Any, Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import V3
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import bad_request
from ottla.web.rest.field import Fields
from ottla.web.rest.v3.link import Links, links_of

E = TypeVar("E", bound=IntEnum)

_FIELDS: Final = (
    *("resource_type", "resource_name", "pattern_type", "principal"),
    *("host", "operation", "permission"),
)


class AclApi:
    """Handlers of access control."""

    def __init__(self, context: RestContext) -> None:
        self._context: Final = context
        self._admin: Final = context.admin

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(V3)
        acls = "/v3/clusters/{cluster_id}/acls"
        routes.add("GET", acls, self.search)
        routes.add("POST", acls, self.create)
        routes.add("DELETE", acls, self.delete)
        routes.add("POST", f"{acls}:batch", self.create_many)
        return routes.found

    async def search(self, request: Request) -> Answer:
        """The rules that a filter matches."""
        links, wanted = links_of(self._context, request), _filter(request)
        found = await self._admin.describe_acls(wanted)
        metadata = {"self": links.search("acls", _query(wanted)), "next": None}
        return json_answer({"kind": "KafkaAclList", "metadata": metadata, "data": _shown_all(links, found)})

    async def create(self, request: Request) -> Answer:
        """Makes a rule."""
        links = links_of(self._context, request)
        binding = _binding(Fields(await request.json(), _FIELDS))
        await self._admin.create_acls([binding])
        return Answer(201, headers={"location": _shown(links, binding)["metadata"]["self"]})

    async def create_many(self, request: Request) -> Answer:
        """Makes several rules, all or an error."""
        links_of(self._context, request)
        bindings = [_binding(each) for each in Fields(await request.json(), ("data",)).objects("data", _FIELDS)]
        if bindings:
            await self._admin.create_acls(bindings)
        return Answer(201)

    async def delete(self, request: Request) -> Answer:
        """Removes the rules that a filter matches."""
        links = links_of(self._context, request)
        for name in ("resource_type", "pattern_type", "operation", "permission"):
            if request.query.get(name, "unknown").upper() == "UNKNOWN":
                raise bad_request(f"{name} cannot be unspecified or UNKNOWN")
        errors: dict[AclBindingFilter, OttlaError] = {}
        wanted = _filter(request)
        found = await self._admin.delete_acls([wanted], errors=errors)
        for error in errors.values():
            raise error
        return json_answer({"data": _shown_all(links, found[wanted])})


def _filter(request: Request) -> AclBindingFilter:
    query = request.query
    return AclBindingFilter(
        _member(ResourceType, "resource_type", query.get("resource_type") or "ANY"),
        query.get("resource_name") or None,
        _member(PatternType, "pattern_type", query.get("pattern_type") or "ANY"),
        query.get("principal") or None,
        query.get("host") or None,
        _member(AclOperation, "operation", query.get("operation") or "ANY"),
        _member(AclPermissionType, "permission", query.get("permission") or "ANY"),
    )


def _binding(wish: Fields) -> AclBinding:
    kind = _member(ResourceType, "resource_type", wish.text("resource_type"))
    pattern = _member(PatternType, "pattern_type", wish.text("pattern_type"))
    operation = _member(AclOperation, "operation", wish.text("operation"))
    permission = _member(AclPermissionType, "permission", wish.text("permission"))
    for name, value in (("resource_type", kind), ("operation", operation), ("permission", permission)):
        if value.name in ("ANY", "UNKNOWN"):
            raise bad_request(f"{name} cannot be {value.name}")
    if pattern not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise bad_request(f"pattern_type cannot be {pattern.name}")
    principal = wish.text("principal")
    if ":" not in principal:
        raise bad_request("principal must be written Type:name, as in User:alice")
    resource = ResourcePattern(kind, wish.text("resource_name"), pattern)
    return AclBinding(resource, AccessControlEntry(principal, operation, permission, wish.text("host")))


def _member(kind: type[E], name: str, text: str) -> E:
    found = kind.__members__.get(text.upper())
    if found is None:
        raise bad_request(f"{name} {text} is none of {', '.join(kind.__members__)}")
    return found


def _query(wanted: AclBindingFilter) -> dict[str, str]:
    return {
        "resource_type": wanted.resource_type.name,
        "resource_name": wanted.name or "",
        "pattern_type": wanted.pattern_type.name,
        "principal": wanted.principal or "",
        "host": wanted.host or "",
        "operation": wanted.operation.name,
        "permission": wanted.permission.name,
    }


def _shown_all(links: Links, found: list[AclBinding]) -> list[dict[str, Any]]:
    shown = [_shown(links, each) for each in found]
    return sorted(shown, key=lambda each: [each[name] for name in _FIELDS])


def _shown(links: Links, binding: AclBinding) -> dict[str, Any]:
    pattern, entry = binding
    fields = {
        "resource_type": pattern.type.name,
        "resource_name": pattern.name,
        "pattern_type": pattern.pattern_type.name,
        "principal": entry.principal,
        "host": entry.host,
        "operation": entry.operation.name,
        "permission": entry.permission.name,
    }
    metadata = {"self": links.search("acls", fields)}
    return {"kind": "KafkaAcl", "metadata": metadata, "cluster_id": links.cluster_id, **fields}
