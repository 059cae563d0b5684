"""Fast path of nearly every commit: an existing group, an allowed caller, existing partitions.

The reader of the request makes the records from it, and knows what they do to the state. Anything else about a commit
is decided in `commit`, and both come to the same records, state and answer.
"""

from typing import Protocol

from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.offsets.offset_rules import CommitClaim
from ottla.coordinator.runtime.encoded_write import EncodedWrite


class PlainCommit(EncodedWrite[GroupsState], Protocol):
    """A commit with its records."""

    @property
    def group_id(self) -> str:
        """Whose offsets they are."""
        ...

    @property
    def claim(self) -> CommitClaim:
        """The sender."""
        ...

    @property
    def now_ms(self) -> int:
        """The time that the records have."""
        ...
