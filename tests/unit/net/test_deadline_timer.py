"""One timer for many deadlines."""

from ottla.net.deadline_timer import DeadlineTimer
from tests.unit.net.fake_loop import FakeLoop


class Deadlines:
    """A set of deadlines, as a client has them."""

    def __init__(self) -> None:
        self.loop = FakeLoop()
        self.pending: set[float] = set()
        self.expired: list[float] = []
        self.timer = DeadlineTimer(self.loop.as_loop(), self._expire)

    def add(self, deadline: float) -> None:
        self.pending.add(deadline)
        self.timer.arm(deadline)

    def _expire(self, now: float) -> float | None:
        self.expired += sorted(deadline for deadline in self.pending if deadline <= now)
        self.pending = {deadline for deadline in self.pending if deadline > now}
        return min(self.pending, default=None)


def test_each_deadline_expires_when_due_whatever_the_order_they_came_in() -> None:
    deadlines = Deadlines()
    for deadline in (1_005.0, 1_002.0, 1_009.0, 1_003.0):
        deadlines.add(deadline)
        assert len(deadlines.loop.waiting) == 1
    deadlines.loop.advance(3)
    assert deadlines.expired == [1_002.0, 1_003.0]
    deadlines.loop.advance(10)
    assert deadlines.expired == [1_002.0, 1_003.0, 1_005.0, 1_009.0]
    assert not deadlines.loop.waiting


def test_what_is_done_in_time_costs_nothing() -> None:
    deadlines = Deadlines()
    deadlines.add(1_001.0)
    deadlines.pending.clear()
    deadlines.loop.advance(5)
    assert not deadlines.expired
    assert not deadlines.loop.waiting


def test_closed_is_silent() -> None:
    deadlines = Deadlines()
    deadlines.add(1_001.0)
    deadlines.timer.close()
    deadlines.loop.advance(5)
    assert not deadlines.expired
