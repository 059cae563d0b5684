"""Limits the rate of new connections: in all, on one listener, from one address (KIP-612).

A limit is kept as an allowance that grows with time, up to the worth of ten seconds, which is Apache Kafka's window:
a quiet client may open many connections at once, and then has to wait. Knows no clock: times are given, in seconds.
"""

from collections.abc import Mapping
from typing import Final

from ottla.net.limits import UNLIMITED

_WINDOW_S: Final = 10.0
_RATE_MIN: Final = 0.1
"""The lowest limit, one connection in each window: 0 would lock out the administrator who could change it."""
_ADDRESSES_MAX: Final = 10_000
"""Addresses that are remembered; before more are, those go that have been quiet for a window."""


class ConnectionRate:
    """One limit.

    >>> rate = ConnectionRate(2)
    >>> for _ in range(20):
    ...     rate.note(100.0)
    >>> rate.delay_s(100.0), rate.delay_s(100.25), rate.delay_s(100.5)
    (0.5, 0.25, 0.0)
    """

    __slots__ = ("_allowance", "_noted_s", "_rate")

    def __init__(self, rate_max: float) -> None:
        self._rate = UNLIMITED * 1.0
        self._allowance = 0.0
        self._noted_s: float | None = None
        self.change(rate_max)

    def change(self, rate_max: float) -> None:
        """Another limit from now on."""
        rate = max(rate_max, _RATE_MIN)
        if rate != self._rate:
            self._rate = rate
            self._allowance, self._noted_s = rate * _WINDOW_S, None

    def delay_s(self, now_s: float) -> float:
        """The time until the next connection is allowed."""
        if self._rate >= UNLIMITED:
            return 0.0
        missing = 1.0 - self._grown(now_s)
        return missing / self._rate if missing > 0 else 0.0

    def note(self, now_s: float) -> None:
        """A connection is made, whether or not it had to wait."""
        if self._rate < UNLIMITED:
            self._allowance = self._grown(now_s) - 1.0
            self._noted_s = now_s

    def is_quiet(self, now_s: float) -> bool:
        """Whether it says the same as a new one."""
        return self._grown(now_s) >= self._rate * _WINDOW_S

    def _grown(self, now_s: float) -> float:
        since = 0.0 if self._noted_s is None else max(now_s - self._noted_s, 0.0)
        return min(self._allowance + since * self._rate, self._rate * _WINDOW_S)


class AddressRates:
    """The limits of addresses, as quotas of the entity `ip` set them; those without one have the default's."""

    def __init__(self) -> None:
        self._default: float = UNLIMITED
        self._own: Mapping[str, float] = {}
        self._rates: dict[str, ConnectionRate] = {}

    def change(self, default: float, own: Mapping[str, float]) -> None:
        """Other limits from now on."""
        self._default, self._own = default, own
        for address, rate in self._rates.items():
            rate.change(own.get(address, default))

    def delay_s(self, address: str, now_s: float) -> float:
        """How much too early a connection from the address comes; counts it if it does not."""
        limit = self._own.get(address, self._default)
        if limit >= UNLIMITED:
            return 0.0
        rate = self._rates.get(address)
        if rate is None:
            self._forget_quiet(now_s)
            rate = self._rates[address] = ConnectionRate(limit)
        delay_s = rate.delay_s(now_s)
        if not delay_s:
            rate.note(now_s)
        return delay_s

    def _forget_quiet(self, now_s: float) -> None:
        if len(self._rates) >= _ADDRESSES_MAX:
            self._rates = {address: rate for address, rate in self._rates.items() if not rate.is_quiet(now_s)}
