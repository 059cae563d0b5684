"""Calls of operators' code: heard once, in time, and not without limit."""

import asyncio
import threading

import pytest

from ottla.net.apart import Apart, ApartError, Runner, Worker


def heard(apart: Runner, *calls: object) -> list[object]:
    async def main() -> list[object]:
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[object]] = [loop.create_future() for _ in calls]
        for call, answer in zip(calls, answers, strict=True):
            apart.run(loop, call, answer.set_result)  # type: ignore[arg-type]
        return await asyncio.gather(*answers)

    return asyncio.run(main())


def test_results_and_errors() -> None:
    failure = ValueError("no")

    def fail() -> None:
        raise failure

    assert heard(Apart(), lambda: 3, fail) == [3, failure]
    worker = Worker()
    assert heard(worker, lambda: 3, fail) == [3, failure]
    worker.close()


def test_a_worker_does_one_after_the_other() -> None:
    names, worker = list[str](), Worker()
    heard(
        worker,
        *[lambda number=number: names.append(f"{number} {threading.current_thread().name}") for number in range(5)],
    )
    assert names == [f"{number} log-in_0" for number in range(5)]
    worker.close()


def test_what_hangs_is_given_up_and_limited() -> None:
    end, apart = threading.Event(), Apart(timeout_s=0.05)
    answers = heard(apart, *[end.wait] * 70)
    said = [str(answer) for answer in answers if isinstance(answer, ApartError)]
    assert len(said) == 70
    assert sum("under way already" in text for text in said) == 6
    end.set()
    for thread in threading.enumerate():
        if thread.name == "operator's class":
            thread.join()
    assert heard(apart, lambda: 1) == [1]


@pytest.mark.parametrize("count", [1, 40])
def test_threads_end(count: int) -> None:
    assert heard(Apart(), *[lambda: 2] * count) == [2] * count
