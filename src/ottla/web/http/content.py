"""Content negotiation: the type of a request's body, and the type that its sender accepts in the answer."""

from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

from ottla.base.frozen import frozen

JSON: Final = "application/json"


@frozen
class ContentTypes:
    """The content types of a service, without parameters and in lower case."""

    answers: tuple[str, ...] = (JSON,)
    """Types of answers; the first is for clients that accept anything."""
    requests: frozenset[str] = field(default_factory=lambda: frozenset({JSON}))
    """Types of bodies; a body without a type is taken as JSON."""


def media_type(header: str) -> str:
    """The type in a `Content-Type` header, without its parameters.

    >>> media_type("application/JSON; charset=utf-8")
    'application/json'
    """
    return header.partition(";")[0].strip().lower()


@lru_cache(maxsize=256)
def accepted(header: str, offered: Sequence[str]) -> str | None:
    """The offered type that an `Accept` header prefers, None if it takes none of them. A tie goes to the first offered.

    >>> accepted("text/html, application/json;q=0.9", ("application/vnd.x+json", "application/json"))
    'application/json'
    >>> accepted("*/*", ("a/b", "c/d")), accepted("image/png", ("a/b",))
    ('a/b', None)
    """
    ranges = [_range(part) for part in header.split(",") if part.strip()]
    if not ranges:
        return offered[0]
    best: tuple[float, int] | None = None
    for index, candidate in enumerate(offered):
        quality = _quality(candidate, ranges)
        if quality > 0 and (best is None or quality > best[0]):
            best = (quality, index)
    return None if best is None else offered[best[1]]


def _range(part: str) -> tuple[str, float]:
    name, _, parameters = part.partition(";")
    quality = 1.0
    for parameter in parameters.split(";"):
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "q":
            try:
                quality = float(value)
            except ValueError:
                quality = 0.0
    return name.strip().lower(), quality


def _quality(candidate: str, ranges: Sequence[tuple[str, float]]) -> float:
    """The quality that the most exact matching range gives."""
    family = candidate.partition("/")[0] + "/*"
    for wanted in (candidate, family, "*/*", "*"):
        for name, quality in ranges:
            if name == wanted:
                return quality
    return 0.0
