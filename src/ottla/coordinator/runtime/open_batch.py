"""Records that operations of one round decided on, on their way into one append."""

from typing import Final, Generic, TypeVar

from ottla.coordinator.ports import KeyValue
from ottla.coordinator.runtime.coordinator_result import Settled
from ottla.coordinator.runtime.waiting import Answer

S = TypeVar("S")

BATCH_OVERHEAD_BYTES: Final = 61
_RECORD_OVERHEAD_BYTES_MAX: Final = 32
"""Lengths, attributes and deltas of a record, at the most they can take."""


class OpenBatch(Generic[S]):
    """Records that are replayed but not yet in the log; `state_before` is what a failed append goes back to."""

    __slots__ = ("answers", "bytes_max", "opened_ms", "records", "settlements", "size_bytes", "state_before")

    def __init__(self, state_before: S, opened_ms: int, answers: list[Answer], settlements: list[Settled]) -> None:
        self.state_before = state_before
        self.opened_ms = opened_ms
        self.answers = answers
        self.settlements = settlements
        self.records: list[KeyValue] = []
        self.size_bytes = BATCH_OVERHEAD_BYTES
        self.bytes_max: int | None = None
        """The log's limits for one batch; None until the first record is added to this one."""


def size_bytes_max(records: list[KeyValue]) -> int:
    """The most that records can take in a batch, short of its header."""
    total = _RECORD_OVERHEAD_BYTES_MAX * len(records)
    for key, value in records:
        total += len(key)
        if value is not None:
            total += len(value)
    return total
