"""The interface of the parts of a simulated node.

A part is one state machine of a node with its driver: the quorum, a controller, a broker's partitions. It receives
frames addressed to it, is woken at the time it asks for, and disappears when the node crashes; only the disk stays.
Parts of one node find each other by name through the node.
"""

from typing import Protocol

from ottla.testing.simulation.network import Frame


class Part(Protocol):
    """One part of a running node."""

    def start(self) -> None:
        """Called when the process starts, after all parts have been made."""
        ...

    def receive(self, frame: Frame) -> None:
        """Called with each frame for this part."""
        ...

    def wake(self) -> None:
        """Called once the time of `deadline_ms` has come."""
        ...

    @property
    def deadline_ms(self) -> int:
        """The next time to be woken, on the node's clock."""
        ...
