"""A simulated cluster: nodes, the network between them, and the invariants that watch every step."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from random import Random
from typing import Final, Protocol

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.testing.simulation.clock import EventQueue, NodeClock
from ottla.testing.simulation.disk import DiskProfile, SimulatedDisk
from ottla.testing.simulation.network import Frame, Network
from ottla.testing.simulation.node import ClusterContext, PartFactory, SimulatedNode
from ottla.testing.simulation.trace import Trace

_LOOK_INTERVAL_MS: Final = 10


@frozen
class NodePlan:
    """A node to be: its id, what it is made of, and how wrong its clock is."""

    node_id: int
    part_factories: Sequence[PartFactory]
    clock_offset_ms: int = 0
    clock_rate_per_mille: int = 1000
    disk: DiskProfile = field(default_factory=DiskProfile)


class Watcher(Protocol):
    """Looks at every step and at the end of a run: `ottla.testing.simulation.invariant.Invariant`."""

    def check(self, cluster: "Cluster", node: SimulatedNode) -> None:
        """Looks at the node that has just done something."""
        ...

    def check_healed(self, cluster: "Cluster") -> None:
        """Looks at the cluster after all faults are over and it had time to recover."""
        ...


def directory_id(node_id: int) -> Uuid:
    """The directory id of a node's first disk."""
    return Uuid(b"directory-%06d" % node_id)


class Cluster:
    """Everything that one run simulates."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.queue = EventQueue()
        self.trace = Trace()
        self.network = Network(self.queue, self.random, self._deliver)
        self.nodes: dict[int, SimulatedNode] = {}
        self.invariants: list[Watcher] = []
        self.disks: dict[Uuid, SimulatedDisk] = {}
        """All disks by directory, those that were replaced too."""
        self.steps = 0
        self._by_host: dict[str, SimulatedNode] = {}
        self._around = ClusterContext(self.queue, self.network, self.random, self.trace, self._check)

    def add_node(self, plan: NodePlan) -> SimulatedNode:
        """Adds a node, not started yet."""
        clock = NodeClock(self.queue, plan.clock_offset_ms, plan.clock_rate_per_mille)
        disk = SimulatedDisk(self.random, plan.disk, directory_id(plan.node_id))
        node = SimulatedNode(plan.node_id, self._around, disk, clock, plan.part_factories)
        self.nodes[node.id] = self._by_host[node.host] = node
        self.disks[disk.directory_id] = disk
        return node

    def replace_disk(self, node: SimulatedNode) -> None:
        """The node dies, and comes back on an empty disk when it is started."""
        node.crash("disk replaced")
        node.disk = node.disk.replaced()
        self.disks[node.disk.directory_id] = node.disk

    def start(self) -> None:
        """Starts all nodes."""
        for node in self.nodes.values():
            node.start()

    def running_nodes(self) -> Iterable[SimulatedNode]:
        """The nodes that are up."""
        return (node for node in self.nodes.values() if node.is_running)

    def run_until(self, time_ms: int, condition: Callable[[], bool] | None = None) -> bool:
        """Runs to a time, or until the condition holds if that is earlier; whether it does.

        The condition is looked at every few milliseconds: it looks at the whole cluster, and most steps move little.
        """
        look_at_ms = self.queue.now_ms
        while True:
            if condition is not None and self.queue.now_ms >= look_at_ms:
                if condition():
                    return True
                look_at_ms = self.queue.now_ms + _LOOK_INTERVAL_MS
            next_ms = self.queue.next_time_ms()
            if next_ms is None or next_ms > time_ms:
                self.queue.now_ms = max(self.queue.now_ms, time_ms)
                return condition is not None and condition()
            self.queue.step()
            self.steps += 1

    def note(self, what: str) -> None:
        """Adds a line to the trace."""
        self.trace.add(self.queue.now_ms, "-", what)

    def check_healed(self) -> None:
        """Asks the invariants about the end of the run."""
        for invariant in self.invariants:
            invariant.check_healed(self)

    def _check(self, node: SimulatedNode) -> None:
        for invariant in self.invariants:
            invariant.check(self, node)

    def _deliver(self, frame: Frame) -> None:
        node = self._by_host.get(frame.destination)
        if node is not None:
            node.deliver(frame)
