"""Where the broker of a test runs, as a port: a thread of this process, or a process of its own."""

from typing import Protocol

from ottla.testing.fault import Fault, FaultRule


class BrokerHost(Protocol):
    """One life of a broker, from its start to its end; the next one needs a new host on the same directory."""

    @property
    def pid(self) -> int:
        """The process that it runs in."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither ended nor failed since."""
        ...

    def start(self) -> list[tuple[str, int]]:
        """Returns the addresses of its listeners once clients can use it; `OttlaError` if they never will."""
        ...

    def stop(self) -> None:
        """Ends it in order."""
        ...

    def kill(self) -> None:
        """Ends it at once."""
        ...

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        ...

    def add_fault(self, rule: FaultRule) -> Fault:
        """Has it commit a fault."""
        ...

    def clear_faults(self) -> None:
        """Has it commit none."""
        ...
