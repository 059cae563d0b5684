import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.retries import Retries
from ottla.client.errors import KafkaTimeoutError
from ottla.protocol.errors import InvalidTopicError, NotLeaderOrFollowerError

AT_ONCE = Backoff(0, 0)
AN_HOUR = Backoff(3_600_000, 3_600_000)
PASSING = NotLeaderOrFollowerError("it has moved")
LASTING = InvalidTopicError("no such name")

Pause = Callable[[Retries, Exception], Awaitable[None]]


async def in_full(retries: Retries, cause: Exception) -> None:
    await retries.pause(cause)


async def briefly(retries: Retries, cause: Exception) -> None:
    await retries.pause_briefly(cause, 3_600_000)


def run(work: Callable[[float], Awaitable[object]]) -> object:
    """Has the work done with what the loop's time is at its start."""

    async def main() -> object:
        return await work(asyncio.get_running_loop().time())

    return asyncio.run(main())


@pytest.mark.parametrize("pause", [in_full, briefly])
def test_a_failure_that_passes_is_waited_for(pause: Pause) -> None:
    async def work(now: float) -> None:
        retries = Retries(AT_ONCE, now + 60)
        for _ in range(3):
            await pause(retries, PASSING)

    run(work)


@pytest.mark.parametrize("pause", [in_full, briefly])
def test_a_failure_that_lasts_is_raised(pause: Pause) -> None:
    with pytest.raises(InvalidTopicError):
        run(lambda now: pause(Retries(AT_ONCE, now + 60), LASTING))


@pytest.mark.parametrize("pause", [in_full, briefly])
def test_no_attempt_begins_after_the_deadline(pause: Pause) -> None:
    """Nor is the deadline slept through: the last failure is told at once."""
    with pytest.raises(NotLeaderOrFollowerError):
        run(lambda now: pause(Retries(AN_HOUR, now + 60), PASSING))


@pytest.mark.parametrize("pause", [in_full, briefly])
def test_the_end_of_time_says_what_was_tried(pause: Pause) -> None:
    with pytest.raises(KafkaTimeoutError, match=r"listing topics did not succeed in time.*it has moved") as caught:
        run(lambda now: pause(Retries(AN_HOUR, now + 60, "listing topics"), PASSING))
    assert caught.value.__cause__ is PASSING


def test_without_time_there_is_one_attempt() -> None:
    async def work(now: float) -> tuple[bool, int, bool]:
        retries = Retries(AT_ONCE, now)
        return retries.is_late, retries.left_ms, await retries.wait()

    assert run(work) == (True, 1, False)
