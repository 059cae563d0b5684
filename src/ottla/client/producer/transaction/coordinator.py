"""Asks the coordinators of transactions and groups, until they answer: finding them again when they have moved.

A coordinator that loads, moves, is busy with the transaction before, or can't be reached, is asked again after a
pause. What remains is an answer, or a refusal that asking again would not change.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.error_code import error_codes
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_pool import Purpose
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, error_for

_R = TypeVar("_R", bound=Response)

_MOVED: Final = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.REQUEST_TIMED_OUT})
_CONCURRENT_PAUSE_MS: Final = 20
"""The transaction before is being completed, which mostly takes a few milliseconds."""
_FEATURE: Final = "transaction.version"

Codes = Callable[[Response], "set[int]"]
"""The error codes that an answer holds."""


class TransactionCoordinator:
    """One producer's way to its coordinators."""

    def __init__(self, cluster: ClusterClient, transactional_id: str) -> None:
        self._cluster: Final = cluster
        self.transactional_id: Final = transactional_id

    async def connection(self) -> NodeConnection:
        """A connection to the coordinator of transactions."""
        kind, key = CoordinatorKind.TRANSACTION, self.transactional_id
        failures = 0
        while True:
            try:
                node_id = await self._cluster.coordinator(kind, key)
                return await self._cluster.connection(node_id, purpose=Purpose.COORDINATOR)
            except OttlaError as error:
                self._look_for_another(kind, key, error)
            await asyncio.sleep(self._cluster.backoff.delay_ms(failures) / 1000)
            failures += 1

    def serves_transactions_v2(self, connection: NodeConnection) -> bool:
        """Whether the cluster has switched to transactions v2 (KIP-890)."""
        answer = connection.api_versions
        features = () if answer is None else answer.finalized_features
        return any(feature.name == _FEATURE and feature.max_version_level >= 2 for feature in features)

    async def ask(self, request: Request, kind: type[_R], version: int | None = None) -> _R:
        """The coordinator's answer, good or bad."""
        return await self._ask(CoordinatorKind.TRANSACTION, self.transactional_id, request, (kind, version))

    async def ask_group(self, group_id: str, request: Request, kind: type[_R], version: int | None = None) -> _R:
        """The answer of a group's coordinator."""
        return await self._ask(CoordinatorKind.GROUP, group_id, request, (kind, version))

    async def _ask(
        self, kind: CoordinatorKind, key: str, request: Request, expected: tuple[type[_R], int | None]
    ) -> _R:
        failures = 0
        while True:
            pause_ms = self._cluster.backoff.delay_ms(failures)
            try:
                node_id = await self._cluster.coordinator(kind, key)
                response = await self._cluster.request(
                    node_id, request, version=expected[1], purpose=Purpose.COORDINATOR
                )
            except OttlaError as error:
                self._look_for_another(kind, key, error)
            else:
                assert isinstance(response, expected[0])
                codes = error_codes(response)
                if not codes or not _is_passing(codes):
                    return response
                if codes & _MOVED:
                    self._cluster.forget_coordinator(kind, key)
                elif ErrorCode.CONCURRENT_TRANSACTIONS in codes:
                    pause_ms = min(pause_ms, _CONCURRENT_PAUSE_MS)
            await asyncio.sleep(pause_ms / 1000)
            failures += 1

    def _look_for_another(self, kind: CoordinatorKind, key: str, error: OttlaError) -> None:
        """A coordinator that can't be reached may have moved; raises what asking again would not change."""
        if not getattr(error, "retriable", False):
            raise error
        self._cluster.forget_coordinator(kind, key)


def _is_passing(codes: set[int]) -> bool:
    return all(error_for(code).retriable for code in codes)
