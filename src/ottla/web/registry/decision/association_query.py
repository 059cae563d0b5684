"""Questions about the associations of many topics in one body. A bad one is refused for itself."""

from typing import Final

from ottla.base.frozen import frozen
from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.association_request import TOPIC, lifecycle_of, text_field
from ottla.web.registry.decision.errors import invalid_association, invalid_request
from ottla.web.registry.state.association import Association, Associations, Lifecycle

_FAILED: Final = 500
"""Confluent's code for a question that is refused, whatever the reason."""


@frozen
class Query:
    """Which associations are asked for: those of a resource by its id, or by its name and namespace."""

    name: str | None
    namespace: str | None
    id: str | None
    resource_type: str
    types: tuple[str, ...]
    lifecycle: Lifecycle | None


@frozen
class Found:
    """A resource as far as it is known, and its associations."""

    name: str | None
    namespace: str | None
    id: str | None
    resource_type: str
    associations: tuple[Association, ...]


def parse_queries(body: object) -> list[Query]:
    """The questions in a decoded body. Raises `HttpError`."""
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list) or not requests:
        raise invalid_association("requests", "cannot be null or empty")
    return [_query(each) for each in requests]


def answer(associations: Associations, query: Query) -> Found | HttpError:
    """The associations, or why the question has no answer."""
    if not query.id and not query.name:
        return _refusal("property: resourceId; detail: either resourceId or resourceName must be specified")
    if query.name and not query.namespace:
        text = "property: resourceNamespace; detail: resourceNamespace is required when resourceName is specified"
        return _refusal(text)
    found = associations.of_resource(query.id) if query.id else associations.named(query.name, query.namespace)
    wanted = tuple(each for each in found if _fits(query, each))
    if not wanted:
        return Found(query.name, query.namespace, query.id, query.resource_type, ())
    first = wanted[0]
    name = first.key.resource_name if query.name is None else query.name
    namespace = first.key.resource_namespace if query.namespace is None else query.namespace
    resource_id = first.resource_id if query.id is None else query.id
    same = (name, namespace, resource_id)
    if any((each.key.resource_name, each.key.resource_namespace, each.resource_id) != same for each in wanted):
        return _refusal(
            "All associations must have the same resourceName, resourceNamespace, resourceId, and resourceType."
        )
    return Found(name, namespace, resource_id, query.resource_type, wanted)


def _refusal(reason: str) -> HttpError:
    return HttpError(_FAILED, f"Error while getting associations: {reason}")


def _fits(query: Query, association: Association) -> bool:
    key = association.key
    return (
        key.resource_type == query.resource_type
        and (not query.types or key.association_type in query.types)
        and query.lifecycle in (None, association.lifecycle)
    )


def _query(fields: object) -> Query:
    if not isinstance(fields, dict):
        raise invalid_request("requests must be a list of objects")
    types = fields.get("associationTypes") or []
    if not isinstance(types, list) or not all(isinstance(each, str) for each in types):
        raise HttpError(400, "associationTypes must be a list of strings")
    return Query(
        text_field(fields, "resourceName"),
        text_field(fields, "resourceNamespace"),
        text_field(fields, "resourceId"),
        text_field(fields, "resourceType") or TOPIC,
        tuple(types),
        lifecycle_of(fields.get("lifecycle")),
    )
