"""Links between resources, their names, and the envelopes of resources and lists."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from ottla.web.http.errors import NOT_FOUND, HttpError
from ottla.web.http.request import Request
from ottla.web.rest.context import RestContext


class Links:
    """Links below one cluster.

    >>> links = Links("http://localhost:8082", "", "c1")
    >>> links.url("topics", "a/b")
    'http://localhost:8082/v3/clusters/c1/topics/a%2Fb'
    >>> links.name("topic", "a", "partition", 0)
    'crn:///kafka=c1/topic=a/partition=0'
    """

    def __init__(self, base_url: str, authority: str, cluster_id: str) -> None:
        self.cluster_id: Final = cluster_id
        self._root: Final = f"{base_url}/v3/clusters"
        self._authority: Final = authority

    @property
    def clusters(self) -> str:
        """The list of clusters."""
        return self._root

    def url(self, *segments: object) -> str:
        """A path below the cluster."""
        return "/".join((self._root, _quoted(self.cluster_id), *map(_quoted, segments)))

    def search(self, segment: str, query: dict[str, str]) -> str:
        """A path with a query."""
        return f"{self.url(segment)}?{urlencode(query, quote_via=quote)}"

    def related(self, *segments: object) -> dict[str, str]:
        """A link to another resource."""
        return {"related": self.url(*segments)}

    def name(self, *parts: object) -> str:
        """The resource's name: kind and value in turn, or a kind alone at the end."""
        words = [_quoted(part) for part in ("kafka", self.cluster_id, *parts)]
        pairs = ["=".join(words[at : at + 2]) for at in range(0, len(words), 2)]
        return f"crn://{self._authority}/{'/'.join(pairs)}"

    def resource(
        self, kind: str, path: Sequence[object], name: Sequence[object], fields: dict[str, Any]
    ) -> dict[str, Any]:
        """One resource."""
        metadata = {"self": self.url(*path), "resource_name": self.name(*name)}
        return {"kind": kind, "metadata": metadata, "cluster_id": self.cluster_id, **fields}

    def listing(self, kind: str, path: Sequence[object], resources: list[dict[str, Any]]) -> dict[str, Any]:
        """A list of resources. All are in one page, as in Confluent's proxy."""
        return {"kind": f"{kind}List", "metadata": {"self": self.url(*path), "next": None}, "data": resources}


def links_of(context: RestContext, request: Request) -> Links:
    """The links below the cluster of the path. Raises `HttpError` 404 for a cluster that is not ours."""
    asked = request.parameters["cluster_id"]
    if asked != context.cluster_id:
        raise HttpError(404, f"Cluster {asked} cannot be found.")
    return links_to(context, request)


def links_to(context: RestContext, request: Request) -> Links:
    """The links below our cluster."""
    authority = context.config.settings.string("confluent.resource.name.authority")
    return Links(context.base_url(request), authority, context.cluster_id)


def number_of(request: Request, name: str) -> int:
    """A number in the path; what is none leads nowhere."""
    text = request.parameters[name]
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 10 or not -(1 << 31) <= int(text) < 1 << 31:
        raise HttpError(404, NOT_FOUND)
    return int(text)


def not_found() -> HttpError:
    """There is no such resource."""
    return HttpError(404, NOT_FOUND)


def _quoted(part: object) -> str:
    return quote(str(part), safe="")
