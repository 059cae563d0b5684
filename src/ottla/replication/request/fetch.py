"""The values of a fetch over several partitions: what is asked for, and what came of it."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.segment.slice import FileSlice

CONSUMER: Final = -1
"""The replica id of everyone who is not a broker."""
READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1


@frozen
class ClientMetadata:
    """The fetching client, for the choice of a near replica (KIP-392)."""

    rack_id: str
    client_id: str
    client_host: str
    listener: str


@frozen(kw_only=True)
class FetchParams:
    """The options of a fetch, for all its partitions."""

    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    replica_id: int = CONSUMER
    replica_epoch: int = -1
    isolation_level: int = READ_UNCOMMITTED
    """Of no matter to followers, who read up to the log end."""
    client: ClientMetadata | None = None
    """None for followers, and for consumers that must read from the leader (before v11)."""


class FetchPartition(NamedTuple):
    """The fetch of one partition."""

    topic: str
    partition: int
    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1
    log_start_offset: int = -1
    """The follower's; -1 from consumers."""
    topic_id: Uuid = ZERO_UUID
    """Zero in fetches by name (before v13), which then is not checked."""


class FetchResult(NamedTuple):
    """A Fetch answer's data of one partition. On errors all offsets are -1 and there are no records."""

    error_code: int = 0
    records: FileSlice | None = None
    """None is empty, not null."""
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    aborted_transactions: Sequence[AbortedTransaction] | None = None
    """None for read_uncommitted."""
    diverging_epoch: EpochEntry | None = None
    preferred_read_replica: int = -1


FetchDone: TypeAlias = Callable[[Sequence[FetchResult]], None]
"""Called once, on the loop's thread, with a result for each partition in the order they were asked for."""
