"""All consumers of version 2's, by group and name, and their end: deleted, idle for too long, or with the proxy."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Self

from ottla.client.config.settings import ClientSettings
from ottla.web.http.errors import HttpError
from ottla.web.rest.idle_watch import IdleWatch
from ottla.web.rest.v2.instance import ConsumerInstance

_log: Final = logging.getLogger(__name__)
_TICK_S: Final = 0.5


class ConsumerInstances:
    """The consumers of one proxy."""

    def __init__(self, proxy_id: str, idle_timeout_s: float, count_max: int) -> None:
        self._by_name: Final[dict[tuple[str, str], ConsumerInstance]] = {}
        self._prefix: Final = f"rest-consumer-{proxy_id}-" if proxy_id else "rest-consumer-"
        self._idle_timeout_s: Final = idle_timeout_s
        self._count_max: Final = count_max
        self._watch: Final = IdleWatch("A consumer")

    @classmethod
    def of(cls, settings: ClientSettings) -> Self:
        """As a proxy's settings say."""
        idle_timeout_s = settings.integer("consumer.instance.timeout.ms") / 1000
        return cls(settings.string("id"), idle_timeout_s, settings.integer("consumer.instances.max"))

    def __len__(self) -> int:
        return len(self._by_name)

    def start(self) -> None:
        """Closes idle consumers from now on."""
        self._watch.start(min(_TICK_S, self._idle_timeout_s / 2), self._expire)

    async def stop(self) -> None:
        """Closes all."""
        await self._watch.stop(self._drop_all)

    def new_name(self) -> str:
        """A name for a consumer that was given none."""
        return f"{self._prefix}{uuid.uuid4()}"

    def check_free(self, group: str, name: str) -> None:
        """Raises `HttpError` 409 if there is such a consumer, 503 if there are too many."""
        if (group, name) in self._by_name:
            message = "Consumer with specified consumer ID already exists in the specified consumer group."
            raise HttpError(409, message, 40902)
        if len(self._by_name) >= self._count_max:
            raise HttpError(503, f"There are {self._count_max} consumers already (consumer.instances.max)")

    def add(self, group: str, name: str, instance: ConsumerInstance) -> None:
        """Takes in a consumer."""
        instance.used_at = asyncio.get_running_loop().time()
        self._by_name[group, name] = instance

    @asynccontextmanager
    async def use(self, group: str, name: str) -> AsyncIterator[ConsumerInstance]:
        """The consumer, for one request. Raises `HttpError` 404."""
        instance = self._by_name.get((group, name))
        if instance is None:
            raise _not_found()
        loop = asyncio.get_running_loop()
        instance.used_at = loop.time()
        async with instance.lock:
            if instance.is_closed:
                raise _not_found()
            try:
                yield instance
            finally:
                instance.used_at = loop.time()

    async def remove(self, group: str, name: str) -> None:
        """Closes a consumer. Raises `HttpError` 404."""
        instance = self._by_name.pop((group, name), None)
        if instance is None:
            raise _not_found()
        await instance.close()

    def _expire(self) -> None:
        oldest = asyncio.get_running_loop().time() - self._idle_timeout_s
        for key, instance in list(self._by_name.items()):
            if instance.used_at < oldest and not instance.lock.locked():
                _log.info("The consumer %s of the group %s was idle for too long", key[1], key[0])
                self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        self._watch.drop(self._by_name.pop(key).close())

    def _drop_all(self) -> None:
        for key in list(self._by_name):
            self._drop(key)


def _not_found() -> HttpError:
    return HttpError(404, "Consumer instance not found.", 40403)
