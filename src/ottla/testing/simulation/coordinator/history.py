"""The requests of clients and their answers, for the invariants to compare with the committed logs."""

from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.coordinator.ports import PartitionKey


class InputRecord(NamedTuple):
    """A record of a topic that is transformed; what it says is where it is."""

    topic: str
    partition: int
    offset: int


@dataclass(slots=True)
class Attempt:
    """One transaction of a client: what it reads, what becomes of it as far as the client is told."""

    number: int
    group_id: str
    transactional_id: str
    written: dict[InputRecord, PartitionKey] = field(default_factory=dict)
    """What was acknowledged, and where it went."""
    is_commit_asked: bool = False
    outcome: bool | None = None
    """True if the client was told that it is committed, False if aborted; None as long as it knows nothing."""

    def value(self, record: InputRecord) -> bytes:
        """The record that says that this attempt transformed another."""
        return f"{self.number} {record.topic} {record.partition} {record.offset}".encode()


def read_value(value: bytes) -> tuple[int, InputRecord]:
    """The number of the attempt, and the record it transformed.

    >>> read_value(b"7 orders 1 42")
    (7, InputRecord(topic='orders', partition=1, offset=42))
    """
    number, topic, partition, offset = value.decode().split()
    return int(number), InputRecord(topic, int(partition), int(offset))


class OffsetAnswer(NamedTuple):
    """A client was told that a group's offset is committed."""

    group_id: str
    key: PartitionKey
    offset: int


class SyncAnswer(NamedTuple):
    """A classic member was told its assignment."""

    group_id: str
    generation: int
    owner: str
    """Its instance id if it has one: who comes back by that name gets what it had."""
    member_id: str
    assigned: frozenset[PartitionKey]


class ChangedRefusal(NamedTuple):
    """A request that was answered with an error after its operation had changed the state."""

    api: str
    error: str


class CoordinatorHistory:
    """Everything; the lists are emptied by the invariants that read them."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.outcomes: list[Attempt] = []
        """Attempts whose outcome was told since it was last looked at."""
        self.offset_answers: list[OffsetAnswer] = []
        self.sync_answers: list[SyncAnswer] = []
        self.changed_refusals: list[ChangedRefusal] = []
        self.deletions_asked: set[str] = set()
        """Groups that somebody wants gone, or without their offsets."""
        self.acknowledged = 0
        """How many commits, of offsets and of transactions, clients were told of."""

    def begin(self, group_id: str, transactional_id: str) -> Attempt:
        """A client begins a transaction."""
        attempt = Attempt(len(self.attempts), group_id, transactional_id)
        self.attempts.append(attempt)
        return attempt

    def told(self, attempt: Attempt, *, committed: bool) -> None:
        """A client was told how its transaction ended."""
        attempt.outcome = committed
        self.outcomes.append(attempt)
        self.acknowledged += committed
