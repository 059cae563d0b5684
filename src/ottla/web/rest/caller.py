"""Requests that act with their caller's rights: each caller has Kafka clients that have logged in as it.

The cluster checks the log-in: when a caller's clients are made, again once a minute while they are used, and whenever
its brokers end a session. A caller's consumers are its own: no other caller finds them. Clients are closed when they
are idle or when their log-in is refused.
"""

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.errors import AuthenticationFailedError
from ottla.client.producer.async_producer import AsyncProducer
from ottla.web.http.answer import Answer
from ottla.web.http.caller import Credentials, PassedLogin
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Handler, Route
from ottla.web.rest.config import RestConfig
from ottla.web.rest.context import RestContext
from ottla.web.rest.errors import NOT_AUTHENTICATED, from_kafka
from ottla.web.rest.idle_watch import IdleWatch
from ottla.web.rest.record.schema import SchemaBook
from ottla.web.rest.sending import RecordSender
from ottla.web.rest.v2.instances import ConsumerInstances

_log: Final = logging.getLogger(__name__)
_CHECK_S: Final = 60.0
_IDLE_S: Final = 300.0
_TICK_S: Final = 5.0
_FLUSH_S: Final = 10.0

RoutesOf = Callable[[RestContext, ConsumerInstances], list[Route]]
"""The routes of the API, always in one order."""


class Caller:
    """One caller's clients and consumers, and the API around them."""

    def __init__(self, config: RestConfig, book: SchemaBook, routes_of: RoutesOf) -> None:
        self._config: Final = config
        self.admin: Final = AsyncAdmin(config.admin)
        self._producer: Final = AsyncProducer(config.producer)
        self.instances: Final = ConsumerInstances.of(config.settings)
        self.context: Final = RestContext(config, self.admin, RecordSender(self._producer), book)
        self.routes: Final = routes_of(self.context, self.instances)
        self.users = 0
        """Requests under way, bodies that are still sent among them."""
        self.used_at = self._checked_at = asyncio.get_running_loop().time()

    async def start(self, cluster_id: str) -> None:
        """Logs in. Raises `OttlaError`, `AuthenticationFailedError` among them."""
        await self.admin.start()
        await self._producer.start()
        self.context.cluster_id = cluster_id
        self.instances.start()

    async def check(self) -> None:
        """Logs in again if the last time is long ago. Raises `AuthenticationFailedError` only if brokers refuse."""
        now = asyncio.get_running_loop().time()
        if now - self._checked_at < _CHECK_S:
            return
        self._checked_at = now
        try:
            async with AsyncAdmin(self._config.admin):
                pass
        except AuthenticationFailedError:
            raise
        except OttlaError as error:
            _log.warning("A caller's log-in could not be checked again: %s", error)

    async def close(self) -> None:
        """Sends what was taken, and ends."""
        await self.instances.stop()
        await self._producer.close(_FLUSH_S)
        await self.admin.close()


class Callers:
    """The callers that were here lately."""

    def __init__(self, config: RestConfig, login: PassedLogin, book: SchemaBook, routes_of: RoutesOf) -> None:
        self.cluster_id = ""
        self._config: Final = config
        self._login: Final = login
        self._book: Final = book
        self._routes_of: Final = routes_of
        self._count_max: Final = config.settings.integer("callers.max")
        self._found: Final[dict[Credentials, asyncio.Task[Caller]]] = {}
        self._watch: Final = IdleWatch("A caller's client")

    def __len__(self) -> int:
        return len(self._found)

    def routes(self, own: Sequence[Route]) -> list[Route]:
        """The routes of the API, each answered by its caller's clients; `own` are those that describe them."""
        return [
            dataclasses.replace(route, handler=self._handler(index, route.handler)) for index, route in enumerate(own)
        ]

    def start(self) -> None:
        """Closes unused clients from now on."""
        self._watch.start(_TICK_S, self._expire)

    async def stop(self) -> None:
        """Closes all."""
        await self._watch.stop(self._drop_all)

    def _handler(self, index: int, described: Handler) -> Handler:
        async def answer(request: Request) -> Answer:
            async with contextlib.AsyncExitStack() as stack:
                caller = await stack.enter_async_context(self._use(request))
                found = await caller.routes[index].handler(request)
                if found.parts is None:
                    return found
                # The body leaves later: until then the caller's clients are in use.
                return dataclasses.replace(found, parts=_until_sent(found.parts, stack.pop_all()))

        answer.__doc__ = described.__doc__
        return answer

    @asynccontextmanager
    async def _use(self, request: Request) -> AsyncIterator[Caller]:
        credentials = self._login.credentials(request)
        assert credentials is not None, "the log-in refuses a request without"
        try:
            caller = await self._caller(credentials)
            await caller.check()
        except OttlaError as error:
            self._refused(credentials, from_kafka(error))
        caller.users += 1
        try:
            yield caller
        except HttpError as error:
            if error.error_code == NOT_AUTHENTICATED:
                self._drop(credentials)
            raise
        finally:
            caller.users -= 1
            caller.used_at = asyncio.get_running_loop().time()

    def _refused(self, credentials: Credentials, error: HttpError) -> None:
        self._drop(credentials)
        if error.error_code == NOT_AUTHENTICATED:
            _log.info("The cluster refuses the log-in of %s: %s", credentials.name, error.message)
        raise error

    async def _caller(self, credentials: Credentials) -> Caller:
        """One log-in for requests that come at one moment."""
        making = self._found.get(credentials)
        if making is None:
            self._make_room()
            making = asyncio.get_running_loop().create_task(self._made(credentials))
            self._found[credentials] = making
        return await asyncio.shield(making)

    async def _made(self, credentials: Credentials) -> Caller:
        caller = Caller(self._config.of_caller(credentials), self._book, self._routes_of)
        try:
            await caller.start(self.cluster_id)
        except BaseException:
            await caller.close()
            raise
        return caller

    def _make_room(self) -> None:
        if len(self._found) < self._count_max:
            return
        unused = [(made.used_at, who) for who, made in self._unused()]
        if not unused:
            raise HttpError(503, f"There are {self._count_max} callers already (callers.max)")
        self._drop(min(unused, key=lambda each: each[0])[1])

    def _unused(self) -> list[tuple[Credentials, Caller]]:
        """The callers without requests and consumers."""
        made = [
            (who, task.result())
            for who, task in self._found.items()
            if task.done() and not task.cancelled() and task.exception() is None
        ]
        return [(who, caller) for who, caller in made if not caller.users and not len(caller.instances)]

    def _expire(self) -> None:
        oldest = asyncio.get_running_loop().time() - _IDLE_S
        for who, caller in self._unused():
            if caller.used_at < oldest:
                self._drop(who)

    def _drop(self, credentials: Credentials) -> None:
        making = self._found.pop(credentials, None)
        if making is not None:
            self._watch.drop(_close(making))

    def _drop_all(self) -> None:
        for credentials in list(self._found):
            self._drop(credentials)


async def _close(making: "asyncio.Task[Caller]") -> None:
    try:
        caller = await making
    except OttlaError:
        # It could not log in, which the request that wanted it has heard.
        return
    await caller.close()


async def _until_sent(parts: AsyncIterator[bytes], stack: contextlib.AsyncExitStack) -> AsyncIterator[bytes]:
    async with stack:
        async for part in parts:
            yield part
