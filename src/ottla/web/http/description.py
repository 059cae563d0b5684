"""The OpenAPI description of a service, made from its routes: what is served is described, and nothing else.

A service adds what its handlers read of queries and bodies, by method and path. `/openapi.json` serves it, without
log-in: it tells nothing of the service's data.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.base.version import VERSION
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.content import ContentTypes
from ottla.web.http.request import Request
from ottla.web.http.route import Route

_PARAMETER: Final = re.compile(r"{(\w+)}")
TEXT: Final[Mapping[str, Any]] = {"type": "string"}
FLAG: Final[Mapping[str, Any]] = {"type": "boolean"}
INTEGER: Final[Mapping[str, Any]] = {"type": "integer"}


@frozen
class Details:
    """The input of one handler besides its path."""

    query: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    """The JSON Schema of the body; None where there is none."""


def openapi(
    title: str, routes: Iterable[Route], content: ContentTypes, details: Mapping[str, Details]
) -> dict[str, Any]:
    """The document; `details` are by `METHOD /path`."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        found = details.get(f"{route.method} {route.template}", Details())
        paths.setdefault(route.template, {})[route.method.lower()] = _operation(route, route.content or content, found)
    return {"openapi": "3.1.0", "info": {"title": title, "version": VERSION}, "paths": paths}


def description_route(document: Mapping[str, Any]) -> Route:
    """The route that serves a document."""

    async def show(_: Request) -> Answer:
        answer = json_answer(document)
        return Answer(200, answer.body, "application/json")

    return Route("GET", "/openapi.json", show, is_public=True)


def members(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object, none of whose properties is required."""
    return {"type": "object", "properties": properties}


def each(items: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": items}


def _operation(route: Route, content: ContentTypes, details: Details) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": TEXT} for name in _PARAMETER.findall(route.template)
    ]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in details.query.items()]
    summary = (route.handler.__doc__ or "").strip().partition("\n")[0]
    answers: dict[str, Any] = {name: {} for name in content.answers}
    found: dict[str, Any] = {
        "operationId": f"{route.method.lower()} {route.template}",
        "parameters": parameters,
        "responses": {"default": {"description": "The answer, or `error_code` and `message`.", "content": answers}},
    }
    if summary:
        found["summary"] = summary
    if details.body is not None:
        bodies = {name: {"schema": details.body} for name in sorted(content.requests) if "json" in name}
        found["requestBody"] = {"content": bodies}
    return found
