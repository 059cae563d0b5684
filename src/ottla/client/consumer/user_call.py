"""Calls into the user's code that the event loop wants made, until the user's own context makes them.

Listeners and callbacks run where the user called the consumer: in the task that awaits `AsyncConsumer.poll`, or in the
thread that is inside of `Consumer.poll`. Background tasks `request` a call and wait; the user's call comes by and runs
what is pending, in order. How a call is made is the facade's business (`invoke`).
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ottla.base.errors import OttlaError

Invoke: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Makes a call in the user's context: gives its result, or raises what it raised."""


async def invoke_here(function: Callable[[], Any]) -> Any:
    """For asyncio: the running task is the user's; what the function returns may have to be awaited."""
    result = function()
    return await result if isinstance(result, Awaitable) else result


@dataclass(slots=True)
class _Pending:
    work: Callable[[], Awaitable[Any]]
    done: asyncio.Future[Any] | None


class UserCalls:
    """The queue. All of it is used in the event loop."""

    def __init__(self, invoke: Invoke, on_pending: Callable[[], None]) -> None:
        self.invoke: Final = invoke
        self._on_pending: Final = on_pending
        self._pending: Final[deque[_Pending]] = deque()

    @property
    def are_pending(self) -> bool:
        """Whether the user's next call has something to do."""
        return bool(self._pending)

    async def request(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Has `work` done inside of the user's next call; its result, or what it raised."""
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending.append(_Pending(work, done))
        self._on_pending()
        return await done

    def post(self, function: Callable[[], Any]) -> None:
        """Has a function of the user's called; what it raises is raised out of the user's call."""
        self._pending.append(_Pending(lambda: self.invoke(function), None))
        self._on_pending()

    async def run(self) -> None:
        """Does what is pending; called in the user's context."""
        while self._pending:
            pending = self._pending.popleft()
            if pending.done is None:
                await pending.work()
            elif not pending.done.cancelled():
                await _settle(pending.work(), pending.done)

    def cancel(self) -> None:
        """Ends all calls that wait: the user polls no more."""
        while self._pending:
            done = self._pending.popleft().done
            if done is not None:
                done.cancel()


async def _settle(work: Awaitable[Any], done: "asyncio.Future[Any]") -> None:
    """Does the work; the one who asked hears how it went. Who asked may have gone in the meantime."""
    try:
        result = await work
    except asyncio.CancelledError:
        done.cancel()
        raise
    except OttlaError as error:
        if not done.done():
            done.set_exception(error)
    else:
        if not done.done():
            done.set_result(result)
