from collections.abc import Callable

from ottla.replication.schedule.purgatory import Purgatory
from ottla.replication.schedule.timer_wheel import TimerWheel
from tests.unit.replication.manual_loop import ManualLoop


class Request:
    """Is ready when the test says so, and writes down how it ended."""

    def __init__(self, on_complete: Callable[[], object] = lambda: None) -> None:
        self.ready_keys: set[str] = set()
        self.ended: list[str] = []
        self._on_complete = on_complete

    def is_ready(self, key: str) -> bool:
        return key in self.ready_keys

    def complete(self) -> None:
        self.ended.append("completed")
        self._on_complete()

    def expired(self) -> None:
        self.ended.append("expired")


def test_a_request_completes_when_one_of_its_keys_lets_it() -> None:
    purgatory: Purgatory[str] = Purgatory(TimerWheel(ManualLoop()))
    request = Request()
    purgatory.watch(request, ["a", "b"], 100)
    assert (len(purgatory), purgatory.check("a"), purgatory.check("c")) == (1, 0, 0)
    request.ready_keys = {"b"}
    assert purgatory.check("b") == 1
    assert (request.ended, purgatory.watched) == (["completed"], {})


def test_a_request_expires_once_and_leaves_all_its_keys() -> None:
    loop = ManualLoop()
    purgatory: Purgatory[str] = Purgatory(TimerWheel(loop))
    request, other = Request(), Request()
    purgatory.watch(request, ["a", "b", "a"], 100)
    purgatory.watch(other, ["a"], 1000)
    loop.advance(200)
    assert request.ended == ["expired"]
    assert list(purgatory.watched) == ["a"]
    request.ready_keys = {"a"}
    purgatory.check("a")
    assert request.ended == ["expired"]


def test_a_completed_request_has_no_time_limit_any_more() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    purgatory: Purgatory[str] = Purgatory(wheel)
    request = Request()
    request.ready_keys = {"a"}
    purgatory.watch(request, ["a"], 100)
    purgatory.check("a")
    assert not len(wheel)
    loop.advance(200)
    assert request.ended == ["completed"]


def test_completing_one_may_check_the_same_key_again() -> None:
    """A consumer's next request may come within the answer to its last."""
    purgatory: Purgatory[str] = Purgatory(TimerWheel(ManualLoop()))
    requests = [Request(lambda: purgatory.check("a")) for _ in range(3)]
    for request in requests:
        request.ready_keys = {"a"}
        purgatory.watch(request, ["a"], 100)
    purgatory.check("a")
    assert [request.ended for request in requests] == [["completed"]] * 3


def test_a_request_that_comes_while_others_complete_is_not_lost() -> None:
    purgatory: Purgatory[str] = Purgatory(TimerWheel(ManualLoop()))
    second = Request()
    first = Request(lambda: purgatory.watch(second, ["a"], 100))
    first.ready_keys = {"a"}
    purgatory.watch(first, ["a"], 100)
    purgatory.check("a")
    assert (len(purgatory), second.ended) == (1, [])


def test_a_wait_that_is_given_up_leaves_nothing_behind() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    purgatory: Purgatory[str] = Purgatory(wheel)
    request = Request()
    request.ready_keys = {"a"}
    give_up = purgatory.watch(request, ["a", "b"], 100)
    give_up()
    give_up()
    assert (purgatory.watched, len(wheel), purgatory.check("a")) == ({}, 0, 0)
    purgatory.watch(request, ["a"], 100)
    purgatory.check("a")
    loop.advance(200)
    assert request.ended == ["completed"]


def test_a_request_that_expires_may_complete_others_that_are_due_as_well() -> None:
    loop = ManualLoop()
    purgatory: Purgatory[str] = Purgatory(TimerWheel(loop))

    class Waking(Request):
        """Finds the disk broken, say, and takes its partition offline."""

        def expired(self) -> None:
            super().expired()
            purgatory.check("a")

    first, second = Waking(), Request()
    purgatory.watch(first, ["a"], 100)
    purgatory.watch(second, ["a"], 100)
    second.ready_keys = {"a"}
    loop.advance(200)
    assert (first.ended, second.ended, purgatory.watched) == (["expired"], ["completed"], {})
