"""Which subject, version and page a request is about.

Under `/contexts/{context}/…` every subject of the path is in that context. A subject whose settings name an alias
stands for that other subject.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from ottla.web.http.answer import Answer
from ottla.web.http.request import Request
from ottla.web.http.route import Handler, Route
from ottla.web.registry.decision.errors import invalid_version
from ottla.web.registry.decision.outcome import Outcome
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.subject_name import DEFAULT_CONTEXT, SubjectName, normalized, parse_subject, within

T = TypeVar("T")
_VERSION: Final = re.compile(r"[0-9]{1,10}")
LATEST: Final = -1


class Registry(Protocol):
    """The handlers' interface to the service."""

    cluster_id: str

    @property
    def group_id(self) -> str:
        """The instances that share the topic."""

    @property
    def rule(self) -> RegistryRule:
        """The settings of decisions."""

    @property
    def state(self) -> RegistryState:
        """This instance's present state."""

    async def write(
        self, request: Request, decide: Callable[[RegistryState], Outcome[T]], show: Callable[[T], object]
    ) -> Answer:
        """The answer to a request that changes something."""


def in_all_contexts(method: str, template: str, handler: Handler) -> list[Route]:
    """The route, and the same below a context."""
    return [Route(method, template, handler), Route(method, f"/contexts/{{context}}{template}", handler)]


def context_prefix(request: Request) -> str:
    """The prefix of subjects by the path's context: empty outside of `/contexts`."""
    given = request.parameters.get("context")
    return "" if given is None else prefix_of(given)


def prefix_of(context: str) -> str:
    """The prefix of a context's subjects: `:.ctx:` for `ctx`, `.ctx` and `:.ctx:`; empty for the default one."""
    name = context.strip(":")
    return SubjectName(name if name.startswith(DEFAULT_CONTEXT) else f".{name}", "").prefix


def qualified(request: Request, subject: str) -> str:
    """A subject that the request names, in the path's context."""
    prefix = context_prefix(request)
    return within(prefix, normalized(subject)) if prefix else normalized(subject)


def subject_of(registry: Registry, request: Request) -> str:
    """The subject of the path, aliases followed."""
    subject = qualified(request, request.parameters["subject"])
    alias = registry.state.configs.get(subject, {}).get("alias")
    return within(subject, alias) if alias else subject


def scope_of(request: Request) -> str | None:
    """The scope of settings that a path names: a subject, a context, or None for the registry."""
    subject = request.parameters.get("subject")
    if subject is None:
        return context_prefix(request) or None
    name = qualified(request, subject)
    return None if parse_subject(name).is_default_context else name


def version_of(request: Request) -> int:
    """The version of the path, `LATEST` for the latest one."""
    text = request.parameters["version"].strip()
    if text.lower() == "latest" or text == "-1":
        return LATEST
    if not _VERSION.fullmatch(text) or not 1 <= int(text) < 1 << 31:
        raise invalid_version(request.parameters["version"])
    return int(text)


def page(request: Request, values: Sequence[T], default_limit: int = 0) -> Sequence[T]:
    """The part of a list that `offset` and `limit` ask for; no limit is `default_limit`, 0 being all."""
    offset, limit = max(0, request.integer("offset", 0)), request.integer("limit", -1)
    if limit <= 0:
        limit = default_limit
    return values[offset : offset + limit] if limit else values[offset:]
