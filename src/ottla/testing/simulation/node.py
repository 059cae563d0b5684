"""A simulated node: a process that starts and crashes, on a disk and a clock that stay."""

from collections.abc import Callable, Sequence
from random import Random

from ottla.base.frozen import frozen
from ottla.testing.simulation.clock import EventQueue, NodeClock
from ottla.testing.simulation.disk import DiskFailedError, SimulatedDisk
from ottla.testing.simulation.network import Frame, Network
from ottla.testing.simulation.part import Part
from ottla.testing.simulation.trace import Trace

PartFactory = Callable[["SimulatedNode"], tuple[str, Part]]

_NEVER_MS = 2**62


@frozen
class ClusterContext:
    """The parts of a simulation that all nodes of a cluster share."""

    queue: EventQueue
    network: Network
    random: Random
    trace: Trace
    acted: Callable[["SimulatedNode"], None]
    """Called after everything a node did, so that invariants can be checked."""


class SimulatedNode:
    """One node of a cluster."""

    def __init__(
        self,
        node_id: int,
        context: ClusterContext,
        disk: SimulatedDisk,
        clock: NodeClock,
        part_factories: Sequence[PartFactory],
    ) -> None:
        self.id = node_id
        self.host = f"node-{node_id}"
        self.disk = disk
        self.clock = clock
        self.incarnation = 0
        self.parts: dict[str, Part] = {}
        """The running process; empty while the node is down."""
        self._factories = part_factories
        self._around = context
        self._wake_at_ms = _NEVER_MS
        self._paused_until_ms = 0

    @property
    def is_running(self) -> bool:
        return bool(self.parts)

    @property
    def is_paused(self) -> bool:
        """Whether the process stands still: actions are postponed to the end of the pause."""
        return self._around.queue.now_ms < self._paused_until_ms

    @property
    def random(self) -> Random:
        """The simulation's source of randomness."""
        return self._around.random

    def start(self) -> None:
        """Starts the process on what the disk has."""
        self.incarnation += 1
        self.note(f"starts, run {self.incarnation}")
        for factory in self._factories:
            name, part = factory(self)
            self.parts[name] = part
        self.act(self._start_parts)

    def crash(self, why: str) -> None:
        """Ends the process without warning, and cuts the power of its disk."""
        if self.is_running:
            self.note(f"crashes: {why}")
            self.parts = {}
            self._wake_at_ms = _NEVER_MS
            self._paused_until_ms = 0
            self.disk.crash()

    def restart(self, down_time_ms: int) -> None:
        """Crashes the node and starts it again after `down_time_ms`, as a supervisor does."""
        self.crash("shut down")
        self._around.queue.after(down_time_ms, lambda: None if self.is_running else self.start())

    def pause(self, duration_ms: int) -> None:
        """Suspends the process, like a long garbage collection: it then continues without knowing."""
        if not self.is_running:
            return
        self.note(f"pauses for {duration_ms} ms")
        self._paused_until_ms = self._around.queue.now_ms + duration_ms

    def send(self, frame: Frame) -> None:
        """Gives a frame to the network."""
        self._around.network.send(frame)

    def deliver(self, frame: Frame) -> None:
        """Hands a frame from the network to the part that it is addressed to."""
        if frame.part in self.parts:
            self.act(lambda: self.parts[frame.part].receive(frame))

    def later(self, delay_ms: int, action: Callable[[], object]) -> None:
        """Plans an action of the present process; it is dropped if the process has ended by then."""
        incarnation = self.incarnation

        def due() -> None:
            if self.is_running and self.incarnation == incarnation:
                self.act(action)

        self._around.queue.after(delay_ms, due)

    def act(self, action: Callable[[], object]) -> None:
        """Runs an action of the process, plans its next timer and checks invariants; a failed disk crashes the node."""
        if self._paused_until_ms and self.is_paused:
            self.later(self._paused_until_ms - self._around.queue.now_ms, action)
            return
        try:
            action()
        except DiskFailedError as error:
            self.crash(str(error))
        self._plan_wake()
        self._around.acted(self)

    def note(self, what: str, *details: object) -> None:
        """Adds a line to the trace."""
        self._around.trace.add(self._around.queue.now_ms, self.host, what, *details)

    def _start_parts(self) -> None:
        for part in self.parts.values():
            part.start()

    def _plan_wake(self) -> None:
        if not self.parts:
            return
        deadline_ms = _NEVER_MS
        for part in self.parts.values():
            due_ms = part.deadline_ms
            if due_ms < deadline_ms:
                deadline_ms = due_ms
        if deadline_ms == _NEVER_MS:
            return
        wake_at_ms = max(self.clock.true_time_ms(deadline_ms), self._around.queue.now_ms)
        if wake_at_ms < self._wake_at_ms:
            self._wake_at_ms = wake_at_ms
            self._around.queue.at(wake_at_ms, lambda: self._wake(wake_at_ms))

    def _wake(self, planned_ms: int) -> None:
        if planned_ms != self._wake_at_ms:
            return
        self._wake_at_ms = _NEVER_MS
        now_ms = self.clock.now_ms()
        due = [part for part in self.parts.values() if part.deadline_ms <= now_ms]
        if due:
            self.act(lambda: _wake_all(due))
        else:
            self._plan_wake()


def _wake_all(parts: Sequence[Part]) -> None:
    for part in parts:
        part.wake()
