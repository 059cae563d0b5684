"""The process of a client: a member of a group, and its work on the partitions that it owns."""

from typing import Final

from ottla.testing.simulation.coordinator.connection import NAME, Caller
from ottla.testing.simulation.coordinator.workload.member import Membership, Work
from ottla.testing.simulation.coordinator.workload.task import TaskPart
from ottla.testing.simulation.node import SimulatedNode

_DOWN_MS: Final = 300


class ClientPart(TaskPart):
    """Runs a member's own thread, and its heartbeats beside it."""

    def __init__(self, node: SimulatedNode, caller: Caller, member: Membership, work: Work) -> None:
        super().__init__(node, caller, lambda: (member.run(work, self._ended), member.keep_alive()))
        self.member: Final = member

    def _ended(self) -> None:
        """Restarts the process a while after its member has left."""
        self._node.later(0, lambda: self._node.restart(_DOWN_MS))


def client_part(node: SimulatedNode) -> ClientPart | None:
    """The client of a node; None if it is down, or none."""
    part = node.parts.get(NAME)
    return part if isinstance(part, ClientPart) else None
