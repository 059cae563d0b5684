import pytest

from ottla.replication.schedule.timer_wheel import TimerWheel
from tests.unit.replication.manual_loop import ManualLoop


def test_nothing_expires_early_and_all_within_a_tick() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop, tick_ms=10)
    expired: list[tuple[int, int]] = []
    begin = loop.monotonic_ms()
    for limit in (0, 5, 10, 99, 100, 101):
        wheel.add(limit, lambda limit=limit: expired.append((limit, loop.monotonic_ms() - begin)))
    loop.advance(200)
    assert [limit for limit, _ in expired] == [0, 5, 10, 99, 100, 101]
    assert all(limit <= took <= limit + 10 for limit, took in expired)


def test_long_limits_share_wide_buckets() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    expired: list[tuple[int, int]] = []

    def add(limit: int) -> None:
        begin = loop.monotonic_ms()
        wheel.add(limit, lambda: expired.append((limit, loop.monotonic_ms() - begin)))

    for _ in range(500):
        for limit in (3_000, 30_000, 90_000):
            add(limit)
        loop.advance(2)
    assert len(wheel._ticks) < 100
    loop.advance(120_000)
    assert len(expired) == 1500
    assert all(limit <= took <= limit * 1.02 for limit, took in expired)


def test_what_is_cancelled_leaves_nothing_behind() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    expired: list[str] = []
    kept = wheel.add(50, lambda: expired.append("kept"))
    wheel.add(50, lambda: expired.append("cancelled")).cancel()
    wheel.add(500, lambda: expired.append("cancelled")).cancel()
    assert len(wheel) == 1
    loop.advance(100)
    assert expired == ["kept"]
    assert (len(wheel), loop.timers) == (0, 0)
    kept.cancel()


def test_all_share_one_timer_of_the_loop() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    for limit in range(1000, 0, -1):
        wheel.add(limit, lambda: None)
        assert loop.timers == 1


def test_an_expiry_may_begin_and_end_others() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    seen: list[str] = []
    second = wheel.add(50, lambda: seen.append("second"))

    def first() -> None:
        seen.append("first")
        second.cancel()
        wheel.add(10, lambda: seen.append("third"))

    wheel.add(20, first)
    loop.advance(100)
    assert seen == ["first", "third"]


def test_a_closed_wheel_expires_nothing() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    wheel.add(10, lambda: 1 / 0)
    wheel.close()
    loop.advance(100)
    assert not len(wheel)


def test_one_that_expires_may_cancel_others_that_are_due_as_well() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    expired: list[str] = []

    def cancel_the_rest() -> None:
        expired.append("first")
        second.cancel()

    wheel.add(50, cancel_the_rest)
    second = wheel.add(50, lambda: expired.append("second"))
    wheel.add(50, lambda: expired.append("third"))
    loop.advance(100)
    assert expired == ["first", "third"]
    assert (len(wheel), loop.timers) == (0, 0)


def test_one_that_fails_takes_nobody_along() -> None:
    loop = ManualLoop()
    wheel = TimerWheel(loop)
    expired: list[str] = []
    wheel.add(50, lambda: 1 // 0)
    wheel.add(50, lambda: expired.append("same tick"))
    wheel.add(90, lambda: expired.append("later"))
    with pytest.raises(ZeroDivisionError):
        loop.advance(60)
    loop.advance(100)
    assert expired == ["same tick", "later"]
    assert (len(wheel), loop.timers) == (0, 0)
