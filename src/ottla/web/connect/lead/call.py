"""Calls code of connectors, which is anybody's: it may block, hang, print or raise, and the worker goes on.

Each call has a thread of its own. One that hangs is left behind: it holds neither a lock nor the end of the process.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from ottla.connect.errors import ConnectError

T = TypeVar("T")


class NoAnswerError(ConnectError):
    """The code did not return in time."""


async def called(work: Callable[[], T], timeout_s: float, what: str) -> T:
    """The result of `work`, or its exception. Raises `NoAnswerError` if it takes too long."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - an edge: a connector may raise anything
            failure = error
        except BaseException as error:  # noqa: BLE001 - SystemExit of a connector ends its thread alone
            failure = ConnectError(f"{what} ended with {type(error).__name__}: {error}")
        try:
            loop.call_soon_threadsafe(finish, result, failure)
        except RuntimeError:
            return  # the worker has ended meanwhile

    threading.Thread(target=run, name=what, daemon=True).start()
    try:
        async with asyncio.timeout(timeout_s):
            return await done
    except TimeoutError:
        raise NoAnswerError(f"{what} did not answer within {timeout_s:g} s") from None
