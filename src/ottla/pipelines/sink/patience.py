"""Asks brokers until they answer: what passes (a coordinator that moves, a broken connection) is tried again.

An error that would not pass, and the last one when the time is over, is raised.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_pool import Lane
from ottla.client.producer.transaction_coordinator import error_codes
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.describe_transactions import DescribeTransactionsResponse
from ottla.protocol.messages.offset_fetch import OffsetFetchResponse

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


class Patience:
    """Repeats questions for at most `timeout_ms`; lives in the client's event loop."""

    def __init__(self, cluster: ClusterClient, timeout_ms: int) -> None:
        self._cluster: Final = cluster
        self._timeout_ms: Final = timeout_ms

    async def until_answered(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """What `attempt` returns, once it raises nothing that passes."""
        loop = asyncio.get_running_loop()
        deadline, failures = loop.time() + self._timeout_ms / 1000, 0
        while True:
            try:
                return await attempt()
            except OttlaError as error:
                if not getattr(error, "retriable", False) or loop.time() >= deadline:
                    raise
                is_busy = getattr(error, "code", None) in _BUSY
            pause_ms = self._cluster.backoff.delay_ms(failures)
            await asyncio.sleep((min(pause_ms, _BUSY_PAUSE_MS) if is_busy else pause_ms) / 1000)
            failures += 0 if is_busy else 1

    async def ask(self, node_id: int, request: Request, kind: type[_R]) -> _R:
        """The answer of a node, without an error in it."""

        async def attempt() -> _R:
            return _checked(await self._cluster.request(node_id, request), kind)

        return await self.until_answered(attempt)

    async def coordinator(self, whose: Coordinated) -> NodeConnection:
        """A connection to the coordinator of a group or a transactional id."""
        return await self.until_answered(lambda: self._with_coordinator(whose, _same))

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

        return await self.until_answered(lambda: self._with_coordinator(whose, ask))

    async def _with_coordinator(self, whose: Coordinated, use: Callable[[NodeConnection], Awaitable[_T]]) -> _T:
        try:
            node_id = await self._cluster.coordinator(whose.kind, whose.key)
            connection = await self._cluster.connection(node_id, lane=Lane.COORDINATOR)
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
    codes = _codes(answer)
    if codes:
        raise error_for(min(codes))
    return answer


def _codes(answer: Response) -> set[int]:
    if isinstance(answer, DescribeTransactionsResponse):
        return {state.error_code for state in answer.transaction_states} - {int(ErrorCode.NONE)}
    if not isinstance(answer, OffsetFetchResponse):
        return error_codes(answer)
    parts = [part for group in answer.groups for topic in group.topics for part in topic.partitions]
    codes = {group.error_code for group in answer.groups} | {part.error_code for part in parts}
    return codes - {int(ErrorCode.NONE)}
