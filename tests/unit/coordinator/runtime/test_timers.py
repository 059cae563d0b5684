"""Timers come when they are due, once, unless they were moved or cancelled."""

from ottla.coordinator.runtime.coordinator_result import NOTHING, CoordinatorResult
from ottla.coordinator.runtime.timers import Timers


def idle(_state: object, _now_ms: int) -> CoordinatorResult:
    return NOTHING


def keys_due(timers: Timers, now_ms: int) -> list[object]:
    return [key for key, _ in timers.due(now_ms)]


def test_due_in_the_order_of_their_deadlines() -> None:
    timers = Timers()
    for key, deadline_ms in (("c", 30), ("a", 10), ("b", 20)):
        timers.set(key, deadline_ms, idle)
    assert timers.next_ms == 10
    assert keys_due(timers, 9) == []
    assert keys_due(timers, 20) == ["a", "b"]
    assert (timers.next_ms, len(timers), "c" in timers) == (30, 1, True)


def test_a_timer_moved_later_comes_at_its_new_time() -> None:
    timers = Timers()
    timers.set("session", 10, idle)
    timers.set("session", 50, idle)
    assert keys_due(timers, 49) == []
    assert timers.next_ms == 50
    assert keys_due(timers, 50) == ["session"]
    assert keys_due(timers, 100) == []


def test_a_timer_moved_earlier_comes_at_its_new_time_and_once() -> None:
    timers = Timers()
    timers.set("session", 50, idle)
    timers.set("session", 10, idle)
    assert keys_due(timers, 10) == ["session"]
    assert keys_due(timers, 100) == []


def test_a_cancelled_timer_does_not_come_and_its_key_can_be_used_again() -> None:
    timers = Timers()
    timers.set("session", 10, idle)
    timers.cancel("session")
    timers.cancel("never set")
    assert timers.next_ms is None
    timers.set("session", 20, idle)
    assert keys_due(timers, 10) == []
    assert keys_due(timers, 20) == ["session"]


def test_what_is_set_only_if_absent_leaves_a_timer_alone() -> None:
    timers = Timers()
    timers.set("retry", 10, idle)
    timers.set_if_absent("retry", 5, idle)
    timers.set_if_absent("other", 7, idle)
    assert (timers.deadline("retry"), timers.deadline("other"), timers.deadline("none")) == (10, 7, None)


def test_a_timer_cancelled_by_one_that_is_due_with_it_does_not_come() -> None:
    timers = Timers()
    timers.set("rebalance", 10, idle)
    timers.set("member", 10, idle)
    came = []
    for key, _ in timers.due(10):
        came.append(key)
        timers.cancel("member")
    assert came == ["rebalance"]


def test_a_timer_that_sets_itself_again_comes_once_a_look() -> None:
    timers = Timers()
    timers.set("busy", 10, idle)
    looks = 0
    for key, operation in timers.due(10):
        looks += 1
        timers.set(key, 10, operation)
    assert looks == 1
    assert timers.next_ms == 10
    assert keys_due(timers, 10) == ["busy"]


def test_heartbeats_leave_nothing_behind() -> None:
    timers = Timers()
    for now_ms in range(10_000):
        timers.set("moved later", now_ms + 45_000, idle)
        timers.set("cancelled", now_ms + 45_000, idle)
        timers.cancel("cancelled")
        timers.set("moved earlier", 100_000 - now_ms, idle)
    assert len(timers._heap) < 200


def test_clear_forgets_all() -> None:
    timers = Timers()
    timers.set("session", 10, idle)
    timers.clear()
    assert keys_due(timers, 100) == []
    assert len(timers) == 0
