"""Runs what would hold up the loop apart from it.

`Apart` is for operators' code: each call has a thread of its own and is heard within a time, whatever it does. A call
that does not come back keeps its thread, but only for itself. While too many of them hang, further ones are refused at
once. `Worker` is for our own code, which always comes back: one thread, one call after the other.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol, TypeAlias, TypeVar

from ottla.base.errors import OttlaError

T = TypeVar("T")

Heard: TypeAlias = Callable[[T | Exception], None]

_CALLS_MAX: Final = 64
_TIMEOUT_S: Final = 10.0


class ApartError(OttlaError):
    """A call that took too long, or could not be made."""


class Runner(Protocol):
    """Makes calls elsewhere; `heard` gets the result or the error on the loop, once, and not inside of `run`."""

    def run(self, loop: asyncio.AbstractEventLoop, call: Callable[[], T], heard: "Heard[T]") -> None:
        """Makes a call."""
        ...


class Apart:
    """The calls of one listener to an operator's class."""

    def __init__(self, timeout_s: float = _TIMEOUT_S) -> None:
        self._timeout_s: Final = timeout_s
        self._lock: Final = threading.Lock()
        self._running = 0

    def run(self, loop: asyncio.AbstractEventLoop, call: Callable[[], T], heard: "Heard[T]") -> None:
        """Makes a call; `heard` gets an `ApartError` if that is not possible, or takes too long."""
        with self._lock:
            if self._running >= _CALLS_MAX:
                loop.call_soon(heard, ApartError(f"{_CALLS_MAX} calls of the operator's class are under way already"))
                return
            self._running += 1
        is_heard = False

        def tell(result: T | Exception) -> None:
            nonlocal is_heard
            if not is_heard:
                is_heard = True
                timer.cancel()
                heard(result)

        def work() -> None:
            result: T | Exception
            try:
                result = call()
            except Exception as error:  # noqa: BLE001 - An operator's code: its trouble is heard by who asked.
                result = error
            with self._lock:
                self._running -= 1
            # A loop that is closed hears nothing any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(tell, result)

        late = ApartError(f"the operator's class gave no answer within {self._timeout_s:g} s")
        timer = loop.call_later(self._timeout_s, tell, late)
        threading.Thread(target=work, name="operator's class", daemon=True).start()


class Worker:
    """A thread for the log-ins of one listener."""

    def __init__(self) -> None:
        self._executor: Final = ThreadPoolExecutor(1, "log-in")

    def run(self, loop: asyncio.AbstractEventLoop, call: Callable[[], T], heard: "Heard[T]") -> None:
        """Makes a call after those before it; `heard` gets nothing once the listener is closed."""

        def work() -> None:
            result: T | Exception
            try:
                result = call()
            except Exception as error:  # noqa: BLE001 - What the client did wrong is heard by the connection.
                result = error
            # A loop that is closed hears nothing any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(heard, result)

        with contextlib.suppress(RuntimeError):
            self._executor.submit(work)

    def close(self) -> None:
        """Ends the thread; what waits for it is dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)
