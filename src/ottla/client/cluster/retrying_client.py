"""Asks brokers until they answer: a request that met with a passing error is sent again.

A coordinator that moves and a broken connection pass. Another error is raised at once, and a passing one when the time
is over.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.error_code import error_codes
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_pool import Purpose
from ottla.client.cluster.retries import Retries
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, error_for

_R = TypeVar("_R", bound=Response)
_T = TypeVar("_T")
_BUSY_PAUSE_MS: Final = 20
"""The transaction before is being completed, which mostly takes a few milliseconds."""
_BUSY: Final = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.UNSTABLE_OFFSET_COMMIT)


@frozen
class Coordinated:
    """Whose coordinator is asked."""

    kind: CoordinatorKind
    key: str


@one_thread
class RetryingClient:
    """Repeats requests for at most `timeout_ms`; lives in the client's event loop."""

    def __init__(self, cluster: ClusterClient, timeout_ms: int) -> None:
        self._cluster: Final = cluster
        self._timeout_ms: Final = timeout_ms

    async def retry(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Returns what `attempt` returns, as soon as it raises no passing error."""
        retries = Retries.within(self._cluster.backoff, self._timeout_ms)
        while True:
            try:
                return await attempt()
            except OttlaError as error:
                if getattr(error, "code", None) in _BUSY:
                    await retries.pause_briefly(error, _BUSY_PAUSE_MS)
                else:
                    await retries.pause(error)

    async def ask(self, node_id: int, request: Request, kind: type[_R]) -> _R:
        """The answer of a node, without an error in it."""

        async def attempt() -> _R:
            return _checked(await self._cluster.request(node_id, request), kind)

        return await self.retry(attempt)

    async def coordinator(self, whose: Coordinated) -> NodeConnection:
        """A connection to the coordinator of a group or a transactional id."""
        return await self.retry(lambda: self._with_coordinator(whose, _same))

    async def ask_coordinator(
        self, whose: Coordinated, request: Request, kind: type[_R], version_max: int | None = None
    ) -> _R:
        """The answer of the coordinator, without an error in it; in no higher version than `version_max`."""

        async def ask(connection: NodeConnection) -> _R:
            version = connection.version_of(request.api)
            if version_max is not None:
                version = min(version, version_max)
            answer = await connection.ask(request, timeout_ms=self._cluster.request_timeout_ms, version=version)
            connection.throttle(getattr(answer, "throttle_time_ms", 0))
            return _checked(answer, kind)

        return await self.retry(lambda: self._with_coordinator(whose, ask))

    async def _with_coordinator(self, whose: Coordinated, use: Callable[[NodeConnection], Awaitable[_T]]) -> _T:
        try:
            node_id = await self._cluster.coordinator(whose.kind, whose.key)
            connection = await self._cluster.connection(node_id, purpose=Purpose.COORDINATOR)
            await asyncio.sleep(connection.throttled_ms / 1000)
            return await use(connection)
        except OttlaError as error:
            if getattr(error, "code", None) not in _BUSY:
                self._cluster.forget_coordinator(whose.kind, whose.key)
                self._cluster.refresh_soon()
            raise


async def _same(connection: NodeConnection) -> NodeConnection:
    return connection


def _checked(answer: Response, kind: type[_R]) -> _R:
    assert isinstance(answer, kind)
    codes = error_codes(answer)
    if codes:
        raise error_for(min(codes))
    return answer
