"""Timers in time that is put forward."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ottla.testing.advancing_clock import AdvancingClock
from ottla.testing.advancing_loop import AdvancingLoop


def run(play: Callable[[AdvancingLoop], Coroutine[Any, Any, None]], clock: AdvancingClock | None = None) -> None:
    with asyncio.Runner(loop_factory=lambda: AdvancingLoop(clock or AdvancingClock())) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, AdvancingLoop)
        runner.run(play(loop))


def test_what_is_due_happens_and_the_rest_does_not() -> None:
    happened: list[str] = []

    async def play(loop: AdvancingLoop) -> None:
        loop.call_later(3600, happened.append, "late")
        loop.call_later(60, happened.append, "early")
        await loop.advance(61)
        assert happened == ["early"]
        await loop.advance(3600)
        assert happened == ["early", "late"]

    run(play)


def test_timers_that_timers_set_belong_to_the_same_span() -> None:
    ticks: list[float] = []

    async def play(loop: AdvancingLoop) -> None:
        def tick() -> None:
            ticks.append(loop.time())
            loop.call_later(10, tick)

        loop.call_later(10, tick)
        await loop.advance(105)

    run(play)
    # Steps of a second make each at most one late.
    assert len(ticks) in (9, 10)


def test_a_long_span_takes_no_more_steps_than_a_short_one() -> None:
    turns: list[None] = []

    async def play(loop: AdvancingLoop) -> None:
        def turn() -> None:
            turns.append(None)
            loop.call_soon(turn)

        loop.call_soon(turn)
        await loop.advance(10 * 365 * 86_400)

    run(play)
    assert len(turns) < 2_000


def test_the_clock_and_the_loop_agree() -> None:
    clock = AdvancingClock()

    async def play(loop: AdvancingLoop) -> None:
        before_s, before_ms = loop.time(), clock.now_ms()
        await loop.advance(86_400)
        assert loop.time() - before_s >= 86_400
        assert clock.now_ms() - before_ms >= 86_400_000

    run(play, clock)
    with pytest.raises(ValueError, match="back"):
        clock.push(-1)
