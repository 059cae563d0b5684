"""How fast connections may come."""

from ottla.net.connection_rate import AddressRates, ConnectionRate
from ottla.net.limits import UNLIMITED


def test_a_crowd_of_ten_seconds_comes_in_and_the_next_waits() -> None:
    rate = ConnectionRate(3)
    for _ in range(30):
        assert rate.delay_s(50.0) == 0.0
        rate.note(50.0)
    assert rate.delay_s(50.0) == 1 / 3
    assert rate.delay_s(51.0) == 0.0


def test_without_a_limit_nobody_waits() -> None:
    rate = ConnectionRate(UNLIMITED)
    for _ in range(1000):
        rate.note(1.0)
    assert rate.delay_s(1.0) == 0.0


def test_another_limit_counts_at_once_and_none_at_all_still_lets_somebody_in() -> None:
    rate = ConnectionRate(UNLIMITED)
    rate.change(0)
    assert rate.delay_s(1.0) == 0.0
    rate.note(1.0)
    assert rate.delay_s(1.0) == 10.0
    rate.change(UNLIMITED)
    assert rate.delay_s(1.0) == 0.0


def test_addresses_have_their_own_limit_or_the_default() -> None:
    rates = AddressRates()
    assert [rates.delay_s("10.0.0.1", 1.0) for _ in range(100)] == [0.0] * 100
    rates.change(1.0, {"10.0.0.9": 0.2})
    assert [rates.delay_s("10.0.0.1", 1.0) for _ in range(11)] == [0.0] * 10 + [1.0]
    assert [rates.delay_s("10.0.0.9", 1.0) for _ in range(3)] == [0.0, 0.0, 5.0]
    rates.change(UNLIMITED, {})
    assert rates.delay_s("10.0.0.9", 1.0) == 0.0
