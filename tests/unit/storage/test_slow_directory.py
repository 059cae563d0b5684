"""A directory whose disk is slow: who finds out, and when it counts for appends."""

import threading
from collections import deque
from collections.abc import Callable

import pytest

from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.loader import LoadOptions
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.log_directory import LogDirectory
from ottla.storage.topic_partition import TopicPartition
from tests.unit.storage.cleaner.cleaning import ManualClock
from tests.unit.storage.log_builder import NOW_MS

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def posted() -> deque[Callable[[], None]]:
    return deque()


@pytest.fixture
def home(posted: deque[Callable[[], None]]) -> LogDirectory:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    home = LogDirectory("/data", disk, ManualClock(), None)
    home.appends.start(lambda job: None, posted.append)
    return home


def new_log(home: LogDirectory, name: TopicPartition) -> Log:
    options = LoadOptions(name.topic, name.partition, now_ms=NOW_MS)
    return Log.open(home.disk, f"/data/{name}", LogConfig(), options)


def tell(home: LogDirectory, *, is_slow: bool) -> None:
    """Another thread finds out how well the disk is."""

    def become() -> None:
        home.pace._become(is_slow=is_slow)

    thread = threading.Thread(target=become)
    thread.start()
    thread.join()


def test_what_another_thread_finds_out_counts_when_the_loop_hears_of_it(
    home: LogDirectory, posted: deque[Callable[[], None]]
) -> None:
    """The loop may be in the midst of an append, which it answers by how it began."""
    log = new_log(home, ORDERS)
    home.take_over(log)
    home.logs[ORDERS] = log
    for is_slow in (True, False):
        tell(home, is_slow=is_slow)
        assert log.is_deferring is not is_slow
        posted.popleft()()
        assert log.is_deferring is is_slow
    assert not posted


def test_a_log_that_comes_meanwhile_does_as_the_others(home: LogDirectory, posted: deque[Callable[[], None]]) -> None:
    log = new_log(home, ORDERS)
    home.take_over(log)
    tell(home, is_slow=True)
    posted.popleft()()
    home.logs[ORDERS] = log
    home.taken_over(log)
    posted.popleft()()
    assert log.is_deferring
    later = new_log(home, TopicPartition("orders", 1))
    home.take_over(later)
    home.taken_over(later)
    assert later.is_deferring
    assert not posted
