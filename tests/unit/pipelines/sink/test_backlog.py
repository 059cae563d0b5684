"""What a task waits for."""

import threading

import pytest

from ottla.pipelines.sink.backlog import Backlog
from ottla.pipelines.sink.error import SinkError


def test_waits_until_all_is_acknowledged() -> None:
    backlog = Backlog(100)
    backlog.add(60)
    backlog.add(40)
    done = threading.Event()
    waiter = threading.Thread(target=lambda: (backlog.wait(), done.set()))
    waiter.start()
    backlog.remove(60)
    assert not done.is_set()
    backlog.remove(40)
    waiter.join(10)
    assert done.is_set()


def test_there_is_no_room_until_something_is_acknowledged() -> None:
    backlog = Backlog(100)
    backlog.add(60)
    added = threading.Event()
    adder = threading.Thread(target=lambda: (backlog.add(50), added.set()))
    adder.start()
    assert not added.is_set()
    backlog.remove(60)
    adder.join(10)
    assert added.is_set()


def test_one_that_is_larger_than_all_the_room_goes_alone() -> None:
    backlog = Backlog(100)
    backlog.add(1000)
    backlog.remove(1000)
    backlog.wait()


def test_the_first_failure_ends_every_wait() -> None:
    backlog = Backlog(100)
    backlog.add(100)
    backlog.fail(SinkError("first"))
    backlog.fail(SinkError("second"))
    with pytest.raises(SinkError, match="first"):
        backlog.wait()
    with pytest.raises(SinkError, match="first"):
        backlog.add(1)
