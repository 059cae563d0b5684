"""A network that delays, loses, repeats and reorders, and that can be cut in one direction or both."""

from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

from ottla.base.frozen import frozen
from ottla.testing.simulation.clock import EventQueue


class Frame(NamedTuple):
    """A message between the parts of two nodes, as bytes."""

    source: str
    destination: str
    """The host names of both ends."""
    part: str
    """Which part of the node speaks, and is spoken to."""
    run: int
    """Which run of the requesting process it belongs to: connections end with their process."""
    is_request: bool
    correlation_id: int
    api_key: int
    api_version: int
    payload: bytes


@frozen
class NetworkProfile:
    """Delays, losses and repetitions of a network; chances are per mille."""

    delay_ms_min: int = 1
    delay_ms_max: int = 5
    loss_per_mille: int = 0
    duplicate_per_mille: int = 0
    straggler_per_mille: int = 0
    """Frames that take up to `straggler_ms_max`, and so are overtaken."""
    straggler_ms_max: int = 500


HEALTHY = NetworkProfile()


class Network:
    """Carries frames between hosts."""

    def __init__(self, queue: EventQueue, random: Random, deliver: Callable[[Frame], None]) -> None:
        self.profile = HEALTHY
        self._queue = queue
        self._random = random
        self._deliver = deliver
        self._cuts: set[tuple[str, str]] = set()

    def send(self, frame: Frame) -> None:
        """Sends a frame, which may be lost or arrive twice."""
        if (frame.source, frame.destination) in self._cuts or self._chance(self.profile.loss_per_mille):
            return
        self._carry(frame)
        if self._chance(self.profile.duplicate_per_mille):
            self._carry(frame)

    def cut(self, source: str, destination: str) -> None:
        """Stops frames in one direction."""
        self._cuts.add((source, destination))

    def partition(self, one_side: Iterable[str], other_side: Iterable[str]) -> None:
        """Stops frames between two groups of hosts, in both directions."""
        others = list(other_side)
        for host in one_side:
            for other in others:
                self.cut(host, other)
                self.cut(other, host)

    def heal(self) -> None:
        """Undoes all cuts."""
        self._cuts.clear()

    def _carry(self, frame: Frame) -> None:
        profile = self.profile
        delay_ms = self._random.randint(profile.delay_ms_min, profile.delay_ms_max)
        if self._chance(profile.straggler_per_mille):
            delay_ms += self._random.randint(0, profile.straggler_ms_max)
        self._queue.after(delay_ms, lambda: self._arrive(frame))

    def _arrive(self, frame: Frame) -> None:
        # A cut that came while the frame was under way takes it as well.
        if (frame.source, frame.destination) not in self._cuts:
            self._deliver(frame)

    def _chance(self, per_mille: int) -> bool:
        return per_mille > 0 and self._random.randrange(1000) < per_mille
