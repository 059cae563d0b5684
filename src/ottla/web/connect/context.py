"""The common part of the endpoints: the tables, the leader, the clients, and the path of requests that change state."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from ottla.client.admin.async_admin import AsyncAdmin
from ottla.connect.plugin import Plugins
from ottla.connect.worker.validation import WorkerFacts
from ottla.web.connect.config import ConnectConfig, override_problem
from ottla.web.connect.lead.call import called
from ottla.web.connect.lead.leader import Leader
from ottla.web.connect.store.table import Tables
from ottla.web.http.answer import Answer
from ottla.web.http.request import Request

T = TypeVar("T")


class Change(Protocol):
    """Carries out a request that changes something: here if this worker leads, else at the one that does."""

    async def __call__(self, request: Request, act: Callable[[Leader], Awaitable[Answer]]) -> Answer:
        """The answer."""
        ...


class ConnectContext:
    """All of one worker."""

    def __init__(self, config: ConnectConfig, leader: Leader, admin: AsyncAdmin, change: Change) -> None:
        self.config: Final = config
        self.leader: Final = leader
        self.admin: Final = admin
        self.change: Final = change
        self.plugins: Final = Plugins()
        problem = partial(override_problem, config.policy)
        self.facts: Final = WorkerFacts(config.converters, config.exactly_once, problem)
        self.cluster_id = ""

    @property
    def tables(self) -> Tables:
        """The present state."""
        return self.leader.tables

    async def call(self, work: Callable[[], T], what: str) -> T:
        """The result of a connector's code."""
        return await called(work, self.config.settings.integer("connector.call.timeout.ms") / 1000, what)


async def body_of(request: Request) -> Any:
    """The body as JSON."""
    return await request.json()
