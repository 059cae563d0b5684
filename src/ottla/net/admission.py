"""The limits of connections that all listeners of a process share (KIP-402).

At `max.connections` listeners stop accepting, so that clients wait in the backlog, and so they do for a moment where
connections come too fast. An inter-broker listener accepts
all the same, and the longest idle connection of the others makes room. An address with too many connections is turned
away instead, since waiting would hold up everybody behind it.
"""

import socket
from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.net.connection_rate import AddressRates, ConnectionRate
from ottla.net.limits import ServerLimits

LongestIdle: TypeAlias = Callable[[], tuple[float, Callable[[], None]] | None]
"""Names a listener's longest idle connection: since when, and how to close it."""


class Admission:
    """Counts connections, in all and by address."""

    def __init__(self, limits: ServerLimits) -> None:
        self.count = 0
        self._by_address: Final[dict[str, int]] = {}
        self._offers: Final[dict[object, LongestIdle]] = {}
        self._waiting: Final[list[Callable[[], None]]] = []
        self.rate: Final = ConnectionRate(limits.connection_rate_max)
        """How fast connections come, over all listeners."""
        self.address_rates: Final = AddressRates()
        self.change_limits(limits)

    def change_limits(self, limits: ServerLimits) -> None:
        """Applies other limits from now on; open connections stay."""
        self._connections_max = limits.connections_max
        self.rate.change(limits.connection_rate_max)
        self._per_address_max = limits.connections_per_ip_max
        self._overrides = {
            address: limit
            for name, limit in limits.connections_per_ip_overrides.items()
            for address in _addresses(name)
        }
        self._wake()

    @property
    def is_full(self) -> bool:
        """Whether the process has all the connections it may have."""
        return self.count >= self._connections_max

    def address_limit(self, address: str) -> int | None:
        """The limit that one more connection from this address would break, if it would."""
        limit = self._overrides.get(address, self._per_address_max)
        return limit if self._by_address.get(address, 0) >= limit else None

    def enter(self, address: str) -> None:
        """Counts a connection in."""
        self.count += 1
        self._by_address[address] = self._by_address.get(address, 0) + 1

    def leave(self, address: str) -> None:
        """Counts it out; those who wait for room may look again."""
        self.count -= 1
        left = self._by_address[address] - 1
        if left:
            self._by_address[address] = left
        else:
            del self._by_address[address]
        self._wake()

    def wait(self, callback: Callable[[], None]) -> None:
        """Calls back once when a connection has closed."""
        self._waiting.append(callback)

    def offer(self, listener: object, longest_idle: LongestIdle) -> None:
        """A listener whose clients may have to make room for brokers."""
        self._offers[listener] = longest_idle

    def withdraw(self, listener: object) -> None:
        """Ends an `offer`."""
        self._offers.pop(listener, None)

    def displace(self) -> None:
        """Closes the connection that has been idle for longest, of all listeners that offered theirs."""
        found = [offer for longest_idle in self._offers.values() if (offer := longest_idle()) is not None]
        if found:
            _, close = min(found, key=lambda offer: offer[0])
            close()

    def _wake(self) -> None:
        waiting = self._waiting[:]
        self._waiting.clear()
        for callback in waiting:
            callback()


def _addresses(name: str) -> set[str]:
    """The addresses of a host; a name that can't be resolved has no effect."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)}
    except socket.gaierror:
        return set()
