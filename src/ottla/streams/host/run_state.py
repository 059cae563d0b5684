"""The states of a `KafkaStreams`, with Kafka Streams' names, and which of them may follow which."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from ottla.streams.errors import StreamsError


class RunState(Enum):
    """The state of an instance."""

    CREATED = "CREATED"
    REBALANCING = "REBALANCING"
    RUNNING = "RUNNING"
    PENDING_SHUTDOWN = "PENDING_SHUTDOWN"
    NOT_RUNNING = "NOT_RUNNING"
    PENDING_ERROR = "PENDING_ERROR"
    ERROR = "ERROR"


FOLLOWS: Final[Mapping[RunState, frozenset[RunState]]] = {
    RunState.CREATED: frozenset({RunState.REBALANCING, RunState.PENDING_SHUTDOWN}),
    RunState.REBALANCING: frozenset({RunState.RUNNING, RunState.PENDING_SHUTDOWN, RunState.PENDING_ERROR}),
    RunState.RUNNING: frozenset({RunState.REBALANCING, RunState.PENDING_SHUTDOWN, RunState.PENDING_ERROR}),
    RunState.PENDING_SHUTDOWN: frozenset({RunState.NOT_RUNNING}),
    RunState.NOT_RUNNING: frozenset(),
    RunState.PENDING_ERROR: frozenset({RunState.ERROR}),
    RunState.ERROR: frozenset({RunState.PENDING_SHUTDOWN}),
}


class IllegalStateError(StreamsError):
    """A call that the present state does not allow."""


def check_follows(before: RunState, after: RunState) -> None:
    """Raises `IllegalStateError` for a transition that does not exist.

    >>> check_follows(RunState.NOT_RUNNING, RunState.RUNNING)
    Traceback (most recent call last):
    ottla.streams.host.run_state.IllegalStateError: NOT_RUNNING cannot become RUNNING
    """
    if after not in FOLLOWS[before]:
        raise IllegalStateError(f"{before.value} cannot become {after.value}")
