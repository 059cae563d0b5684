"""Positions in partitions that can be asked for, and the answer."""

from enum import IntEnum
from typing import NamedTuple


class OffsetSpec(IntEnum):
    """A special position; any number from 0 on is a timestamp in milliseconds instead."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


class IsolationLevel(IntEnum):
    """Whether the end of a partition is the high watermark or the last stable offset."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class ListedOffset(NamedTuple):
    """An offset with the timestamp of its record; both -1 where nothing matched."""

    offset: int
    timestamp: int
    leader_epoch: int | None
