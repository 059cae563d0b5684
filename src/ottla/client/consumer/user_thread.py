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

    async def invoke(self, function: Callable[[], Any]) -> Any:
        """In the loop: has a function called in the waiting thread, and waits for its result."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._inbox.put(_Call(function, answer))
        return await answer

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """In the user's thread: what the coroutine returns or raises. Ctrl-C cancels it."""
        try:
            self._thread.check()
        except BaseException:
            work.close()
            raise
        started: list[asyncio.Task[_T]] = []
        self._thread.call_soon(self._start, work, started)
        try:
            while True:
                item = self._inbox.get()
                if isinstance(item, _Call):
                    self._answer(item)
                elif started and item is started[0]:
                    return started[0].result()
                # Else it is the rest of an earlier call, which was interrupted.
        except BaseException:
            # Interrupted, unless the coroutine itself raised: then there is nothing left to cancel.
            self._thread.call_soon(lambda: [task.cancel() for task in started])
            raise

    def _start(self, work: Coroutine[Any, Any, _T], started: "list[asyncio.Task[_T]]") -> None:
        task = self._thread.loop.create_task(work)
        started.append(task)
        task.add_done_callback(self._inbox.put)

    def _answer(self, call: _Call) -> None:
        if call.answer.cancelled():
            return
        try:
            result = call.function()
        except Exception as error:  # noqa: BLE001 - the user's code; raised where the call was asked for
            self._thread.call_soon(_fail, call.answer, error)
        else:
            self._thread.call_soon(_finish, call.answer, result)


def _finish(answer: "asyncio.Future[Any]", result: object) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: "asyncio.Future[Any]", error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
