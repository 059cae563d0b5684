"""A cluster that answers from a script: a function from node and request to the answer; it notes who was asked."""

from collections.abc import Callable

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import AdminChannel, AdminTimeouts
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response

Answer = Callable[[int, Request], Response | OttlaError]


class ScriptedNode:
    """A node that speaks up to some version of everything."""

    def __init__(self, version: int) -> None:
        self._version = version

    def version_of(self, api: ApiKey) -> int:
        return self._version


class ScriptedCluster:
    """Stands where the cluster client stands."""

    def __init__(self, answer: Answer, *, version: int = 99) -> None:
        self._answer = answer
        self._version = version
        self.asked: list[tuple[int, Request]] = []
        self.versions: list[int | None] = []
        self.refreshed = 0
        self.forgotten: list[str] = []
        self.coordinators: dict[str, int] = {}

    async def request(
        self, node_id: int, request: Request, *, timeout_ms: int | None = None, version: int | None = None
    ) -> Response:
        self.asked.append((node_id, request))
        self.versions.append(version)
        answer = self._answer(node_id, request)
        if isinstance(answer, OttlaError):
            raise answer
        return answer

    async def connection(self, node_id: int) -> ScriptedNode:
        return ScriptedNode(self._version)

    async def refresh(self) -> object:
        self.refreshed += 1
        return None

    async def coordinator(self, kind: CoordinatorKind, key: str) -> int:
        return self.coordinators.get(key, 1)

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        self.forgotten.append(key)


def channel(cluster: ScriptedCluster, *, api_timeout_ms: int = 60_000) -> AdminChannel:
    """A channel that does not wait between attempts."""
    return AdminChannel(cluster, AdminTimeouts(api_timeout_ms=api_timeout_ms, backoff=Backoff(0, 0)))
