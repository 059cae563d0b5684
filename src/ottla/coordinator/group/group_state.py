"""The replicated state of a shard: its groups of every kind, and their offsets."""

from typing import Final, NamedTuple

from immutables import Map

from ottla.coordinator.group.group_type import Group
from ottla.coordinator.group.offsets.offsets_state import EMPTY_OFFSETS, OffsetsState


class GroupsState(NamedTuple):
    """Immutable: a change makes a new state that shares the rest with the old one."""

    groups: Map[str, Group]
    offsets: OffsetsState


EMPTY_STATE: Final = GroupsState(Map(), EMPTY_OFFSETS)
