"""Threads beside a run, and what they say when they end."""

from concurrent.futures import CancelledError

import pytest

from ottla.base.errors import OttlaError
from ottla.pipelines.trucks.companion import Companion


def test_what_ends_the_work_is_raised_where_it_is_looked_at() -> None:
    def work() -> None:
        raise OttlaError("no broker could be reached")

    companion = Companion(work)
    companion.check()
    companion.start()
    companion.join()
    with pytest.raises(OttlaError, match="no broker could be reached"):
        companion.check()


def test_the_end_of_the_process_is_no_trouble() -> None:
    def work() -> None:
        raise CancelledError

    companion = Companion(work)
    companion.start()
    companion.join()
    companion.check()


def test_work_that_is_done_is_no_trouble() -> None:
    done: list[int] = []
    companion = Companion(lambda: done.append(1))
    companion.start()
    companion.join()
    companion.check()
    assert done == [1]
