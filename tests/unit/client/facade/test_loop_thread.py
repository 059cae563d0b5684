import asyncio
import itertools
import threading

import pytest

from ottla.client.errors import ClosedError, KafkaTimeoutError
from ottla.client.facade.loop_thread import LoopThread
from tests.unit.client.interrupting import interrupted_at


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


async def fail() -> None:
    raise ValueError("as it is")


async def wait_for_ever(cancelled: threading.Event) -> None:
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        cancelled.set()


@pytest.fixture
def thread() -> "LoopThread":
    return LoopThread("test")


def test_a_coroutine_is_run_elsewhere(thread: LoopThread) -> None:
    assert thread.run(answer()) == 42
    assert thread.start(answer()).result() == 42
    with pytest.raises(ValueError, match="as it is"):
        thread.run(fail())
    thread.close()


def test_patience_ends_and_so_does_the_work(thread: LoopThread) -> None:
    cancelled = threading.Event()
    with pytest.raises(KafkaTimeoutError):
        thread.run(wait_for_ever(cancelled), timeout_s=0.01)
    assert cancelled.wait(10)
    thread.close()


def test_nothing_is_left_after_close(thread: LoopThread) -> None:
    cancelled = threading.Event()
    left = thread.start(wait_for_ever(cancelled))
    thread.run(answer())
    thread.close()
    thread.close()
    assert cancelled.is_set()
    assert left.cancelled()
    assert thread.loop.is_closed()
    assert "test" not in {each.name for each in threading.enumerate()}


def test_a_closed_one_says_so(thread: LoopThread) -> None:
    thread.close()
    for call in (lambda: thread.run(answer()), lambda: thread.start(answer()), lambda: thread.call_soon(print)):
        with pytest.raises(ClosedError, match="test was closed"):
            call()
    assert not thread.is_usable


def test_functions_are_called_in_the_loop(thread: LoopThread) -> None:
    seen: list[str] = []
    done = threading.Event()
    thread.call_soon(lambda: (seen.append(threading.current_thread().name), done.set()))
    assert done.wait(10)
    assert seen == ["test"]
    thread.close()


def test_it_works_inside_of_a_running_loop(thread: LoopThread) -> None:
    """Jupyter runs cells in an event loop."""

    async def cell() -> int:
        return thread.run(answer())

    assert asyncio.run(cell()) == 42
    assert asyncio.run(cell()) == 42
    thread.close()


def test_a_callback_that_would_wait_for_itself_is_told(thread: LoopThread) -> None:
    async def callback() -> None:
        thread.run(answer())

    with pytest.raises(RuntimeError, match="would wait for itself"):
        thread.run(callback())
    thread.close()


def test_an_interrupted_wait_leaves_the_loop_alone(thread: LoopThread) -> None:
    """At whatever step a signal handler raises: the work comes to its end, and who waits again gets it."""
    for step in itertools.count(1):
        go_on = threading.Event()
        pending = thread.start(after(go_on))
        threading.Timer(0.001, go_on.set).start()
        with interrupted_at(step, "loop_thread.py", "queue.py", "threading.py", "_base.py") as interruption:
            pending.result(30)
        go_on.set()
        assert pending.result(30) == 42
        assert thread.run(answer(), 30) == 42
        if not interruption.happened:
            break
    assert step > 3
    thread.close()


async def after(go_on: threading.Event) -> int:
    while not go_on.is_set():
        await asyncio.sleep(0)
    return 42
