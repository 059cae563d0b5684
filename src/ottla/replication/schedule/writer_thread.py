"""The loop's thread as the one that changes logs, for work that runs on other threads.

`run_on_loop` makes the `run_on_writer` of `LogManagerOptions`: retention and cleaning look for work on a worker thread
and have each change to a log made on the loop, between two requests.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from ottla.replication.ports import EventLoop


def run_on_loop(loop: EventLoop) -> Callable[[Callable[[], None]], None]:
    """A function that runs a change on the loop's thread, and returns when it is done or raises what it raised.

    Call `run_on_loop` on the loop's thread: a change that is made from there runs at once.
    """
    loop_thread = threading.get_ident()

    def run(change: Callable[[], None]) -> None:
        if threading.get_ident() == loop_thread:
            change()
            return
        outcome: Future[None] = Future()

        def on_loop() -> None:
            try:
                change()
            except BaseException as error:  # noqa: BLE001 - it is raised again where the change was asked for
                outcome.set_exception(error)
            else:
                outcome.set_result(None)

        loop.call_soon_threadsafe(on_loop)
        outcome.result()

    return run
