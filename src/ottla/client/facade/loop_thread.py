"""The thread with an event loop in which a blocking client's work is done.

One daemon thread per client, so that the caller's own event loop (Jupyter has one) is never touched and a client that
was not closed does not keep the process alive. `close()` ends the thread; the end of the process ends those that are
left. A forked child has no such thread: the first call there says so.
"""

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from ottla.client.errors import ClosedError, ForkedError, KafkaTimeoutError

_T = TypeVar("_T")
_open: "weakref.WeakSet[LoopThread]" = weakref.WeakSet()


class Pending(Generic[_T]):
    """Work in the loop that any thread may wait for.

    No future of `concurrent.futures`: its condition stays locked if a signal handler raises at the wrong moment, and
    the loop would wait for it.
    """

    def __init__(self, thread: "LoopThread", work: "Coroutine[Any, Any, _T]") -> None:
        self._thread: Final = thread
        self._work: Final = work
        self._started: Final[list[asyncio.Task[_T]]] = []
        self._done: Final[SimpleQueue[object]] = SimpleQueue()
        thread.call_soon(self._begin)

    def result(self, timeout_s: float | None = None) -> _T:
        """The work's result or exception; `KafkaTimeoutError` after `timeout_s`, and the work goes on."""
        if not self._is_done:
            try:
                done = self._done.get(timeout=timeout_s)
            except Empty:
                raise KafkaTimeoutError(f"not done within {timeout_s} s") from None
            # For others that wait. Who comes later does not look here.
            self._done.put(done)
        try:
            return self._started[0].result()
        except asyncio.CancelledError:
            raise ClosedError(f"{self._thread.name} was closed") from None

    def cancel(self) -> None:
        """Ends the work, begun or not; any thread, also when it is over."""
        if not self._is_done and self._thread.is_usable:
            self._thread.call_soon(_end, self._work, self._started)

    def cancelled(self) -> bool:
        """Whether the work was ended before its end."""
        return self._is_done and self._started[0].cancelled()

    @property
    def _is_done(self) -> bool:
        return bool(self._started) and self._started[0].done()

    def _begin(self) -> None:
        task = self._thread.loop.create_task(self._work)
        self._started.append(task)
        task.add_done_callback(self._done.put)
        # Nobody may ever ask.
        task.add_done_callback(_retrieve)


class LoopThread:
    """A running event loop to hand work to, from any thread."""

    def __init__(self, name: str) -> None:
        """Starts the thread; the loop is made by the current policy, so uvloop's if the user installed it."""
        self.name: Final = name
        self._process: Final = os.getpid()
        self._loop: Final = asyncio.new_event_loop()
        self._thread: Final = threading.Thread(target=self._run, name=name, daemon=True)
        self._is_closed = False
        self._thread.start()
        _open.add(self)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop itself, for objects that live in it."""
        return self._loop

    @property
    def is_usable(self) -> bool:
        """Whether work can be handed over: neither closed, nor in a forked child."""
        return not self._is_closed and os.getpid() == self._process

    def run(self, work: "Coroutine[Any, Any, _T]", timeout_s: float | None = None) -> _T:
        """Runs a coroutine in the loop and waits for what it returns or raises.

        After `timeout_s` it is cancelled and `KafkaTimeoutError` raised. Ctrl-C cancels it, too.
        """
        try:
            self.check()
            if threading.current_thread() is self._thread:
                raise RuntimeError("a blocking call inside of a callback would wait for itself: use the asyncio client")
        except BaseException:
            work.close()
            raise
        started: list[asyncio.Task[_T]] = []
        done: SimpleQueue[object] = SimpleQueue()
        try:
            self.call_soon(self._begin, work, started, done)
            done.get(timeout=timeout_s)
        except Empty:
            self.call_soon(_end, work, started)
            raise KafkaTimeoutError(f"not done within {timeout_s} s") from None
        except BaseException:
            self.call_soon(_end, work, started)
            raise
        try:
            return started[0].result()
        except asyncio.CancelledError:
            raise ClosedError(f"{self.name} was closed") from None

    def _begin(
        self, work: "Coroutine[Any, Any, _T]", started: "list[asyncio.Task[_T]]", done: "SimpleQueue[object]"
    ) -> None:
        task = self._loop.create_task(work)
        started.append(task)
        task.add_done_callback(done.put)

    def start(self, work: "Coroutine[Any, Any, _T]") -> Pending[_T]:
        """Runs a coroutine in the loop without waiting."""
        try:
            self.check()
        except BaseException:
            work.close()
            raise
        return Pending(self, work)

    def call_soon(self, function: Callable[..., object], *arguments: object) -> None:
        """Has a function called in the loop, soon; from any thread, without waiting."""
        self.check()
        self._loop.call_soon_threadsafe(function, *arguments)

    def check(self) -> None:
        """Raises `ForkedError` in a forked child, `ClosedError` after `close()`."""
        if os.getpid() != self._process:
            raise ForkedError(
                f"{self.name} was made in process {self._process} and this is {os.getpid()}, a fork of it: "
                "threads and connections don't survive a fork, so make the client after it"
            )
        if self._is_closed:
            raise ClosedError(f"{self.name} was closed")

    def close(self) -> None:
        """Cancels what still runs and ends the thread. May be called again, and in a forked child."""
        if self._is_closed:
            return
        self._is_closed = True
        _open.discard(self)
        if os.getpid() != self._process:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._tidy_up()

    def _tidy_up(self) -> None:
        self._loop.run_until_complete(self._end_tasks())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        self._loop.close()

    @staticmethod
    async def _end_tasks() -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _end(work: "Coroutine[Any, Any, _T]", started: "list[asyncio.Task[_T]]") -> None:
    """Ends work whose caller has stopped waiting, begun or not."""
    if not started:
        work.close()
    for task in started:
        task.cancel()
        task.add_done_callback(_retrieve)


def _retrieve(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        task.exception()


def _close_all() -> None:
    """Ends threads that were not closed, while the interpreter can still run them."""
    for thread in list(_open):
        thread.close()


atexit.register(_close_all)
