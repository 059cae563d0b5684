import math

import pytest

from ottla.client.metric.sensor import Sensor


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sensor(clock: Clock) -> Sensor:
    return Sensor(clock, sample_count=2, window_s=30.0)


def test_nothing_recorded(sensor: Sensor) -> None:
    assert (sensor.rate(), sensor.event_rate(), sensor.sum(), sensor.event_count()) == (0, 0, 0, 0)
    assert all(math.isnan(value) for value in (sensor.average(), sensor.largest(), sensor.smallest()))


def test_a_first_rate_is_over_a_window_at_least(sensor: Sensor, clock: Clock) -> None:
    for _ in range(10):
        sensor.record(50)
    clock.now += 1
    assert sensor.event_rate() == pytest.approx(10 / 31)
    assert sensor.rate() == pytest.approx(500 / 31)


def test_windows_add_up(sensor: Sensor, clock: Clock) -> None:
    for _ in range(10):
        sensor.record(1)
    clock.now += 30
    for _ in range(5):
        sensor.record(4)
    clock.now += 12
    assert sensor.event_rate() == pytest.approx(15 / 42)
    assert sensor.average() == pytest.approx(30 / 15)
    assert (sensor.largest(), sensor.smallest()) == (4, 1)


def test_what_is_old_is_forgotten_except_in_totals(sensor: Sensor, clock: Clock) -> None:
    sensor.record(100)
    clock.now += 30
    sensor.record(1)
    clock.now += 30
    sensor.record(2)
    assert (sensor.largest(), sensor.smallest()) == (2, 1)
    clock.now += 1_000
    assert math.isnan(sensor.largest())
    assert sensor.rate() == 0
    assert (sensor.sum(), sensor.event_count()) == (103, 3)
