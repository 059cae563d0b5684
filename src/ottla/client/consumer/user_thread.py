"""A blocking caller that lends its thread to callbacks while it waits for the event loop.

`run` hands a coroutine to the loop and waits; meanwhile the loop may have functions called in the waiting thread by
`invoke`. Such a function may use the consumer again, which nests: the inner `run` is over before the outer goes on.
"""

import asyncio
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, TypeVar

from ottla.client.facade.loop_thread import LoopThread

_T = TypeVar("_T")


class _Call(NamedTuple):
    function: Callable[[], Any]
    answer: "asyncio.Future[Any]"


class UserThread:
    """The waiting side of a blocking consumer."""

    def __init__(self, thread: LoopThread) -> None:
        self._thread: Final = thread
        self._inbox: Final[SimpleQueue[_Call | asyncio.Task[Any]]] = SimpleQueue()
        self._ending: Final[set[asyncio.Task[Any]]] = set()
        """Interrupted work that has not come to its end; the loop's."""

    async def invoke(self, function: Callable[[], Any]) -> Any:
        """In the loop: has a function called in the waiting thread, and waits for its result."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._inbox.put(_Call(function, answer))
        return await answer

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """In the user's thread: what the coroutine returns or raises. Ctrl-C cancels it.

        Owns the coroutine from here on.
        """
        try:
            self._thread.check()
        except BaseException:
            work.close()
            raise
        started: list[asyncio.Task[_T]] = []
        try:
            self._thread.call_soon(self._start, work, started)
            while True:
                item = self._inbox.get()
                if isinstance(item, _Call):
                    self._answer(item)
                elif started and item is started[0]:
                    return started[0].result()
                # Else it is the rest of an earlier call, which was interrupted.
        except BaseException:
            # Interrupted, unless the coroutine itself raised: then there is nothing left to cancel.
            self._thread.call_soon(self._cancel, work, started)
            raise

    def _start(self, work: Coroutine[Any, Any, _T], started: "list[asyncio.Task[_T]]") -> None:
        if self._ending:
            work = _after(self._ending.copy(), work)
        task = self._thread.loop.create_task(work)
        started.append(task)
        task.add_done_callback(self._inbox.put)

    def _cancel(self, work: Coroutine[Any, Any, _T], started: "list[asyncio.Task[_T]]") -> None:
        """Ends work that was interrupted; what is begun meanwhile waits for that."""
        if not started:
            # Interrupted before it was handed over.
            work.close()
        for task in started:
            if task.cancel():
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)

    def _answer(self, call: _Call) -> None:
        if call.answer.cancelled():
            return
        try:
            result = call.function()
        except Exception as error:  # noqa: BLE001 - the user's code; raised where the call was asked for
            self._thread.call_soon(_fail, call.answer, error)
        else:
            self._thread.call_soon(_finish, call.answer, result)


async def _after(others: "set[asyncio.Task[Any]]", work: Coroutine[Any, Any, _T]) -> _T:
    try:
        await asyncio.wait(others)
        return await work
    finally:
        work.close()


def _finish(answer: "asyncio.Future[Any]", result: object) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: "asyncio.Future[Any]", error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
