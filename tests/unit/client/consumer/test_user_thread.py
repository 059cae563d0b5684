"""Calls into the user's code: in the thread or task that waits, in order, nested, and interrupted."""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ottla.client.consumer.access import Access, ThreadAccess
from ottla.client.consumer.consumer import Consumer
from ottla.client.consumer.errors import ConcurrentModificationError
from ottla.client.consumer.user_call import UserCalls, invoke_here
from ottla.client.consumer.user_thread import UserThread
from ottla.client.errors import ClientError, ClosedError
from ottla.client.facade.loop_thread import LoopThread
from ottla.client.record import TopicPartition
from tests.unit.client.interrupting import interrupted_at


@pytest.fixture
def user() -> Iterator[UserThread]:
    thread = LoopThread("tested")
    yield UserThread(thread)
    thread.close()


def test_functions_are_called_in_the_waiting_thread(user: UserThread) -> None:
    async def work() -> tuple[str, str]:
        return await user.invoke(lambda: threading.current_thread().name), threading.current_thread().name

    assert user.run(work()) == (threading.current_thread().name, "tested")


def test_a_function_may_wait_for_the_loop_again(user: UserThread) -> None:
    async def inner() -> int:
        return await user.invoke(lambda: 20) + 1

    async def outer() -> int:
        return 2 * await user.invoke(lambda: user.run(inner()))

    assert user.run(outer()) == 42


def test_what_a_function_raises_goes_to_who_asked_for_it(user: UserThread) -> None:
    def fail() -> None:
        raise KeyError("mine")

    async def work() -> str:
        try:
            await user.invoke(fail)
        except KeyError as error:
            return repr(error)
        return "nothing"

    assert user.run(work()) == "KeyError('mine')"
    with pytest.raises(KeyError, match="mine"):
        user.run(user.invoke(fail))


def test_an_interrupted_call_leaves_nothing_for_the_next(user: UserThread) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    async def number() -> int:
        return 5

    with pytest.raises(KeyboardInterrupt):
        user.run(user.invoke(interrupt))
    assert user.run(number()) == 5


def test_requested_work_is_done_by_who_comes_by_and_in_order() -> None:
    async def main() -> None:
        rings: list[None] = []
        calls, done = UserCalls(invoke_here, lambda: rings.append(None)), list[str]()

        async def work(name: str) -> str:
            done.append(name)
            return name.upper()

        tasks = [asyncio.create_task(calls.request(lambda name=name: work(name))) for name in "ab"]
        await asyncio.sleep(0)
        calls.post(lambda: done.append("posted"))
        assert (done, calls.are_pending, len(rings)) == ([], True, 3)
        await calls.run()
        assert (done, calls.are_pending) == (["a", "b", "posted"], False)
        assert await asyncio.gather(*tasks) == ["A", "B"]

    asyncio.run(main())


def test_requested_work_that_fails_or_is_no_longer_wanted() -> None:
    async def main() -> None:
        calls = UserCalls(invoke_here, lambda: None)

        async def fail() -> None:
            raise ClientError("no")

        failing = asyncio.create_task(calls.request(fail))
        gone = asyncio.create_task(calls.request(fail))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        await calls.run()
        with pytest.raises(ClientError, match="no"):
            await failing
        waiting = asyncio.create_task(calls.request(fail))
        await asyncio.sleep(0)
        calls.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())


def test_only_one_thread_at_a_time() -> None:
    access, found = ThreadAccess(), list[Any]()

    def enter() -> None:
        try:
            with access.checked():
                found.append("in")
        except ConcurrentModificationError as error:
            found.append(str(error))

    with access.checked(), access.checked():
        other = threading.Thread(target=enter)
        other.start()
        other.join()
        assert threading.current_thread().name in found.pop()
    other = threading.Thread(target=enter)
    other.start()
    other.join()
    assert found == ["in"]
    access.is_closed = True
    with pytest.raises(ClosedError), access.checked():
        pass


def test_only_one_task_at_a_time() -> None:
    async def main() -> None:
        access = Access()

        async def enter() -> None:
            with access:
                await asyncio.sleep(0)

        with access, access, pytest.raises(ConcurrentModificationError, match="the task"):
            await asyncio.create_task(enter())
        await asyncio.create_task(enter())
        access.is_closed = True
        with pytest.raises(ClosedError):
            await enter()

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_an_interrupted_call_leaves_the_consumer_to_other_threads() -> None:
    """At whatever step a signal handler raises."""
    partition = TopicPartition("t", 0)
    with Consumer(bootstrap_servers="localhost:1") as consumer:
        consumer.assign([partition])

        def resume(refused: list[Exception]) -> None:
            try:
                consumer.resume([partition])
            except ConcurrentModificationError as error:
                refused.append(error)

        for step in itertools.count(1):
            with interrupted_at(step, "access.py", "consumer.py", "user_thread.py") as interruption:
                consumer.pause([partition])
            refused: list[Exception] = []
            other = threading.Thread(target=resume, args=(refused,))
            other.start()
            other.join()
            assert not refused, f"step {step}"
            if not interruption.happened:
                break
        assert step > 10
