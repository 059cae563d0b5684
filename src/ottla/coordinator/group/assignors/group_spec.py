"""The input and the result of an assignor."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeAlias

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid

Assignment: TypeAlias = Mapping[Uuid, frozenset[int]]
"""Partitions by topic id; no topic is without partitions, and it is not changed once it is made."""


class MemberSpec(NamedTuple):
    """One member: the topics that it wants, and what it was last meant to have."""

    topics: frozenset[Uuid]
    assignment: Assignment
    instance_id: str | None = None


@frozen
class GroupSpec:
    """A group: its members by id, and the number of partitions of each topic that a member subscribes to."""

    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[Uuid, int]

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members want the same topics."""
        return len({member.topics for member in self.members.values()}) <= 1


class Assignor(Protocol):
    """A strategy. Gives every partition of a subscribed topic to one member that subscribes to it."""

    def assign(self, group: GroupSpec) -> dict[str, Assignment]:
        """The target assignment of each member; it does not depend on the order of the input."""
        ...
