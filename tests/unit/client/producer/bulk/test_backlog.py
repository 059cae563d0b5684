"""What a task waits for."""

import threading
from queue import SimpleQueue

import pytest

from ottla.client.producer.bulk.backlog import Backlog
from ottla.pipelines.sink.errors import SinkError

PATIENCE_S = 60


class WatchedBacklog(Backlog):
    """Tells of every look that a waiting thread takes, and what it saw: whether it may go on."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__(bytes_max)
        self.looks: SimpleQueue[bool] = SimpleQueue()

    def next_look(self) -> bool:
        return self.looks.get(timeout=PATIENCE_S)

    def _is_over(self) -> bool:
        return self._told(super()._is_over())

    def _has_room(self, size: int) -> bool:
        return self._told(super()._has_room(size))

    def _told(self, may_go_on: bool) -> bool:
        self.looks.put(may_go_on)
        return may_go_on


def test_waits_until_all_is_acknowledged() -> None:
    backlog = WatchedBacklog(100)
    backlog.add(60)
    backlog.add(40)
    assert [backlog.next_look(), backlog.next_look()] == [True, True], "there was room"
    waiter = threading.Thread(target=backlog.wait)
    waiter.start()
    assert not backlog.next_look()
    backlog.remove(60)
    assert not backlog.next_look()
    assert waiter.is_alive()
    backlog.remove(40)
    assert backlog.next_look()
    waiter.join(PATIENCE_S)
    assert not waiter.is_alive()


def test_there_is_no_room_until_something_is_acknowledged() -> None:
    backlog = WatchedBacklog(100)
    backlog.add(60)
    assert backlog.next_look()
    adder = threading.Thread(target=backlog.add, args=(50,))
    adder.start()
    assert not backlog.next_look()
    assert adder.is_alive()
    backlog.remove(60)
    assert backlog.next_look()
    adder.join(PATIENCE_S)
    assert not adder.is_alive()


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
