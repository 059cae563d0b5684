"""Topics: what a new one should be, and what an existing one is."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Never, Self

from ottla.base.ids import Uuid
from ottla.client.admin.value.acl import AclOperation
from ottla.client.admin.value.config import ConfigEntry
from ottla.client.other_client import refuse_keywords


class _NewTopic(NamedTuple):
    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Mapping[int, Sequence[int]] | None = None
    """The brokers of each partition, instead of a number of partitions and a replication factor."""
    configs: Mapping[str, str] = {}


class NewTopic(_NewTopic):
    """A topic to be created; None means the cluster's `num.partitions`, `default.replication.factor`."""

    __slots__ = ()

    def __new__(
        cls,
        name: str,
        partitions: int | None = None,
        replication_factor: int | None = None,
        assignment: Mapping[int, Sequence[int]] | None = None,
        configs: Mapping[str, str] | None = None,
        **unknown: Never,
    ) -> Self:
        """Takes the fields; raises `TypeError` for other clients' names of them, with our name."""
        refuse_keywords("NewTopic()", unknown)
        return super().__new__(cls, name, partitions, replication_factor, assignment, configs or {})


class CreatedTopic(NamedTuple):
    """A created topic; fields are None where the caller may not see them."""

    topic_id: Uuid
    partitions: int | None
    replication_factor: int | None
    configs: Mapping[str, ConfigEntry] | None


class TopicListing(NamedTuple):
    """A topic in a list."""

    name: str
    topic_id: Uuid
    is_internal: bool


class PartitionDescription(NamedTuple):
    """A partition with the brokers that hold it."""

    partition: int
    leader: int | None
    leader_epoch: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None
    """Eligible leader replicas (KIP-966); None from a server that doesn't tell."""
    last_known_elr: tuple[int, ...] | None
    offline_replicas: tuple[int, ...]


class TopicDescription(NamedTuple):
    """A topic with its partitions, in order."""

    name: str
    topic_id: Uuid
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]
    authorized_operations: frozenset[AclOperation] | None


class NewPartitions(NamedTuple):
    """The total number of partitions that a topic shall have, and the replicas of the new ones."""

    total_count: int
    new_assignments: Sequence[Sequence[int]] | None = None
