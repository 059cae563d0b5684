"""Who is idle: exactly those, and nobody else is looked at."""

from ottla.net.idle_watch import IdleWatch
from tests.unit.net.fake_loop import FakeLoop


def watch(loop: FakeLoop, idle_ms_max: int) -> tuple[IdleWatch[str], list[str]]:
    expired: list[str] = []
    return IdleWatch[str](loop.as_loop(), idle_ms_max, expired.append), expired


def test_a_member_expires_after_the_limit_and_not_before() -> None:
    loop = FakeLoop()
    idle, expired = watch(loop, 10_000)
    idle.note("a", loop.now)
    loop.advance(10)
    assert not expired
    loop.advance(2 * idle.step_s)
    assert expired == ["a"]
    assert not loop.waiting


def test_activity_puts_it_off_and_the_longest_idle_is_first() -> None:
    loop = FakeLoop()
    idle, expired = watch(loop, 10_000)
    for name in "abc":
        idle.note(name, loop.now)
        loop.advance(1)
    assert idle.longest_idle == ("a", 1_000.0)
    idle.note("a", loop.now)
    assert idle.longest_idle == ("b", 1_001.0)
    loop.advance(9)
    assert expired == ["b"]
    loop.advance(1)
    assert expired == ["b", "c"]
    loop.advance(1)
    assert expired == ["b", "c", "a"]


def test_activity_within_a_step_needs_no_note() -> None:
    """A connection notes itself at most once per step: activity just before the next note must still count in full."""
    loop = FakeLoop()
    idle, expired = watch(loop, 32_000)
    idle.note("a", loop.now)
    loop.advance(idle.step_s)  # active here, and not noted
    loop.advance(31.9)
    assert not expired
    loop.advance(0.2)
    assert expired == ["a"]


def test_who_is_forgotten_does_not_expire() -> None:
    loop = FakeLoop()
    idle, expired = watch(loop, 1_000)
    idle.note("a", loop.now)
    idle.forget("a")
    idle.forget("a")
    loop.advance(10)
    assert not expired
    assert idle.longest_idle is None


def test_who_expires_may_be_kept() -> None:
    loop = FakeLoop()
    kept: list[float] = []

    def keep(name: str) -> None:
        kept.append(loop.now)
        idle.note(name, loop.now)

    idle = IdleWatch[str](loop.as_loop(), 1_000, keep)
    idle.note("a", loop.now)
    loop.advance(10)
    assert 8 <= len(kept) <= 10


def test_a_negative_limit_is_for_ever() -> None:
    loop = FakeLoop()
    idle, expired = watch(loop, -1)
    idle.note("a", loop.now)
    loop.advance(1_000_000)
    assert not expired
    idle.change_limit(1_000)
    loop.advance(2)
    assert expired == ["a"]


def test_one_timer_for_all_and_none_after_closing() -> None:
    loop = FakeLoop()
    idle, expired = watch(loop, 1_000)
    for number in range(100):
        idle.note(f"{number}", loop.now)
        loop.advance(0.001)
    assert len(loop.waiting) == 1
    idle.close()
    assert not loop.waiting
    loop.advance(10)
    assert not expired
