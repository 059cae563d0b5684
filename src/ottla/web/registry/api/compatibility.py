"""`/compatibility`: may a schema follow one version, or all of them?"""

from typing import Final

from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.registry.api.target import Registry, in_all_contexts, subject_of, version_of
from ottla.web.registry.decision.compatibility import check_against
from ottla.web.registry.decision.schema_request import parse_schema_request

_INVALID_SCHEMA: Final = 42201


class CompatibilityApi:
    """Handlers of compatibility checks."""

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        place = "/compatibility/subjects/{subject}/versions"
        return [
            *in_all_contexts("POST", place, self.check_all),
            *in_all_contexts("POST", f"{place}/{{version}}", self.check_one),
        ]

    async def check_all(self, request: Request) -> Answer:
        """Beside the versions that registering would look at."""
        return await self._check(request, None)

    async def check_one(self, request: Request) -> Answer:
        """Beside one version."""
        return await self._check(request, version_of(request))

    async def _check(self, request: Request, version: int | None) -> Answer:
        wish = parse_schema_request(await request.json())
        verbose, registry = request.flag("verbose"), self._registry
        try:
            found = check_against(
                registry.state,
                registry.rule,
                subject_of(registry, request),
                wish,
                version,
                normalize=request.flag("normalize"),
            )
        except HttpError as error:
            if not verbose or error.error_code != _INVALID_SCHEMA:
                raise
            found = [error.message]
        answer: dict[str, object] = {"is_compatible": not found}
        return json_answer(answer | {"messages": found} if verbose else answer)
