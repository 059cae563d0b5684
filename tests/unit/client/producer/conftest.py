"""What the tests of the producer's parts share: accumulators on either twin, with a clock that stands still."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from ottla.base.accelerated import compiled_module
from ottla.client.producer import append_plain

_COMPILED = compiled_module("ottla.client.producer._append")
TWINS = [append_plain] if _COMPILED is None else [append_plain, _COMPILED]


@pytest.fixture(params=TWINS, ids=lambda module: module.__name__.rpartition(".")[2])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    """The hot part, plain or compiled."""
    module: ModuleType = request.param
    return module


class StillClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.ms = 1_000

    def now_ms(self) -> int:
        return self.ms

    def monotonic_ms(self) -> int:
        return self.ms


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def wakes() -> list[int]:
    """Grows by one when the sender is called."""
    return []


@pytest.fixture
def make_accumulator(clock: StillClock, wakes: list[int]) -> Callable[..., Any]:
    from ottla.client.producer.accumulator import Accumulator, AccumulatorOptions

    def make(**options: Any) -> Accumulator:
        accumulator = Accumulator(AccumulatorOptions(**options), clock, lambda: wakes.append(1))
        accumulator.add_topic("t", 3)
        accumulator.is_open = True
        return accumulator

    return make
