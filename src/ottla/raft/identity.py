"""The names that a quorum speaks in: replicas, positions in the log, leaders, the metadata partition itself."""

from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.raft.endpoint import Endpoints

METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_TOPIC_ID: Final = Uuid((1).to_bytes(16, "big"))
METADATA_PARTITION: Final = 0
NO_NODE: Final = -1
"""Stands for no node, wherever an id travels."""


class OffsetAndEpoch(NamedTuple):
    """A position in the log and the epoch of the record before it; also the name of a snapshot.

    The epoch comes first because it decides first: a log that ends in a later epoch is the newer one, however short.

    >>> OffsetAndEpoch(offset=3, epoch=2) > OffsetAndEpoch(offset=9, epoch=1)
    True
    """

    epoch: int
    offset: int

    def __str__(self) -> str:
        return f"{self.offset}@{self.epoch}"


BOOTSTRAP_SNAPSHOT_ID: Final = OffsetAndEpoch(offset=0, epoch=0)
"""The snapshot that formatting writes; it is never replicated."""


class ReplicaKey(NamedTuple):
    """A replica: node id, and the id of the directory it keeps its log in (KIP-853), zero where unknown.

    A node whose disk was replaced comes back under another directory id, and so is not the voter it was.
    """

    id: int
    directory_id: Uuid = ZERO_UUID

    def is_met_by(self, other: "ReplicaKey") -> bool:
        """Whether `other` is this replica, a directory unknown to us being any.

        >>> known = ReplicaKey(1, Uuid(b"d" * 16))
        >>> ReplicaKey(1).is_met_by(known), known.is_met_by(ReplicaKey(1))
        (True, False)
        """
        return self.id == other.id and self.directory_id in (ZERO_UUID, other.directory_id)

    def __str__(self) -> str:
        directory_id = "<undefined>" if self.directory_id == ZERO_UUID else self.directory_id
        return f"ReplicaKey(id={self.id}, directoryId={directory_id})"


class LeaderAndEpoch(NamedTuple):
    """The leader of an epoch, as far as known."""

    leader_id: int | None
    epoch: int


class KRaftVersionRange(NamedTuple):
    """The kraft.version levels that a node can run at: 0 has static voters, 1 voters that come and go (KIP-853)."""

    min_supported_version: int = 0
    max_supported_version: int = 1

    def includes(self, version: int) -> bool:
        """Whether the node can run at the level."""
        return self.min_supported_version <= version <= self.max_supported_version


ALL_KRAFT_VERSIONS: Final = KRaftVersionRange()


class Node(NamedTuple):
    """The id and address of a replica for requests; bootstrap servers have ids from -2 down."""

    id: int
    host: str
    port: int


@frozen
class LocalReplica:
    """This replica: its key, endpoints and abilities."""

    key: ReplicaKey
    endpoints: Endpoints
    supported_versions: KRaftVersionRange = ALL_KRAFT_VERSIONS
    can_become_voter: bool = True
    """Controllers can, brokers cannot."""

    @property
    def id(self) -> int:
        """Our node id."""
        return self.key.id
