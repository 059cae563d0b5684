"""What can be wrong with a history, in the words of Jepsen's Kafka workload where it has some."""

from dataclasses import dataclass
from enum import StrEnum


class AnomalyKind(StrEnum):
    """A kind of broken promise."""

    LOST_WRITE = "lost write"
    ABORTED_READ = "aborted read"
    PRECOMMITTED_READ = "precommitted read"
    DUPLICATE = "duplicate"
    DIVERGING_OFFSETS = "diverging offsets"
    NON_MONOTONIC_SEND = "non-monotonic send"
    NON_MONOTONIC_POLL = "non-monotonic poll"
    SKIPPED = "skipped"
    LOST_COMMIT = "lost commit"
    TORN_TRANSACTION = "torn transaction"
    HANGING_TRANSACTION = "hanging transaction"
    STUCK_GROUP = "stuck group"
    LOST_TRANSFORM = "lost transform"
    DOUBLED_TRANSFORM = "doubled transform"
    DIVERGING_REPLICAS = "diverging replicas"


@dataclass(frozen=True)
class Anomaly:
    """One broken promise, told so that its records can be found."""

    kind: AnomalyKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"
