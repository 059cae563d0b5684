"""Objects of one thread: a call from another thread is an error while tests run."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from ottla.base.thread_owner import CHECKS_THREADS, ForeignThreadError, any_thread, one_thread


@one_thread
class Counter:
    """Belongs to the thread that counts first."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> int:
        self.count += 1
        return self.count

    async def add_later(self) -> int:
        self.count += 1
        return self.count

    @any_thread
    def shown(self) -> str:
        return str(self.count)


def elsewhere(work: Callable[[], object]) -> object:
    """Does something in another thread: its result, or what it raised."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(work())
        except ForeignThreadError as error:
            found.append(error)

    thread = threading.Thread(target=run, name="elsewhere")
    thread.start()
    thread.join()
    return found[0]


def test_the_check_is_active_in_tests() -> None:
    assert CHECKS_THREADS


def test_the_first_caller_owns_the_object() -> None:
    counter = Counter()
    assert (counter.add(), counter.add()) == (1, 2)
    with pytest.raises(ForeignThreadError, match=r"Counter\.add was called in the thread 'elsewhere'"):
        raise elsewhere(counter.add)  # type: ignore[misc]
    assert counter.count == 2


def test_an_object_may_be_made_in_another_thread_than_it_lives_in() -> None:
    counter = Counter()
    assert elsewhere(counter.add) == 1
    with pytest.raises(ForeignThreadError):
        counter.add()


def test_a_coroutine_belongs_to_the_thread_that_runs_it() -> None:
    counter = Counter()
    later = counter.add_later()
    assert elsewhere(lambda: asyncio.run(later)) == 1
    with pytest.raises(ForeignThreadError):
        asyncio.run(counter.add_later())


def test_any_thread_may_call_what_says_so() -> None:
    counter = Counter()
    counter.add()
    assert elsewhere(counter.shown) == "1"
