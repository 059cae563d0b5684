"""Keeps the view of the cluster fresh: asks when a caller needs it, when it got old, and after failures.

One question is under way at a time. A `refresh()` is served by a question that began after the call, so that what it
returns is never older than the call. Hints that something changed are followed no more often than every
`retry.backoff.ms`: a leader that moves gives many of them. As long as a wanted topic is missing or has no leaders the
question is repeated with growing pauses, and so are failures, until those who wait have lost patience; a refusal of who
we are is told to them at once.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.errors import AuthenticationFailedError, ClosedError, InvalidStateError

_log = logging.getLogger(__name__)

Ask: TypeAlias = Callable[[], Awaitable[ClusterView]]
"""Asks some broker and returns the new view, after all listeners were told of it."""


@one_thread
class MetadataRefresh:
    """A task that asks for metadata whenever it should."""

    def __init__(self, ask: Ask, backoff: Backoff, max_age_ms: int) -> None:
        self._ask: Final = ask
        self._backoff: Final = backoff
        self._max_age_ms: Final = max_age_ms
        self._loop: Final = asyncio.get_running_loop()
        self._wanted: Final = asyncio.Event()
        self._urgent: Final = asyncio.Event()
        self._not_before = 0.0
        self._waiting: list[asyncio.Future[ClusterView]] = []
        self._task: asyncio.Task[None] | None = None
        self._last_error: OttlaError | None = None

    @property
    def last_error(self) -> OttlaError | None:
        """Why the last question had no answer, None if it had one."""
        return self._last_error

    def start(self) -> None:
        """Begins to watch; the caller has asked for the first view already."""
        self._task = self._loop.create_task(self._run(), name="metadata refresh")
        self._task.add_done_callback(self._ended)

    def soon(self) -> None:
        """Refreshes after a moment: the view is out of date."""
        self._wanted.set()

    def now(self) -> None:
        """Something new is wanted: ask at once."""
        self._urgent.set()
        self._wanted.set()

    def wait(self) -> "asyncio.Future[ClusterView]":
        """The view after a question that has not begun yet; fails if we are refused, or close."""
        waiter: asyncio.Future[ClusterView] = self._loop.create_future()
        if self._task is None:
            waiter.set_exception(ClosedError("the client is not connected: start() it first, or it was closed"))
            return waiter
        self._waiting.append(waiter)
        self.now()
        return waiter

    async def close(self) -> None:
        """Ends the task; those who wait hear so."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))
        self._fail_waiting(self._waiting, ClosedError("the client was closed"))

    async def _run(self) -> None:
        failures = unsettled = 0
        while True:
            if failures == 0:
                await self._idle()
            self._wanted.clear()
            self._urgent.clear()
            asked, self._waiting = self._waiting, []
            try:
                view = await self._ask()
            except OttlaError as error:
                self._last_error = error
                self._failed(asked, error, failures)
                await asyncio.sleep(self._backoff.delay_ms(failures) / 1000)
                failures += 1
                continue
            failures, self._last_error = 0, None
            self._not_before = self._loop.time() + self._backoff.delay_ms(unsettled) / 1000
            unsettled = unsettled + 1 if _is_unsettled(view) else 0
            if unsettled:
                self._wanted.set()
            for waiter in asked:
                if not waiter.done():
                    waiter.set_result(view)

    async def _idle(self) -> None:
        """Waits until metadata is wanted and the back-off has passed, or it is urgent, or the view is too old."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._max_age_ms / 1000):
                await self._wanted.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._not_before):
                await self._urgent.wait()

    def _ended(self, task: "asyncio.Task[None]") -> None:
        """A listener of the view that raises ends the task: those who wait hear of it, and those who come later."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("metadata is not refreshed any more", exc_info=error)
            self._task = None
            failure = InvalidStateError(f"metadata is not refreshed any more: {error!r}")
            failure.__cause__ = error
            self._fail_waiting(self._waiting, failure)

    def _failed(self, asked: "list[asyncio.Future[ClusterView]]", error: OttlaError, failures: int) -> None:
        _log.log(logging.WARNING if failures == 0 else logging.DEBUG, "metadata could not be refreshed: %s", error)
        if isinstance(error, AuthenticationFailedError):
            self._fail_waiting(asked, error)
        else:
            self._waiting[:0] = asked

    @staticmethod
    def _fail_waiting(waiting: "list[asyncio.Future[ClusterView]]", error: OttlaError) -> None:
        for waiter in waiting:
            if not waiter.done():
                waiter.set_exception(error)
        waiting.clear()


def _is_unsettled(view: ClusterView) -> bool:
    """Whether a topic that is wanted may look different in a moment."""
    return any(error.retriable for error in view.errors.values())
