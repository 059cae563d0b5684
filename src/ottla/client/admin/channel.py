"""Sends the requests of the admin client: chooses the node, repeats, and gives up.

Owns deadlines (`default.api.timeout.ms` for a call, `request.timeout.ms` for one request) and retries. The operations
own the requests' content. `ask` sends one request until it gets an answer that is worth keeping; `ask_each` splits many
keys by the nodes in charge of them, and asks again about those keys alone whose answers were "not here" or "not now".
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, Protocol, TypeAlias, TypeVar

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.admin.outcome import answered
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.retries import Retries, is_retriable
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import UnknownTopicIdError, UnknownTopicOrPartitionError, error_for

K = TypeVar("K")
V = TypeVar("V")
R = TypeVar("R", bound=Response)

ANY_NODE: Final = -1
CONTROLLER: Final = -2

UNKNOWN_TOPIC_PATIENCE_S: Final = 5.0
"""How long an unknown topic may take to appear: time for a new one to spread, not an eternity for a typo."""


class Requester(Protocol):
    """The part of a cluster client that the admin client needs to ask."""

    async def request(
        self, node_id: int, request: Request, *, timeout_ms: int | None = None, version: int | None = None
    ) -> Response:
        """Sends to a node, to the least loaded one, or to the controller; the decoded answer."""
        ...

    async def connection(self, node_id: int) -> "Speaker":
        """The connection to a node, which knows what the node speaks."""
        ...

    async def refresh(self) -> object:
        """Learns anew who is who."""
        ...


class Speaker(Protocol):
    """A node that we are connected to."""

    def version_of(self, api: ApiKey) -> int:
        """The highest version that both sides speak."""
        ...


@frozen
class AdminTimeouts:
    """The time limits of calls and requests, and the pauses between attempts."""

    api_timeout_ms: int = 60_000
    request_timeout_ms: int = 30_000
    backoff: Backoff = Backoff(100, 1000)


Outcomes: TypeAlias = Mapping[K, V | OttlaError]
"""The result or error of each key."""

Route: TypeAlias = Callable[[list[K]], Awaitable[Mapping[K, int | OttlaError]]]
"""Which node is in charge of each key, or why no node is."""

AskNode: TypeAlias = Callable[[int, list[K]], Awaitable[Outcomes[K, V]]]
"""Asks a node about its keys."""


class AdminChannel:
    """Asks a cluster on behalf of the operations."""

    def __init__(self, requester: Requester, timeouts: AdminTimeouts) -> None:
        self._requester: Final = requester
        self._timeouts: Final = timeouts

    @property
    def request_timeout_ms(self) -> int:
        """The time that a server may take for a change."""
        return self._timeouts.request_timeout_ms

    async def ask_once(self, node_id: int, request: Request, answer: type[R], *, version_max: int | None = None) -> R:
        """The node's answer; raises the refusal that an answer consists of."""
        version = None
        if version_max is not None:
            version = min(version_max, (await self._requester.connection(node_id)).version_of(request.api))
        response = await self._requester.request(
            node_id, request, timeout_ms=self._timeouts.request_timeout_ms, version=version
        )
        assert isinstance(response, answer), response
        code: int = getattr(response, "error_code", 0)
        if code:
            raise error_for(code, getattr(response, "error_message", None) or None)
        return response

    async def ask(self, node_id: int, request: Request, answer: type[R]) -> R:
        """Repeats `ask_once` until there is an answer, or an error that another attempt can't help."""
        return await self.persist(lambda: self.ask_once(node_id, request, answer))

    async def persist(self, attempt: Callable[[], Awaitable[V]]) -> V:
        """Does something again and again until it succeeds, fails for good, or the call's time is up."""
        retries = self._retries()
        while True:
            try:
                return await attempt()
            except OttlaError as error:
                if not is_retriable(error) or not await retries.wait():
                    raise
                await self._look_around(error)

    async def ask_each(
        self,
        keys: Iterable[K],
        route: Route[K],
        ask: AskNode[K, V],
        *,
        may_retry: Callable[[OttlaError], bool] = is_retriable,
    ) -> dict[K, V | OttlaError]:
        """The results of all keys, in their order; all nodes are asked at once."""
        order = list(dict.fromkeys(keys))
        settled: dict[K, V | OttlaError] = {}
        retries, started = self._retries(), _now()
        pending = order
        while pending:
            outcomes = await self._round(pending, route, ask)
            settled.update(outcomes)
            retriable = {
                key: outcome
                for key, outcome in outcomes.items()
                if isinstance(outcome, OttlaError) and may_retry(outcome) and not _is_lost(outcome, started)
            }
            pending = list(retriable)
            if pending and not await retries.wait():
                break
            if pending:
                await self._look_around(next(iter(retriable.values())))
        return {key: settled[key] for key in order}

    async def _round(self, keys: list[K], route: Route[K], ask: AskNode[K, V]) -> dict[K, V | OttlaError]:
        outcomes: dict[K, V | OttlaError] = {}
        by_node: dict[int, list[K]] = {}
        for key, node in (await route(keys)).items():
            if isinstance(node, OttlaError):
                outcomes[key] = node
            else:
                by_node.setdefault(node, []).append(key)
        answers = await asyncio.gather(*(_asked(ask, node, asked) for node, asked in by_node.items()))
        for answer in answers:
            outcomes.update(answer)
        return outcomes

    async def _look_around(self, error: OttlaError) -> None:
        """Learns which broker is in charge, if this one is not; a failure shows in the next attempt."""
        if not getattr(error, "refreshes_metadata", False):
            return
        try:
            await self._requester.refresh()
        except OttlaError as failure:
            if not is_retriable(failure):
                raise

    def _retries(self) -> Retries:
        return Retries.within(self._timeouts.backoff, self._timeouts.api_timeout_ms)


async def _asked(ask: AskNode[K, V], node: int, keys: list[K]) -> Outcomes[K, V]:
    """A node's answer; if there is none, that error is the result of all its keys."""
    try:
        outcomes = await ask(node, keys)
    except OttlaError as error:
        return dict.fromkeys(keys, error)
    return answered(keys, outcomes)


def _is_lost(error: OttlaError, started: float) -> bool:
    """Whether a topic stayed unknown for longer than a new one could."""
    unknown = isinstance(error, UnknownTopicOrPartitionError | UnknownTopicIdError)
    return unknown and _now() - started > UNKNOWN_TOPIC_PATIENCE_S


def _now() -> float:
    return asyncio.get_running_loop().time()
