"""The interface of invariants, which are checked after every step of a run or at its end."""

from typing import ClassVar

from ottla.base.errors import OttlaError
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.node import SimulatedNode


class InvariantViolation(OttlaError):  # noqa: N818
    """An invariant did not hold."""

    def __init__(self, invariant: str, message: str) -> None:
        super().__init__(f"{invariant}: {message}")
        self.invariant = invariant


class Invariant:
    """One property of a cluster; it may remember what it has seen."""

    name: ClassVar[str]

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        """Looks at the node that has just done something."""

    def check_healed(self, cluster: Cluster) -> None:
        """Looks at the cluster after all faults are over and it had time to recover."""

    def fail(self, message: str) -> InvariantViolation:
        """The exception to raise."""
        return InvariantViolation(self.name, message)
