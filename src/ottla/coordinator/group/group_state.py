"""The replicated state of a shard: its groups of every kind, and their offsets."""

import enum
from typing import Final, NamedTuple, Protocol

from immutables import Map

from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetsState


class GroupType(enum.Enum):
    """The kinds of groups, as ListGroups spells them."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Group(Protocol):
    """A group in the replicated state: an immutable value."""

    @property
    def type(self) -> GroupType:
        """Which kind takes care of it."""
        ...


class GroupsState(NamedTuple):
    """Immutable: a change makes a new state that shares the rest with the old one."""

    groups: Map[str, Group]
    offsets: OffsetsState


EMPTY_STATE: Final = GroupsState(Map(), EMPTY_OFFSETS)
