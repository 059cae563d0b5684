"""What clients did and saw, as values: the only thing that the checks know.

Times are of the machine's monotonic clock, which all processes share. A value is written at most once by the whole run,
so that a value says which send it came from. A partition is written as `topic-index`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

FOREVER_NS = 2**63 - 1
"""When an operation ended that nobody saw ending."""


class Outcome(StrEnum):
    """What a client knows of an operation."""

    OK = "ok"
    FAIL = "fail"
    """It has no effect, and never will."""
    UNKNOWN = "unknown"
    """The answer was lost, or the client died."""


class Decision(StrEnum):
    """How a client wanted a transaction to end."""

    COMMIT = "commit"
    ABORT = "abort"
    NONE = "none"
    """It never said."""


@dataclass(frozen=True, slots=True)
class Send:
    """A record handed to a producer."""

    process: str
    partition: str
    value: str
    outcome: Outcome = Outcome.OK
    offset: int | None = None
    transaction: str | None = None
    source: tuple[str, str, int] | None = None
    """Who made this record of another (the group), and that one's partition and offset."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction of one producer; its sends and commits name it."""

    id: str
    process: str
    decision: Decision
    outcome: Outcome = Outcome.OK
    started_ns: int = 0
    """When the client began to say its decision."""
    ended_ns: int = FOREVER_NS


@dataclass(frozen=True, slots=True)
class Assigned:
    """A member of a group was given a partition: it goes on from what the group has committed."""

    process: str
    group: str
    partition: str
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Poll:
    """A record that a consumer was handed."""

    process: str
    partition: str
    offset: int
    value: str
    at_ns: int = 0
    is_committed: bool = True
    """Whether the consumer is in read_committed."""


@dataclass(frozen=True, slots=True)
class Commit:
    """An offset that a member committed, alone or in a transaction."""

    process: str
    group: str
    partition: str
    offset: int
    outcome: Outcome = Outcome.OK
    transaction: str | None = None
    started_ns: int = 0
    ended_ns: int = FOREVER_NS


@dataclass(frozen=True)
class History:
    """A whole run. Of one process everything is in its own order; between processes only times tell."""

    sends: list[Send] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)
    reads: list[Assigned | Poll] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    final: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """What a read_committed reader found in the end, of every partition from its start to its end: offset and value."""
    undecided: Mapping[str, int] = field(default_factory=dict)
    """Partitions in which a transaction was still open when all of them had to be over: the last stable offset."""
    behind: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Groups and partitions in which nobody got any further when nothing more was killed: the committed offset."""
    replica_differences: list[str] = field(default_factory=list)
    """Where the nodes of a cluster hold different records on their disks."""
