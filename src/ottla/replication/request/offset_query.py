"""Looking offsets up by time (ListOffsets): the special times, the question and the answer."""

from typing import Final, NamedTuple

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6


class OffsetQuery(NamedTuple):
    """The query of one partition."""

    topic: str
    partition: int
    timestamp: int
    """A time in milliseconds, or one of the special ones."""
    current_leader_epoch: int = -1
    isolation_level: int | None = None
    """None to look up to the log end, as followers and debugging tools (replica ids -2 and ≥ 0) do."""
    leader_only: bool = True


class OffsetAnswer(NamedTuple):
    """The result; all -1 if nothing matches."""

    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1
