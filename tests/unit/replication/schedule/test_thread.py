"""Threads and the loop: what comes back, in which order, and where it runs."""

import asyncio
import logging
import threading

import pytest

from ottla.replication.schedule.mailbox import Mailbox
from ottla.replication.schedule.worker_thread import WorkerThread
from ottla.replication.schedule.writer_thread import run_on_loop
from tests.unit.replication.manual_loop import ManualLoop


def test_messages_are_delivered_in_order_with_one_wake_up() -> None:
    loop = ManualLoop()
    mailbox = Mailbox(loop)
    seen: list[int] = []
    for number in range(5):
        mailbox.post(lambda number=number: seen.append(number))
    loop.run()
    assert (seen, loop.turns) == ([0, 1, 2, 3, 4], 1)
    mailbox.post(lambda: seen.append(5))
    loop.run()
    assert seen[-1] == 5


def test_a_message_that_fails_takes_none_of_the_others_along() -> None:
    loop = ManualLoop()
    mailbox = Mailbox(loop)
    seen: list[int] = []
    for number in (2, 1, 0, 1, 2):
        mailbox.post(lambda number=number: seen.append(2 // number))
    with pytest.raises(ZeroDivisionError):
        loop.run()
    mailbox.post(lambda: seen.append(5))
    loop.run()
    assert seen == [1, 2, 2, 1, 5]


def test_changes_are_made_on_the_loops_thread() -> None:
    async def main() -> list[int]:
        run = run_on_loop(asyncio.get_running_loop())
        threads: list[int] = []
        run(lambda: threads.append(threading.get_ident()))
        await asyncio.to_thread(run, lambda: threads.append(threading.get_ident()))
        return threads

    here = threading.get_ident()
    assert asyncio.run(main()) == [here, here]


def test_a_change_that_fails_fails_where_it_was_asked_for() -> None:
    async def main() -> None:
        run = run_on_loop(asyncio.get_running_loop())
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(run, lambda: 1 // 0 and None)

    asyncio.run(main())


def test_jobs_run_one_after_the_other_and_a_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    worker = WorkerThread("test")
    seen: list[object] = []
    done = threading.Event()
    with caplog.at_level(logging.ERROR):
        worker.submit(lambda: seen.append(1))
        worker.submit(lambda: seen.append(1 // 0))
        worker.submit(lambda: seen.append(2))
        worker.submit(done.set)
        assert done.wait(10)
        worker.close()
    assert seen == [1, 2]
    assert "[test] a job failed" in caplog.text
