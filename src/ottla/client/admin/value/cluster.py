"""The cluster: its nodes, features and metadata quorum."""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from ottla.base.ids import Uuid
from ottla.client.admin.value.acl import AclOperation


class Node(NamedTuple):
    """A broker or a controller, by its address for clients."""

    id: int
    host: str
    port: int
    rack: str | None = None
    is_fenced: bool = False


class ClusterDescription(NamedTuple):
    """The cluster's id and its nodes; the controller of a cluster asked through brokers is just one of them."""

    cluster_id: str
    controller: Node | None
    nodes: tuple[Node, ...]
    authorized_operations: frozenset[AclOperation] | None


class VersionLevels(NamedTuple):
    """The lowest and the highest level of a feature."""

    lowest: int
    highest: int


class FeatureMetadata(NamedTuple):
    """The features that are in force, and those that the asked node could support."""

    finalized: Mapping[str, VersionLevels]
    finalized_epoch: int | None
    supported: Mapping[str, VersionLevels]


class UpgradeType(IntEnum):
    """In which direction a feature's level may go."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class FeatureUpdate(NamedTuple):
    """A feature's new level; 0 switches it off."""

    level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


class RaftVoterEndpoint(NamedTuple):
    """The address of a controller, with the name of its listener."""

    listener: str
    host: str
    port: int


class QuorumReplica(NamedTuple):
    """A node that follows the metadata log; times in ms since 1970, None if unknown."""

    replica_id: int
    directory_id: Uuid
    log_end_offset: int
    last_fetch_timestamp: int | None
    last_caught_up_timestamp: int | None


class QuorumInfo(NamedTuple):
    """The metadata quorum: its leader, voters and observers, and the endpoints of the controllers."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]
    nodes: Mapping[int, tuple[RaftVoterEndpoint, ...]]


class ApiVersionRange(NamedTuple):
    """An API that a node serves, by its key, and in which versions."""

    api_key: int
    lowest: int
    highest: int
