"""Looks through the transactional ids of a shard for those that expired, some at a time.

A look goes over the ids as they were when it began, and decides by what they are when their turn comes: a million ids
never hold up the loop, and one that came back to life stays.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from ottla.coordinator.txn.state import IDLE
from ottla.coordinator.txn.txn_machine import TxnState

SLICE_IDS: Final = 2_000
"""How many ids one call looks at."""


class TransactionalIdExpiry:
    """One look after the other."""

    def __init__(self, expiration_ms: int) -> None:
        self._expiration_ms: Final = expiration_ms
        self._ids: Iterator[str] | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether a look has begun and not ended."""
        return self._ids is not None

    def expired(self, state: TxnState, now_ms: int) -> list[str]:
        """The expired ids among the next ones of the look; begins one if there is none."""
        if self._ids is None:
            self._ids = iter(state)
        candidates = list(islice(self._ids, SLICE_IDS))
        if len(candidates) < SLICE_IDS:
            self._ids = None
        oldest_ms = now_ms - self._expiration_ms
        found: list[str] = []
        for transactional_id in candidates:
            metadata = state.get(transactional_id)
            if metadata is not None and metadata.state in IDLE and metadata.last_update_ms <= oldest_ms:
                found.append(transactional_id)
        return found
