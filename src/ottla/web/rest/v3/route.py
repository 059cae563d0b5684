"""All routes of version 3."""

from ottla.web.http.route import Route
from ottla.web.rest.parts import RestParts


def v3_routes(parts: RestParts) -> list[Route]:
    """Method, path and handler of each."""
    return []
