"""Requests to a group's coordinator about offsets: one attempt each, in the version that the coordinator speaks.

Knows what a refusal says about the coordinator: that it moved, is still loading, or is not there. Who asks decides
whether to ask again.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.node_pool import Purpose
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, ErrorCode, NetworkError

_R = TypeVar("_R", bound=Response)
_MOVED: Final = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, ErrorCode.REQUEST_TIMED_OUT})


class GroupCoordinator:
    """The coordinator of one group, wherever it is now."""

    def __init__(self, cluster: ClusterClient, group_id: str) -> None:
        self.group_id: Final = group_id
        self._cluster: Final = cluster

    async def find(self, *, timeout_ms: int) -> int:
        """The node that coordinates the group. Raises the refusal of one who may not know the group."""
        return await self._cluster.coordinator(CoordinatorKind.GROUP, self.group_id, timeout_ms=timeout_ms)

    async def ask(
        self, api: ApiKey, build: Callable[[int], Request], answer: type[_R], *, timeout_ms: int, version_max: int
    ) -> tuple[_R, int]:
        """Sends what `build` makes for the version, and gives the answer with that version."""
        node_id = await self.find(timeout_ms=timeout_ms)
        try:
            connection = await self._cluster.connection(node_id, purpose=Purpose.COORDINATOR)
            version = min(connection.version_of(api), version_max)
            response = await connection.ask(build(version), timeout_ms=timeout_ms, version=version)
        except NetworkError:
            self._cluster.forget_coordinator(CoordinatorKind.GROUP, self.group_id)
            raise
        assert isinstance(response, answer)
        return response, version

    def judge(self, error: OttlaError) -> None:
        """Remembers what a refusal says about the coordinator."""
        if not isinstance(error, ApiError):
            return
        if error.code in _MOVED:
            self._cluster.forget_coordinator(CoordinatorKind.GROUP, self.group_id)
        if error.refreshes_metadata:
            self._cluster.refresh_soon()

    def ids_of(self, topics: set[str]) -> Mapping[str, Uuid] | None:
        """The ids of these topics as they are known now; None unless all are. Who asks by them keeps to them: the view
        may be another one by the time that the coordinator is found."""
        view = self._cluster.view
        found = {topic: view.topics[topic].id for topic in topics if topic in view.topics}
        return found if len(found) == len(topics) and ZERO_UUID not in found.values() else None
