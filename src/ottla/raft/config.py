"""The timeouts of the quorum. Each field is Kafka's `controller.quorum.<field with dots>`, with Kafka's default."""

from typing import Final

from ottla.base.frozen import frozen

NEVER_MS: Final = 2**63 - 1
"""A deadline that does not come."""

CHECK_QUORUM_TIMEOUT_FACTOR: Final = 1.5
"""A leader that a majority has not fetched from for this many fetch timeouts steps down (KIP-595)."""
OBSERVER_SESSION_TIMEOUT_MS: Final = 300_000
"""After this long without a fetch an observer is forgotten."""


@frozen
class QuorumConfig:
    """The settings of a quorum member."""

    election_timeout_ms: int = 1000
    """Without a leader for this long, and up to as long again by chance, a voter asks for votes."""
    fetch_timeout_ms: int = 2000
    """Without a successful fetch for this long a follower asks for votes."""
    election_backoff_max_ms: int = 1000
    """The longest that a preferred successor waits for those before it."""
    append_linger_ms: int = 25
    """How long records wait for company before they are written."""
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    auto_join_enable: bool = False
    """Whether a controller that is no voter asks to become one."""
    fetch_max_bytes: int = 1 << 20
    fetch_snapshot_max_bytes: int = 1 << 20
    fetch_max_wait_ms: int = 500
    """How long a leader may hold a fetch that finds nothing new."""
    batch_max_bytes: int = 8 << 20
    """The largest batch that a leader writes; records appended together never span two."""
    pending_bytes_max: int = 5 * (8 << 20)
    """Memory for records that are not written yet."""
