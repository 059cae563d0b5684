"""When shards are flushed and polled."""

import pytest

from ottla.broker.coordinator_host.coordinator_round import CoordinatorRounds
from tests.unit.broker.hand_loop import HandLoop


class Shards:
    """Notes when it is called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.next_ms: int | None = None

    def flush(self, now_ms: int) -> None:
        self.calls.append(("flush", now_ms))

    def poll(self, now_ms: int) -> None:
        self.next_ms = None
        self.calls.append(("poll", now_ms))


@pytest.fixture
def loop() -> HandLoop:
    return HandLoop(0)


@pytest.fixture
def shards() -> Shards:
    return Shards()


@pytest.fixture
def rounds(loop: HandLoop, shards: Shards) -> CoordinatorRounds:
    made = CoordinatorRounds(loop, loop, loop.call_soon)
    made.drive(shards)
    # The first look is due at once; those after it keep their distance.
    loop.advance(1_000)
    return made


def test_wishes_of_one_round_make_one_flush(loop: HandLoop, shards: Shards, rounds: CoordinatorRounds) -> None:
    rounds.wants_flush()
    rounds.wants_flush()
    assert shards.calls == []
    loop.run()
    assert shards.calls == [("flush", 1_000)]


def test_a_timer_runs_when_it_is_due(loop: HandLoop, shards: Shards, rounds: CoordinatorRounds) -> None:
    shards.next_ms = 1_500
    rounds.touched()
    loop.advance(499)
    assert shards.calls == []
    loop.advance(1)
    assert shards.calls == [("poll", 1_500)]


def test_an_earlier_timer_comes_first(loop: HandLoop, shards: Shards, rounds: CoordinatorRounds) -> None:
    shards.next_ms = 9_000
    rounds.touched()
    loop.advance(100)
    shards.next_ms = 1_200
    rounds.touched()
    loop.advance(100)
    assert shards.calls == [("poll", 1_200)]


def test_without_timers_nothing_runs(loop: HandLoop, shards: Shards, rounds: CoordinatorRounds) -> None:
    rounds.touched()
    loop.advance(10_000_000)
    assert shards.calls == []


def test_a_closed_driver_does_nothing(loop: HandLoop, shards: Shards, rounds: CoordinatorRounds) -> None:
    shards.next_ms = 1_100
    rounds.touched()
    loop.run()
    rounds.wants_flush()
    rounds.close()
    loop.advance(1_000)
    assert shards.calls == []
