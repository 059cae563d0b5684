"""The root, contexts, and what clients ask about the registry itself."""

from typing import Final

from ottla.base.version import VERSION
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.registry.api.target import Registry, page
from ottla.web.registry.decision.delete import delete_context
from ottla.web.registry.state.subject_name import DEFAULT_CONTEXT


class ServerApi:
    """Handlers of everything that is about no schema."""

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        return [
            Route("GET", "/", self.root),
            Route("POST", "/", self.root),
            Route("GET", "/contexts", self.list_contexts),
            Route("DELETE", "/contexts/{context}", self.delete_context),
            Route("GET", "/v1/metadata/id", self.show_id),
            Route("GET", "/v1/metadata/version", self.show_version),
            Route("GET", "/v1/metadata/deployment", self.show_deployment),
        ]

    async def root(self, _: Request) -> Answer:
        """An empty object: the registry is there."""
        return json_answer({})

    async def list_contexts(self, request: Request) -> Answer:
        """Names, the default context first."""
        prefix = request.query.get("contextPrefix", "")
        names = [DEFAULT_CONTEXT, *self._registry.state.other_contexts()]
        return json_answer(page(request, [name for name in names if name.startswith(prefix)]))

    async def delete_context(self, request: Request) -> Answer:
        """Forgets a context without subjects."""
        name = request.parameters["context"].strip(":")
        qualified = f":{name if name.startswith(DEFAULT_CONTEXT) else f'.{name}'}:"
        done = await self._registry.write(request, lambda state: delete_context(state, qualified), lambda _: None)
        return Answer(204) if done.status == 200 else done

    async def show_id(self, _: Request) -> Answer:
        """Which cluster and which group of instances this is."""
        clusters = {"kafka-cluster": self._registry.cluster_id, "schema-registry-cluster": self._registry.group_id}
        return json_answer({"scope": {"path": [], "clusters": clusters}, "id": ""})

    async def show_version(self, _: Request) -> Answer:
        """The release."""
        return json_answer({"version": VERSION, "commitId": ""})

    async def show_deployment(self, _: Request) -> Answer:
        """The deployment's attributes, of which there are none."""
        return json_answer({"attributes": []})
