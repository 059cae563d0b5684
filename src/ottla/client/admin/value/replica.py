"""Replicas: where they lie on disk, and where they move."""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from ottla.client.record import TopicPartition
from ottla.protocol.errors import ApiError


class TopicPartitionReplica(NamedTuple):
    """A partition on one broker."""

    topic: str
    partition: int
    broker_id: int


class ReplicaInfo(NamedTuple):
    """A replica in a log directory; a future one replaces the present one when it has caught up."""

    size_bytes: int
    offset_lag: int
    is_future: bool


class LogDirDescription(NamedTuple):
    """A log directory of a broker; sizes of its volume are None where the server doesn't tell."""

    error: ApiError | None
    replicas: Mapping[TopicPartition, ReplicaInfo]
    total_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool


class ElectionType(IntEnum):
    """Which leader is wanted: the first replica, or any that is alive, at the price of lost records."""

    PREFERRED = 0
    UNCLEAN = 1


class PartitionReassignment(NamedTuple):
    """A move that is under way."""

    replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]
