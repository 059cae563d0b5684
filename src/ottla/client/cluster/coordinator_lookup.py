"""Finds and caches the broker that coordinates a group or a transactional id.

One lookup per name is under way at a time, shared by all callers. An answer is kept until a caller whom that broker
refused reports it as wrong.
"""

import asyncio
import enum
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from ottla.base.thread_owner import one_thread
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_view import BrokerView
from ottla.client.errors import ClosedError, KafkaTimeoutError, NoBrokersAvailableError
from ottla.protocol.errors import ApiError, ErrorCode, error_for
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

_BATCHED_FROM: Final = 4


class CoordinatorKind(enum.IntEnum):
    """The kind of coordinator; the numbers are those of FindCoordinator."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


Ask: TypeAlias = Callable[[Callable[[int], FindCoordinatorRequest], int], Awaitable[FindCoordinatorResponse]]
"""Asks any broker: gets a function from the version to the request, and a time-out."""
_Found: TypeAlias = int | ApiError | NoBrokersAvailableError
Learn: TypeAlias = Callable[[BrokerView], None]
"""Hears of the broker that was found."""


@one_thread
class CoordinatorLookup:
    """The coordinators that one client needs."""

    def __init__(self, ask: Ask, learn: Learn, backoff: Backoff) -> None:
        self._ask: Final = ask
        self._learn: Final = learn
        self._backoff: Final = backoff
        self._known: Final[dict[tuple[CoordinatorKind, str], int]] = {}
        self._searches: Final[dict[tuple[CoordinatorKind, str], asyncio.Task[_Found]]] = {}

    def known(self, kind: CoordinatorKind, key: str) -> int | None:
        """The coordinator's node id, if it was found before."""
        return self._known.get((kind, key))

    def forget(self, kind: CoordinatorKind, key: str) -> None:
        """The remembered one is wrong, or gone."""
        self._known.pop((kind, key), None)

    async def find(self, kind: CoordinatorKind, key: str, timeout_ms: int) -> int:
        """The coordinator's node id.

        Raises `KafkaTimeoutError` when there is none in time, and what a broker refuses with (authorization).
        """
        deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
        failures = 0
        last: Exception | None = None
        try:
            async with asyncio.timeout_at(deadline):
                while True:
                    node_id = self._known.get((kind, key))
                    if node_id is not None:
                        return node_id
                    result = await self._shared(kind, key, timeout_ms)
                    if isinstance(result, int):
                        return result
                    if not getattr(result, "retriable", False):
                        raise result
                    last = result
                    await asyncio.sleep(self._backoff.delay_ms(failures) / 1000)
                    failures += 1
        except TimeoutError as error:
            because = f": {last}" if last is not None else ""
            text = f"no coordinator of {kind.name.lower()} {key!r} was found within {timeout_ms} ms{because}"
            raise KafkaTimeoutError(text) from last or error

    async def close(self) -> None:
        """Ends searches that are under way."""
        searches = list(self._searches.values())
        for search in searches:
            search.cancel()
        if searches:
            await asyncio.wait(searches)

    async def _shared(self, kind: CoordinatorKind, key: str, timeout_ms: int) -> "_Found":
        search = self._searches.get((kind, key))
        if search is None:
            search = asyncio.get_running_loop().create_task(self._search(kind, key, timeout_ms))
            self._searches[kind, key] = search
            search.add_done_callback(lambda _: self._searches.pop((kind, key), None))
        await asyncio.wait((search,))
        if search.cancelled():
            raise ClosedError("the client was closed")
        return search.result()

    async def _search(self, kind: CoordinatorKind, key: str, timeout_ms: int) -> "_Found":
        def request(version: int) -> FindCoordinatorRequest:
            if version >= _BATCHED_FROM:
                return FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            return FindCoordinatorRequest(key_type=kind, key=key)

        try:
            response = await self._ask(request, timeout_ms)
        except (ApiError, NoBrokersAvailableError) as error:
            return error
        # Up to version 3 the answer is the response itself; both have the same fields.
        found = response.coordinators[0] if response.coordinators else response
        if found.error_code != ErrorCode.NONE:
            return error_for(found.error_code, found.error_message)
        self._learn(BrokerView(found.node_id, found.host, found.port))
        self._known[kind, key] = found.node_id
        return found.node_id
