"""A client's programme: a generator that asks and sleeps, driven by the simulated node that it runs on.

    answer = yield Ask(broker_id, request, version)    # the response, or None if none came in time
    yield Sleep(100)

A node may run several; none of them outlives the process.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from ottla.protocol.definition import Request
from ottla.testing.simulation.coordinator.connection import Caller
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.node import SimulatedNode

R = TypeVar("R")

REQUEST_TIMEOUT_MS: Final = 500
NEVER_MS: Final = 2**62


class Sleep(NamedTuple):
    """Waits."""

    duration_ms: int


class Ask(NamedTuple):
    """Sends a request to a broker and waits for the answer."""

    broker_id: int
    request: Request
    version: int
    timeout_ms: int = REQUEST_TIMEOUT_MS


Steps: TypeAlias = Generator[Ask | Sleep, Any, R]
"""A programme that comes to an R."""


class TaskPart:
    """Runs programmes, all of which begin with the process."""

    def __init__(self, node: SimulatedNode, caller: Caller, programmes: Callable[[], Sequence[Steps[None]]]) -> None:
        self._node: Final = node
        self._caller: Final = caller
        self._programmes: Final = programmes

    def start(self) -> None:
        """Begins."""
        for programme in self._programmes():
            self._go_on(programme, None)

    def receive(self, frame: Frame) -> None:
        """Hands an answer to its programme; clients get no requests."""
        if not frame.is_request:
            self._caller.receive(frame)

    def wake(self) -> None:
        """Never asked for."""

    @property
    def deadline_ms(self) -> int:
        """Never: the node wakes sleeping programmes."""
        return NEVER_MS

    def _go_on(self, programme: Steps[None], result: object) -> None:
        try:
            step = programme.send(result)
        except StopIteration:
            return
        if isinstance(step, Sleep):
            self._node.later(step.duration_ms, lambda: self._go_on(programme, None))
        else:
            self._caller.ask(
                step.broker_id,
                step.request,
                step.version,
                lambda response: self._go_on(programme, response),
                step.timeout_ms,
            )
