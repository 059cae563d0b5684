"""What a simulated node is made of.

A part is one state machine of a node with whatever drives it: the quorum, a controller, a broker's partitions. It
hears frames addressed to it, is woken at the time it asks for, and is simply gone when the node crashes; only the disk
stays. Parts of one node find each other by name through the node.
"""

from typing import Protocol

from ottla.testing.simulation.network import Frame


class Part(Protocol):
    """One part of a running node."""

    def start(self) -> None:
        """The node's process starts; every part exists by now."""
        ...

    def receive(self, frame: Frame) -> None:
        """A frame for this part arrived."""
        ...

    def wake(self) -> None:
        """The time that `deadline_ms` named has come."""
        ...

    @property
    def deadline_ms(self) -> int:
        """When to be woken, by the node's clock."""
        ...
