"""Which handler a method and a path lead to.

The path is cut at its slashes before its segments are decoded, so that a subject named `a/b` stays one segment when a
client sends `a%2Fb`. One slash at the end is ignored. A literal segment goes before a parameter.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeAlias
from urllib.parse import unquote_to_bytes

from ottla.base.frozen import frozen
from ottla.web.http.answer import Answer
from ottla.web.http.content import ContentTypes
from ottla.web.http.errors import METHOD_NOT_ALLOWED, NOT_FOUND, HttpError
from ottla.web.http.request import Request

Handler: TypeAlias = Callable[[Request], Awaitable[Answer]]


@frozen
class Route:
    """`GET /subjects/{subject}/versions` and who answers it."""

    method: str
    template: str
    handler: Handler
    is_public: bool = False
    """Answered without log-in: health, for load balancers."""
    content: ContentTypes | None = None
    """The route's content types, where they differ from the service's."""


class _Node:
    __slots__ = ("child", "literals", "name", "routes")

    def __init__(self) -> None:
        self.literals: Final[dict[str, _Node]] = {}
        self.child: _Node | None = None
        self.name = ""
        self.routes: Final[dict[str, Route]] = {}


class Router:
    """All routes of a service, as a tree of segments."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root: Final = _Node()
        for route in routes:
            self._add(route)

    def find(self, method: str, raw_path: bytes) -> tuple[Route, dict[str, str]]:
        """The route and the path's parameters. Raises `HttpError` 404, 405, or 400 for a path that is not UTF-8."""
        segments = _segments(raw_path)
        found: dict[str, str] = {}
        node = self._walk(self._root, segments, 0, found)
        if node is None:
            raise HttpError(404, NOT_FOUND)
        route = node.routes.get(method) or (node.routes.get("GET") if method == "HEAD" else None)
        if route is None:
            raise HttpError(405, METHOD_NOT_ALLOWED)
        return route, found

    def _add(self, route: Route) -> None:
        node = self._root
        for segment in _parts(route.template):
            if segment.startswith("{"):
                if node.child is None:
                    node.child = _Node()
                    node.child.name = segment[1:-1]
                elif node.child.name != segment[1:-1]:
                    raise ValueError(f"{route.template}: this place is called {node.child.name} elsewhere")
                node = node.child
            else:
                node = node.literals.setdefault(segment, _Node())
        if route.method in node.routes:
            raise ValueError(f"{route.method} {route.template} is there twice")
        node.routes[route.method] = route

    def _walk(self, node: _Node, segments: list[str], index: int, found: dict[str, str]) -> _Node | None:
        if index == len(segments):
            return node if node.routes else None
        literal = node.literals.get(segments[index])
        if literal is not None:
            end = self._walk(literal, segments, index + 1, found)
            if end is not None:
                return end
        if node.child is None:
            return None
        end = self._walk(node.child, segments, index + 1, found)
        if end is not None:
            found[node.child.name] = segments[index]
        return end


def _parts(template: str) -> list[str]:
    return template.strip("/").split("/") if template != "/" else []


def _segments(raw_path: bytes) -> list[str]:
    if raw_path in (b"/", b""):
        return []
    pieces = raw_path[1:].split(b"/")
    if len(pieces) > 1 and not pieces[-1]:
        del pieces[-1]
    try:
        return [(unquote_to_bytes(piece) if b"%" in piece else piece).decode() for piece in pieces]
    except UnicodeDecodeError:
        raise HttpError(400, "The path is not percent-encoded UTF-8") from None
