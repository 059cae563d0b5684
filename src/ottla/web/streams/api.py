"""The routes: who has what, a key from the instance that has it, and pairs from all instances.

GET /streams                                   this instance: application, state, where it is asked
GET /streams/metadata                          all instances
GET /streams/stores                            the stores of the topology
GET /streams/stores/{store}                    pairs; from, to, limit, timestamps, stale, local
GET /streams/stores/{store}/metadata           the instances that have partitions of it
GET /streams/stores/{store}/keys/{key}         one key; from, to, asOf, timestamps, stale, local
GET /streams/stores/{store}/keys/{key}/metadata

A request that came from another instance is answered here, and not passed on again.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from ottla.streams.errors import StreamsError
from ottla.streams.host.run_state import RunState
from ottla.streams.local.query.place import HostInfo, KeyQueryMetadata, StreamsMetadata
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.peer import FORWARDED, PeerClient, PeerUnreachableError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.streams.store import LIMIT, LocalStore, Pair, Queryable, StoreRequest

_LIMIT_MAX: Final = 100_000
_NOT_HERE: Final = 50304
_STORE: Final = "/streams/stores/{store}"


class QueryApi:
    """The handlers of one instance."""

    def __init__(self, streams: Queryable, here: HostInfo, scheme: str, peers: PeerClient) -> None:
        self._streams: Final = streams
        self._here: Final = here
        self._scheme: Final = scheme
        self._peers: Final = peers

    def routes(self) -> list[Route]:
        """All routes."""
        return [
            Route("GET", "/streams", _guarded(self._show)),
            Route("GET", "/streams/metadata", _guarded(self._show_all)),
            Route("GET", "/streams/stores", _guarded(self._list_stores)),
            Route("GET", _STORE, _guarded(self._read_pairs)),
            Route("GET", f"{_STORE}/metadata", _guarded(self._show_store)),
            Route("GET", f"{_STORE}/keys/{{key}}", _guarded(self._read_key)),
            Route("GET", f"{_STORE}/keys/{{key}}/metadata", _guarded(self._show_key)),
        ]

    def is_ready(self) -> bool:
        """Whether stores can be asked."""
        return self._streams.state is RunState.RUNNING

    async def _show(self, _: Request) -> Answer:
        name = self._streams.configuration.get("application.id")
        return json_answer(
            {"applicationId": name, "state": self._streams.state.value, "applicationServer": _place(self._here)}
        )

    async def _show_all(self, _: Request) -> Answer:
        found = await asyncio.to_thread(self._streams.metadata_for_all_streams_clients)
        return json_answer([_metadata(one) for one in found])

    async def _list_stores(self, _: Request) -> Answer:
        stores = self._streams.topology.stores
        return json_answer([{"store": name, "kind": spec.kind.value} for name, spec in sorted(stores.items())])

    async def _show_store(self, request: Request) -> Answer:
        store = self._store(request)
        return json_answer([_metadata(one) for one in await self._hosts_of(store)])

    async def _show_key(self, request: Request) -> Answer:
        found = await self._owner(self._store(request), request.parameters["key"])
        standbys = [_place(host) for host in found.standby_hosts]
        active = None if found.active_host is None else _place(found.active_host)
        return json_answer({"activeHost": active, "standbyHosts": standbys, "partition": found.partition})

    async def _read_key(self, request: Request) -> Answer:
        """From the instance that runs the key's task; with `stale`, from one that has a copy if that is away."""
        store, text, wanted = self._store(request), request.parameters["key"], _wanted(request)
        if store.is_global:
            return json_answer(await asyncio.to_thread(store.lookup, text, wanted, None))
        owner = await self._owner(store, text)
        hosts = [owner.active_host, *(owner.standby_hosts if wanted.is_stale else ())]
        if _is_local(request) or hosts == [None]:
            return json_answer(await asyncio.to_thread(store.lookup, text, wanted, owner.partition))
        failure = HttpError(
            503, f"No instance has partition {owner.partition} of {store.name} at the moment.", _NOT_HERE
        )
        for host in hosts:
            if host == self._here:
                return json_answer(await asyncio.to_thread(store.lookup, text, wanted, owner.partition))
            if host is None:
                continue
            try:
                answer = await self._peers.forward(self._url(host), request)
            except PeerUnreachableError as error:
                failure = HttpError(503, str(error), _NOT_HERE)
                continue
            if answer.status < 500 or not wanted.is_stale:
                return answer
        raise failure

    async def _read_pairs(self, request: Request) -> Answer:
        """Of all instances, up to the limit: this one's pairs first."""
        store, wanted = self._store(request), _wanted(request)
        hosts = [] if _is_local(request) or store.is_global else [one.host for one in await self._hosts_of(store)]
        pairs: list[Pair] = []
        if not hosts or self._here in hosts:
            pairs += await asyncio.to_thread(store.pairs, wanted)
        for host in hosts:
            if host != self._here and len(pairs) < wanted.limit:
                pairs += await self._pairs_of(host, request)
        return json_answer(pairs[: wanted.limit])

    async def _pairs_of(self, host: HostInfo, request: Request) -> list[Pair]:
        try:
            answer = await self._peers.forward(self._url(host), request)
        except PeerUnreachableError as error:
            raise HttpError(503, str(error), _NOT_HERE) from None
        found = json.loads(answer.body)
        if answer.status != 200:
            raise HttpError(answer.status, found["message"], found["error_code"])
        pairs: list[Pair] = found
        return pairs

    async def _owner(self, store: LocalStore, text: str) -> KeyQueryMetadata:
        return await asyncio.to_thread(self._streams.query_metadata_for_key, store.name, store.key(text))

    async def _hosts_of(self, store: LocalStore) -> list[StreamsMetadata]:
        return await asyncio.to_thread(self._streams.streams_metadata_for_store, store.name)

    def _store(self, request: Request) -> LocalStore:
        return LocalStore(self._streams, request.parameters["store"])

    def _url(self, host: HostInfo) -> str:
        return f"{self._scheme}://{_place(host)}"


def _guarded(handler: Callable[[Request], Awaitable[Answer]]) -> Callable[[Request], Awaitable[Answer]]:
    """A handler whose instance may be without the store for now: it is restoring, or its tasks move."""

    async def answer(request: Request) -> Answer:
        try:
            return await handler(request)
        except StreamsError as error:
            raise HttpError(503, str(error), _NOT_HERE) from None

    return answer


def _wanted(request: Request) -> StoreRequest:
    limit = request.integer("limit", LIMIT)
    if not 0 < limit <= _LIMIT_MAX:
        raise HttpError(400, f"limit has to be between 1 and {_LIMIT_MAX}.")
    query = request.query
    try:
        as_of = int(query["asOf"]) if "asOf" in query else None
    except ValueError:
        raise HttpError(400, "asOf has to be a time in milliseconds since 1970.") from None
    return StoreRequest(
        has_times=request.flag("timestamps"),
        is_stale=request.flag("stale"),
        low=query.get("from"),
        high=query.get("to"),
        as_of=as_of,
        limit=limit,
    )


def _is_local(request: Request) -> bool:
    return request.flag("local") or FORWARDED in request.headers


def _place(host: HostInfo) -> str:
    return f"{host.host}:{host.port}"


def _metadata(found: StreamsMetadata) -> dict[str, Any]:
    return {
        "host": _place(found.host),
        "stores": {name: list(partitions) for name, partitions in sorted(found.partitions.items())},
        "standbyStores": {name: list(partitions) for name, partitions in sorted(found.standby_partitions.items())},
    }
